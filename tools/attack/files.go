package main

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"net/http"
	"time"

	"github.com/bgremove/bgremove/internal/service/price"
	"github.com/bgremove/bgremove/internal/synth/hostile"
	"github.com/bgremove/bgremove/pkg/api"
	"github.com/bgremove/bgremove/tools/internal/rig"
)

var fileAttacks = []attack{
	{name: "impossible times", what: "a WebM with one more block at 2^62 ms, or at other times that overflow", run: impossibleTimes},
	{name: "frame rate", what: "a clip of 1,000 frames a second", run: frameRate},
	{name: "pixel rate", what: "a GIF of 60 kB with more pixels than can be worked on in time", flags: withoutWork, run: pixelRate},
	{name: "tags", what: "an MP4 with tens of megabytes of tags", flags: withoutWork, run: tags},
	{name: "sample table", what: "an MP4 of 2 kB with 268 million samples, from 8 uploads at once", run: sampleTable},
}

// withoutWork gives a server no jobs. Their memory and time are not under test,
// and they must not hold up other attacks.
var withoutWork = []string{"--role", "api"}

// credits is the balance of accounts in attacks.
const credits = 100

// mostMemory is the most memory of a server under attack, in bytes. Without an
// attack it holds about a quarter of this.
const mostMemory = 300e6

// refused submits a file. It must be refused with one of the codes, and cost
// nothing.
func refused(ctx context.Context, t *target, name string, content []byte, code api.ErrorCode) (answer, error) {
	v, err := t.customer(ctx, credits)
	if err != nil {
		return answer{}, err
	}
	got, err := v.submit(ctx, oneJob, []rig.File{{Name: name, Content: content}})
	status := http.StatusUnprocessableEntity
	if code == api.ErrorCodeBadRequest {
		status = http.StatusBadRequest
	}
	return got, errors.Join(err, got.want(status, code), t.hasCredits(ctx, v, credits), t.hasJobs(ctx, v, 0))
}

func impossibleTimes(ctx context.Context, t *target) (string, error) {
	live, err := t.ffmpeg(ctx, "live.webm", append(pattern(64, 10), "-c:v", "libvpx-vp9", "-live", "1")...)
	if err != nil {
		return "", err
	}
	var got answer
	for _, at := range []uint64{1 << 62, 100 * 365 * 86400_000, 1<<64 - 1<<40} {
		got, err = refused(ctx, t, "late.webm", append(bytes.Clone(live), hostile.LateBlock(at)...), api.ErrorCodeUnreadableFile)
		if err != nil {
			return got.String(), fmt.Errorf("at %d ms: %w", at, err)
		}
	}
	negative, err := t.count(ctx, "SELECT COUNT(*) FROM jobs WHERE duration_ms < 0")
	if negative > 0 {
		err = fmt.Errorf("%d jobs have a negative duration", negative)
	}
	return got.String() + ", nothing charged", err
}

// promptly bounds the wait of others for an answer, and a probe with a full
// timeout. It is three times the need of a slow machine.
const promptly = 30 * time.Second

func frameRate(ctx context.Context, t *target) (string, error) {
	clip, err := t.ffmpeg(ctx, "fast.mp4", pattern(16, 1000)...)
	if err != nil {
		return "", err
	}
	return tooMuch(refused(ctx, t, "fast.mp4", clip, api.ErrorCodeBadRequest))
}

func pixelRate(ctx context.Context, t *target) (string, error) {
	clip, err := wideGIF(4096, 2000)
	if err != nil {
		return "", err
	}
	return tooMuch(refused(ctx, t, "wide.gif", clip, api.ErrorCodeBadRequest))
}

// tooMuch returns the reason why a clip was refused.
func tooMuch(got answer, err error) (string, error) {
	if err != nil {
		return got.String(), err
	}
	return fmt.Sprintf("%v: %s, nothing charged", got, got.message()), nil
}

func tags(ctx context.Context, t *target) (string, error) {
	size := 64 << 20
	if t.short {
		size = 32 << 20
	}
	clip, err := t.tagged(ctx, size)
	if err != nil {
		return "", err
	}
	if len(clip) < size {
		return "", fmt.Errorf("the clip has only %d bytes", len(clip))
	}
	v, err := t.customer(ctx, credits)
	if err != nil {
		return "", err
	}
	var got answer
	took, err := t.lightPeak(mostMemory, func() error {
		var err error
		got, err = v.submit(ctx, oneJob, []rig.File{{Name: "tags.mp4", Content: clip}})
		return err
	})
	if got.status != http.StatusAccepted {
		err = errors.Join(err, got.want(http.StatusUnprocessableEntity, api.ErrorCodeUnreadableFile))
	}
	return fmt.Sprintf("%v, %s", got, took), err
}

// sampleTable lets one account submit slow files while another account orders
// normal jobs.
func sampleTable(ctx context.Context, t *target) (string, error) {
	v, err := t.customer(ctx, credits)
	if err != nil {
		return "", err
	}
	files := []rig.File{{Name: "endless.mp4", Content: endless()}}
	var (
		statuses map[int]int
		answers  []answer
	)
	began := time.Now()
	others, err := t.meanwhile(ctx, func() (err error) {
		statuses, answers, err = atOnce(8, func(int) (answer, error) { return v.submit(ctx, oneJob, files) })
		return err
	})
	took := time.Since(began)
	err = errors.Join(err, t.hasCredits(ctx, v, credits), t.hasJobs(ctx, v, 0))
	if n := statuses[http.StatusBadRequest] + statuses[http.StatusUnprocessableEntity]; n != len(answers) {
		err = errors.Join(err, fmt.Errorf("statuses %v", statuses))
	}
	if took > 2*promptly {
		err = errors.Join(err, fmt.Errorf("it took %v", took))
	}
	return fmt.Sprintf("%v after %.1f s at most; meanwhile another account: %v", answers[0], took.Seconds(), others), err
}

// wait is the time that a visitor waited for answers.
type wait struct {
	answers int
	longest time.Duration
	err     error
}

func (w wait) String() string {
	return fmt.Sprintf("%d times 202, after %.1f s at most", w.answers, w.longest.Seconds())
}

// meanwhile runs a flood, and reports the service to another account during it.
func (t *target) meanwhile(ctx context.Context, flood func() error) (others wait, err error) {
	other, err := t.customer(ctx, credits)
	if err != nil {
		return wait{}, err
	}
	served := make(chan wait, 1)
	during, end := context.WithCancel(ctx)
	defer end()
	go func() { served <- orders(ctx, other, during.Done()) }()
	err = flood()
	end()
	others = <-served
	return others, errors.Join(err, others.err)
}

// orders lets a visitor order jobs, at least one, until others have ended.
func orders(ctx context.Context, v *visitor, ended <-chan struct{}) (w wait) {
	for w.answers < credits/price.Least {
		began := time.Now()
		_, w.err = v.order(ctx)
		w.answers++
		w.longest = max(w.longest, time.Since(began))
		if w.err == nil && w.longest > promptly {
			w.err = fmt.Errorf("another account waits %v", w.longest)
		}
		if w.err != nil {
			return w
		}
		select {
		case <-ended:
			return w
		case <-time.After(300 * time.Millisecond):
		}
	}
	return w
}
