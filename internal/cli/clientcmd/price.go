package clientcmd

import (
	"context"
	"errors"
	"fmt"
	"text/tabwriter"

	"github.com/spf13/cobra"

	"github.com/bgremove/bgremove/internal/cli/failure"
	"github.com/bgremove/bgremove/internal/service/price"
	"github.com/bgremove/bgremove/pkg/bgremove"
	"github.com/bgremove/bgremove/pkg/option"
)

// totalPrice is the price of a submission of files.
type totalPrice struct {
	Files   []filePrice `json:"files"`
	Credits int64       `json:"credits"`
}

type filePrice struct {
	Input    string  `json:"input"`
	Duration float64 `json:"duration"` // seconds
	Credits  int64   `json:"credits"`
}

// priceOf measures files as the service will. It fails for a file that cannot
// be read, because the service would refuse it or fail its job.
func (c *remote) priceOf(ctx context.Context, inputs []string) (totalPrice, error) {
	var p totalPrice
	config := c.engine
	config.Inputs = option.ServiceInputs()
	engine := bgremove.New(config)
	for _, input := range inputs {
		info, err := engine.Probe(ctx, input)
		if err != nil {
			return p, err
		}
		credits := price.OfSeconds(info.Duration)
		p.Files = append(p.Files, filePrice{input, info.Duration, credits})
		p.Credits += credits
	}
	return p, nil
}

// printPrice prints the price.
func (c *remote) printPrice(ctx context.Context, inputs []string) error {
	p, err := c.priceOf(ctx, inputs)
	if err != nil {
		return err
	}
	if c.asJSON {
		return c.JSON(p)
	}
	w := tabwriter.NewWriter(c.Out, 0, 0, 2, ' ', 0)
	for _, f := range p.Files {
		fmt.Fprintf(w, "%s\t%.3f s\t%d credits\n", f.Input, f.Duration, f.Credits)
	}
	if len(p.Files) > 1 {
		fmt.Fprintf(w, "all\t\t%d credits\n", p.Credits)
	}
	return w.Flush()
}

// confirm asks before a batch that costs more than limit credits, or an unknown
// number. Unreadable files cost nothing in the end.
func (c *remote) confirm(cmd *cobra.Command, inputs []string, limit int) error {
	var cost int64
	costText := ""
	for _, input := range inputs {
		p, err := c.priceOf(cmd.Context(), []string{input})
		var known *bgremove.Error
		switch {
		case errors.As(err, &known) && known.Kind == bgremove.Missing:
			costText = "an unknown number of credits (it takes ffmpeg to find out)"
		case errors.As(err, &known):
			cost += price.Least
		case err != nil:
			return err
		}
		cost += p.Credits
	}
	switch {
	case costText == "" && cost <= int64(limit):
		return nil
	case costText == "":
		costText = fmt.Sprintf("%d credits", cost)
	}
	if !c.CanAsk() {
		return &bgremove.Error{Kind: bgremove.Invalid, Cause: failure.NotSubmitted, Reason: fmt.Sprintf("%d files cost %s, more than the %d of --ask-above, and there is no terminal to ask on", len(inputs), costText, limit)}
	}
	yes, err := c.Ask(cmd.Context(), fmt.Sprintf("%d files cost %s. Submit them?", len(inputs), costText))
	if err == nil && !yes {
		err = errDeclined
	}
	return err
}

// errDeclined means that a question was not answered with yes.
var errDeclined = errors.New("nothing was submitted")
