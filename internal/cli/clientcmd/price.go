package clientcmd

import (
	"context"
	"errors"
	"fmt"
	"text/tabwriter"
	"time"

	"github.com/spf13/cobra"

	"github.com/bgremove/bgremove/internal/cli/failure"
	"github.com/bgremove/bgremove/internal/cli/flags"
	"github.com/bgremove/bgremove/internal/cli/term"
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
	Duration float64 `json:"duration"` // seconds, of the whole file
	Credits  int64   `json:"credits"`
}

// priceOf measures files as the service will. It fails for a file that cannot
// be read, because the service would refuse it or fail its job, and for one of which
// the options leave nothing.
func (o *submission) priceOf(ctx context.Context, inputs []string) (totalPrice, error) {
	var p totalPrice
	config := o.engine
	config.Inputs = option.ServiceInputs()
	engine := bgremove.New(config)
	for _, input := range inputs {
		info, err := engine.Probe(ctx, input)
		if err != nil {
			return p, err
		}
		clip := option.Seconds(info.Duration).Round(time.Millisecond) // as the service counts
		if err := o.options.CheckPart(clip); err != nil {
			return p, emptyPart(input, err)
		}
		credits := price.Of(o.options.Kept(clip))
		p.Files = append(p.Files, filePrice{input, info.Duration, credits})
		p.Credits += credits
	}
	return p, nil
}

// emptyPart is an option's error about a file.
func emptyPart(input string, err error) error {
	wrong := (*option.Error)(nil)
	if !errors.As(err, &wrong) {
		return err
	}
	return &bgremove.Error{Kind: bgremove.Invalid, Path: input, Field: flags.Name(wrong.Field), Reason: wrong.Reason, Err: err}
}

// printPrice prints the price.
func (o *submission) printPrice(ctx context.Context, inputs []string) error {
	p, err := o.priceOf(ctx, inputs)
	if err != nil {
		return err
	}
	if o.asJSON {
		return o.JSON(p)
	}
	w := tabwriter.NewWriter(o.Out, 0, 0, 2, ' ', 0)
	for _, f := range p.Files {
		fmt.Fprintf(w, "%s\t%.3f s\t%s\n", term.Printable(f.Input), f.Duration, term.Count(f.Credits, "credit"))
	}
	if len(p.Files) > 1 {
		fmt.Fprintf(w, "all\t\t%s\n", term.Count(p.Credits, "credit"))
	}
	return w.Flush()
}

// confirm asks before a batch that costs more than limit credits, or an unknown
// number. Unreadable files cost nothing in the end.
func (o *submission) confirm(cmd *cobra.Command, inputs []string, limit int) error {
	var cost int64
	costText := ""
	for _, input := range inputs {
		p, err := o.priceOf(cmd.Context(), []string{input})
		var known *bgremove.Error
		switch {
		case errors.As(err, &known) && known.Kind == bgremove.Invalid:
			return err
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
		costText = term.Count(cost, "credit")
	}
	if !o.CanAsk() {
		return &bgremove.Error{Kind: bgremove.Invalid, Cause: failure.NotSubmitted, Reason: fmt.Sprintf("the price of %s is %s, more than the %d of --ask-above, and there is no terminal to ask on", term.Count(len(inputs), "file"), costText, limit)}
	}
	yes, err := o.Ask(cmd.Context(), fmt.Sprintf("The price of %s is %s. Submit?", term.Count(len(inputs), "file"), costText))
	if err == nil && !yes {
		err = errDeclined
	}
	return err
}

// errDeclined means that a question was not answered with yes.
var errDeclined = errors.New("nothing was submitted")
