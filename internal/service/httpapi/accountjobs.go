package httpapi

import (
	"context"
	"errors"
	"fmt"
	"mime/multipart"
	"strings"

	"github.com/bgremove/bgremove/internal/service/job"
	"github.com/bgremove/bgremove/internal/service/store"
	"github.com/bgremove/bgremove/pkg/api"
)

// Bounds of a page.
const (
	defaultPage = 20
	maxPage     = 100
)

// parseLimit is how many a page is to have.
func parseLimit(given *int) (int, error) {
	switch {
	case given == nil:
		return defaultPage, nil
	case *given < 1 || *given > maxPage:
		return 0, &formError{field: "limit", reason: fmt.Sprintf("must be between 1 and %d", maxPage)}
	}
	return *given, nil
}

// parseBefore is the id that a page comes before, empty for the first page.
func parseBefore(given *string) (string, error) {
	switch {
	case given == nil:
		return "", nil
	case *given == "" || !store.ValidText(*given):
		return "", &formError{field: "before", reason: "must be next of the page before"}
	}
	return *given, nil
}

// SubmitJobs submits one file or several.
func (o operations) SubmitJobs(ctx context.Context, in api.SubmitJobsRequestObject) (api.SubmitJobsResponseObject, error) {
	if !o.mayCauseCosts(requestFrom(ctx).account) {
		return nil, errUnconfirmed
	}
	receipt, err := o.submit(ctx, in.Body, in.Params.IdempotencyKey, anyFiles)
	if err != nil {
		return nil, err
	}
	return api.SubmitJobs202JSONResponse(createdBody(receipt)), nil
}

// RepeatJob makes another job of a file that is kept.
func (o operations) RepeatJob(ctx context.Context, in api.RepeatJobRequestObject) (api.RepeatJobResponseObject, error) {
	if !o.mayCauseCosts(requestFrom(ctx).account) {
		return nil, errUnconfirmed
	}
	receipt, err := o.again(ctx, in.ID, in.Body, in.Params.IdempotencyKey)
	if err != nil {
		return nil, err
	}
	return api.RepeatJob202JSONResponse(createdBody(receipt)), nil
}

func (a *API) again(ctx context.Context, id string, body *multipart.Reader, key *string) (job.Receipt, error) {
	r := requestFrom(ctx)
	reservation, running, err := a.reserve(ctx, r.owner, key)
	if err != nil {
		return job.Receipt{}, err
	}
	if reservation != nil {
		defer reservation.Close()
	}
	f := a.newForm(r, 0, false)
	if err := errors.Join(f.read(ctx, body), running); err != nil {
		return job.Receipt{}, err
	}
	if err := a.checkOptions(ctx, f.options); err != nil {
		return job.Receipt{}, err
	}
	first, err := a.Jobs.Get(ctx, r.owner, id)
	if err != nil {
		return job.Receipt{}, err
	}
	in, err := first.Again()
	if err != nil {
		return job.Receipt{}, err
	}
	return a.Jobs.Submit(ctx, job.Submission{
		Owner: r.owner, RequestID: r.id, Options: f.options, Files: []job.Input{in}, Again: id, Reservation: reservation,
	})
}

func createdBody(r job.Receipt) api.JobsCreated {
	b := api.JobsCreated{Jobs: batchEntries(r), CreditsRemaining: int(r.CreditsRemaining)}
	if r.BatchID != "" {
		b.BatchID = &r.BatchID
	}
	return b
}

// ListJobs is a page of the account's jobs.
func (o operations) ListJobs(ctx context.Context, in api.ListJobsRequestObject) (api.ListJobsResponseObject, error) {
	page := job.Page{}
	var err error
	if page.Limit, err = parseLimit(in.Params.Limit); err != nil {
		return nil, err
	}
	if page.Before, err = parseBefore(in.Params.Before); err != nil {
		return nil, err
	}
	if in.Params.State != nil {
		if page.State = job.State(*in.Params.State); !in.Params.State.Valid() {
			return nil, &formError{field: "state", reason: "must be one of " + stateList()}
		}
	}
	wanted := page.Limit
	page.Limit++ // to see whether there is another page
	found, err := o.Jobs.List(ctx, requestFrom(ctx).owner, page)
	if err != nil {
		return nil, err
	}
	b := api.JobPage{Jobs: make([]api.AccountJob, min(len(found), wanted))}
	for i := range b.Jobs {
		b.Jobs[i] = accountJobBody(found[i])
	}
	if len(found) > wanted {
		b.Next = &found[wanted-1].ID
	}
	return api.ListJobs200JSONResponse(b), nil
}

// stateList is the states of jobs in words.
func stateList() string {
	var words []string
	for _, s := range job.States() {
		words = append(words, string(s))
	}
	return strings.Join(words, ", ")
}

// GetAccountJob is a job of the account.
func (o operations) GetAccountJob(ctx context.Context, in api.GetAccountJobRequestObject) (api.GetAccountJobResponseObject, error) {
	found, err := o.Jobs.Get(ctx, requestFrom(ctx).owner, in.ID)
	if err != nil {
		return nil, err
	}
	return api.GetAccountJob200JSONResponse(accountJobBody(found)), nil
}

// accountJobBody is a job as its account sees it.
func accountJobBody(j job.Job) api.AccountJob {
	shown := jobBodyAt("/api/jobs/"+j.ID, j)
	b := api.AccountJob{
		ID: shown.ID, Status: shown.Status, Metadata: shown.Metadata, OutputFormat: shown.OutputFormat,
		PreviewURL: shown.PreviewURL, DownloadURL: shown.DownloadURL, Error: shown.Error,
		CreatedAt: milliseconds(j.CreatedAt), Options: optionsBody(j.Options),
		Cost: int(j.Cost), Charged: int(j.Charged), InputAvailable: j.Input != nil,
	}
	if !j.EndedAt.IsZero() {
		ended := milliseconds(j.EndedAt)
		b.EndedAt = &ended
	}
	if j.BatchID != "" {
		b.BatchID = &j.BatchID
	}
	if j.State.Refunded() {
		b.Refunded = b.Charged
	}
	return b
}

func optionsBody(o job.Options) api.Options {
	method, anchor, format := api.Method(o.Method), api.Anchor(o.Anchor), api.OutputFormat(o.OutputFormat)
	b := api.Options{
		Method: &method, Tolerance: &o.Tolerance, Crop: &o.Crop, Pad: &o.Pad, Anchor: &anchor,
		OutputFormat: &format, BgColor: &o.BgColor, Trim: &o.Trim,
	}
	b.CanvasW, b.CanvasH, b.Harmonise = given(o.CanvasW), given(o.CanvasH), given(o.Harmonise)
	b.Background, b.Outline, b.Shadow = given(o.Background), given(o.Outline), given(o.Shadow)
	return b
}

// given is a value, or nil for the zero value.
func given[T comparable](v T) *T {
	if v == *new(T) {
		return nil
	}
	return &v
}
