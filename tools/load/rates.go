//go:build linux

package main

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"time"

	"github.com/bgremove/bgremove/tools/internal/rig"
)

// The submitted clip has about 200 kB.
const (
	clipWidth, clipHeight = 320, 180
	clipFrames            = 21
)

// The aims, on two cores.
const (
	aimSubmissions = 150.0
	aimPolls       = 3000.0
	aimSubmission  = 150 * time.Millisecond
	aimPoll        = 20 * time.Millisecond
)

// rates measures submissions and polls on an API node without workers.
func (b *bench) rates(ctx context.Context, database string) (err error) {
	_, nodes, client, err := b.begin(ctx, database, "api")
	if err != nil {
		return err
	}
	defer func() { err = errors.Join(err, end(nodes)) }()
	clip, err := rig.GIF(clipWidth, clipHeight, clipFrames)
	if err != nil {
		return err
	}
	form, err := rig.NewForm(rig.File{Name: "clip.gif", Content: clip})
	if err != nil {
		return err
	}
	url := nodes[0].URL
	ids, err := client.Submit(ctx, url, form, "")
	if err != nil {
		return err
	}
	if slices.Contains(b.only, "submit") {
		what := fmt.Sprintf("submissions of %d kB", len(clip)/1000)
		err = b.rate(ctx, what, b.submitRate, aimSubmissions, aimSubmission, func(ctx context.Context) error {
			_, err := client.Submit(ctx, url, form, "")
			return err
		})
		if err != nil {
			return err
		}
	}
	if slices.Contains(b.only, "poll") {
		return b.rate(ctx, "polls", b.pollRate, aimPolls, aimPoll, func(ctx context.Context) error {
			_, err := client.Job(ctx, url, ids[0])
			return err
		})
	}
	return nil
}

// rate measures the highest rate, and the latency at a fixed rate.
func (b *bench) rate(ctx context.Context, what string, at, aimMost float64, aimLatency time.Duration, request func(context.Context) error) error {
	most, err := closed(ctx, b.during, b.connections, request)
	if err != nil {
		return fmt.Errorf("%s: %w", what, err)
	}
	show(what+", the most", fmt.Sprintf("%.0f/s", most.perSecond()), fmt.Sprintf("≥ %.0f/s", aimMost), most.perSecond() >= aimMost)
	showTime(fmt.Sprintf("%s, the most, p99 of %d at once", what, b.connections), most.quantile(0.99), 0)
	fixed, err := open(ctx, b.during, at, request)
	if err != nil {
		return fmt.Errorf("%s: %w", what, err)
	}
	showTime(fmt.Sprintf("%s at %.0f/s, p50", what, at), fixed.quantile(0.5), 0)
	showTime(fmt.Sprintf("%s at %.0f/s, p99", what, at), fixed.quantile(0.99), aimLatency)
	return nil
}

func milliseconds(d time.Duration) string {
	return fmt.Sprintf("%.1f ms", float64(d)/float64(time.Millisecond))
}

// showTime prints a time beside the most that is aimed at, or 0 without an aim.
func showTime(what string, took, most time.Duration) {
	aim := ""
	if most > 0 {
		aim = "≤ " + milliseconds(most)
	}
	show(what, milliseconds(took), aim, took <= most)
}

// show prints a number beside its aim, if any.
func show(what, value, aim string, reached bool) {
	verdict := ""
	switch {
	case aim != "" && reached:
		verdict = "aim " + aim
	case aim != "":
		verdict = "aim " + aim + ", missed"
	}
	fmt.Printf("  %-50s %12s  %s\n", what, value, verdict)
}
