package httpapi

import (
	"cmp"
	"context"
	"fmt"
	"math"
	"strconv"
	"time"

	"github.com/bgremove/bgremove/internal/service/job"
	"github.com/bgremove/bgremove/pkg/api"
)

// GetKeyAccount is the balance and the limits of the key's account.
func (o operations) GetKeyAccount(ctx context.Context, _ api.GetKeyAccountRequestObject) (api.GetKeyAccountResponseObject, error) {
	who, err := o.Accounts.Get(ctx, requestFrom(ctx).owner.AccountID)
	if err != nil {
		return nil, err
	}
	b := api.KeyAccount{Credits: int(who.Credits), Unlimited: o.Jobs.Unlimited(), Limits: o.limitsBody(), Models: append([]string{}, o.Models...)}
	if who.Plan != "" {
		b.Plan = &who.Plan
	}
	return api.GetKeyAccount200JSONResponse{Body: b}, nil
}

func (a *API) limitsBody() api.Limits {
	inputs, outputs := a.Jobs.Kept()
	return api.Limits{
		FileSize: a.MaxFile, Duration: a.Limits.MaxDuration.Seconds(), Dimension: a.Limits.MaxDimension, Pixels: a.Limits.MaxPixels,
		FramesPerSecond: a.Limits.MaxFPS, FilesPerBatch: MaxFiles, RunningJobs: a.Jobs.MaxRunning(),
		RequestsPerMinute: a.Rate.PerMinute, Burst: a.Rate.Burst, KeepInputs: int64(inputs.Seconds()), KeepOutputs: int64(outputs.Seconds()),
	}
}

// The days of a usage report: how many without a first day, and at most.
const (
	usageDays    = 30
	maxUsageDays = 366
)

// parseDay is the beginning of a day in UTC.
func parseDay(field string, given *string, standard time.Time) (time.Time, error) {
	if given == nil {
		return standard, nil
	}
	day, err := time.Parse(time.DateOnly, *given)
	if err != nil {
		return time.Time{}, &formError{field: field, reason: "must be a day such as 2026-11-21"}
	}
	return day, nil
}

// usagePeriod is the first and the last day of a usage report.
func usagePeriod(in api.GetUsageParams) (from, to time.Time, err error) {
	if to, err = parseDay("to", in.To, time.Now().UTC().Truncate(24*time.Hour)); err != nil {
		return from, to, err
	}
	if from, err = parseDay("from", in.From, to.AddDate(0, 0, 1-usageDays)); err != nil {
		return from, to, err
	}
	switch {
	case from.After(to):
		err = &formError{field: "from", reason: "must not be after to"}
	case to.AddDate(0, 0, -maxUsageDays+1).After(from):
		err = &formError{field: "from", reason: fmt.Sprintf("must be at most %d days before to", maxUsageDays-1)}
	}
	return from, to, err
}

// GetUsage is what the key's account used, by day.
func (o operations) GetUsage(ctx context.Context, in api.GetUsageRequestObject) (api.GetUsageResponseObject, error) {
	from, to, err := usagePeriod(in.Params)
	if err != nil {
		return nil, err
	}
	days, total, err := o.Jobs.Usage(ctx, requestFrom(ctx).owner.AccountID, from, to)
	if err != nil {
		return nil, err
	}
	return api.GetUsage200JSONResponse{Body: api.Usage{
		From: from.Format(time.DateOnly), To: to.Format(time.DateOnly), Days: bodies(days, usageDayBody),
		Total: api.UsageSum{Jobs: total.Jobs, Frames: total.Frames, Seconds: total.Duration.Seconds(), Credits: total.Credits},
	}}, nil
}

func usageDayBody(d job.DayUsage) api.UsageDay {
	return api.UsageDay{Date: d.Day.Format(time.DateOnly), Jobs: d.Jobs, Frames: d.Frames, Seconds: d.Duration.Seconds(), Credits: d.Credits}
}

// Estimate is the price of a clip, by its facts or by the clip itself.
func (o operations) Estimate(ctx context.Context, in api.EstimateRequestObject) (api.EstimateResponseObject, error) {
	var (
		clip    job.Media
		options job.Options
		err     error
	)
	switch {
	case in.JSONBody != nil:
		clip, options, err = o.described(*in.JSONBody)
	case in.MultipartBody != nil:
		f := o.newForm(requestFrom(ctx), 1, true)
		defer f.drop(ctx)
		clip, err = o.measured(ctx, f, in)
		options = f.options
	default:
		err = &formError{reason: "the body is neither JSON nor a multipart form"}
	}
	if err != nil {
		return nil, err
	}
	balance, err := o.Ledger.Balance(ctx, requestFrom(ctx).owner.AccountID)
	if err != nil {
		return nil, err
	}
	b := api.Estimate{Duration: clip.Duration.Seconds(), Cost: options.Price(clip), CreditsRemaining: int(balance)}
	if !o.Jobs.Unlimited() {
		b.Charged = b.Cost
	}
	return api.Estimate200JSONResponse{Body: b}, nil
}

// Bounds of a described clip, which keep its numbers far from overflows.
const (
	maxSeconds = 31_536_000
	maxCount   = 1_000_000
)

// described is a clip that the client describes, and the options that cut it.
func (a *API) described(c api.Clip) (job.Media, job.Options, error) {
	o := job.DefaultOptions()
	if !(c.Duration > 0 && c.Duration <= maxSeconds) {
		return job.Media{}, o, &formError{field: "duration", reason: fmt.Sprintf("must be above 0 and at most %d seconds", maxSeconds)}
	}
	for _, moment := range []struct {
		field string
		given *float64
	}{{"start", c.Start}, {"end", c.End}} {
		if moment.given == nil {
			continue
		}
		if _, err := o.Set(moment.field, strconv.FormatFloat(*moment.given, 'f', -1, 64)); err != nil {
			return job.Media{}, o, err
		}
	}
	m := job.Media{Duration: time.Duration(math.Round(1000*c.Duration)) * time.Millisecond}
	for _, n := range []struct {
		field     string
		given, to *int
	}{{"frameCount", c.FrameCount, &m.FrameCount}, {"width", c.Width, &m.Width}, {"height", c.Height, &m.Height}} {
		if n.given == nil {
			continue
		}
		if *n.to = *n.given; *n.to < 0 || *n.to > maxCount {
			return job.Media{}, o, &formError{field: n.field, reason: fmt.Sprintf("must be between 0 and %d", maxCount)}
		}
	}
	return m, o, cmp.Or(a.Limits.Check(m), o.Check(), o.CheckFor(m))
}

// measured is a clip that the client sends, or whose address it gives.
func (a *API) measured(ctx context.Context, f *form, in api.EstimateRequestObject) (job.Media, error) {
	if err := f.read(ctx, in.MultipartBody); err != nil {
		return job.Media{}, err
	}
	if err := a.check(ctx, f); err != nil {
		return job.Media{}, err
	}
	if err := a.fetch(ctx, f); err != nil {
		return job.Media{}, err
	}
	files := f.inputs()
	if err := a.probe(ctx, f, files); err != nil {
		return job.Media{}, err
	}
	if files[0].Unreadable {
		return job.Media{}, job.ErrUnreadable
	}
	return files[0].Media, f.options.CheckFor(files[0].Media)
}
