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
)

// quotation is the price of a submission of files.
type quotation struct {
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
func (c *customer) priceOf(ctx context.Context, inputs []string) (quotation, error) {
	var p quotation
	engine := bgremove.New(c.engine)
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

// quote prints the price.
func (c *customer) quote(ctx context.Context, inputs []string) error {
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

// confirm asks before a batch that costs more than most credits, or an unknown
// number. Unreadable files cost nothing in the end.
func (c *customer) confirm(cmd *cobra.Command, inputs []string, most int) error {
	var cost int64
	what := ""
	for _, input := range inputs {
		p, err := c.priceOf(cmd.Context(), []string{input})
		var known *bgremove.Error
		switch {
		case errors.As(err, &known) && known.Kind == bgremove.Missing:
			what = "an unknown number of credits (it takes ffmpeg to find out)"
		case errors.As(err, &known):
			cost += price.Least
		case err != nil:
			return err
		}
		cost += p.Credits
	}
	switch {
	case what == "" && cost <= int64(most):
		return nil
	case what == "":
		what = fmt.Sprintf("%d credits", cost)
	}
	if !c.CanAsk() {
		return &bgremove.Error{Kind: bgremove.Invalid, Cause: failure.NotSubmitted, Reason: fmt.Sprintf("%d files cost %s, more than the %d of --ask-above, and there is no terminal to ask on", len(inputs), what, most)}
	}
	yes, err := c.Ask(cmd.Context(), fmt.Sprintf("%d files cost %s. Submit them?", len(inputs), what))
	if err == nil && !yes {
		err = errDeclined
	}
	return err
}

// errDeclined means that a question was not answered with yes.
var errDeclined = errors.New("nothing was submitted")
