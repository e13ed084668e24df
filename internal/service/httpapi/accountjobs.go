package httpapi

import (
	"context"
	"errors"
	"mime/multipart"

	"github.com/bgremove/bgremove/internal/service/job"
	"github.com/bgremove/bgremove/pkg/api"
)

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
	if err := a.check(ctx, f); err != nil {
		return job.Receipt{}, err
	}
	sub := job.Submission{Owner: r.owner, RequestID: r.id, Options: f.options, Again: id, WebhookURL: f.webhook, Reservation: reservation}
	earlier, err := earlierAnswer(sub)
	if err != nil {
		return job.Receipt{}, err
	}
	if earlier != nil { // the file may be gone by now
		return *earlier, nil
	}
	first, err := a.Jobs.Get(ctx, r.owner, id)
	if err != nil {
		return job.Receipt{}, err
	}
	in, err := first.Again()
	if err != nil {
		return job.Receipt{}, err
	}
	sub.Files = []job.Input{in}
	if err := checkClips(sub); err != nil {
		return job.Receipt{}, err
	}
	return a.Jobs.Submit(ctx, sub)
}

func createdBody(r job.Receipt) api.JobsCreated {
	b := api.JobsCreated{Jobs: batchEntries(r), CreditsRemaining: int(r.CreditsRemaining)}
	if r.BatchID != "" {
		b.BatchID = &r.BatchID
	}
	return b
}

// GetAccountJob is a job of the account.
func (o operations) GetAccountJob(ctx context.Context, in api.GetAccountJobRequestObject) (api.GetAccountJobResponseObject, error) {
	found, err := o.Jobs.Get(ctx, requestFrom(ctx).owner, in.ID)
	if err != nil {
		return nil, err
	}
	return api.GetAccountJob200JSONResponse(accountJobBody(found)), nil
}

// DeleteAccountJob cancels a job of the account, or removes its files.
func (o operations) DeleteAccountJob(ctx context.Context, in api.DeleteAccountJobRequestObject) (api.DeleteAccountJobResponseObject, error) {
	left, err := o.Jobs.Delete(ctx, requestFrom(ctx).owner, in.ID)
	if err != nil {
		return nil, err
	}
	return api.DeleteAccountJob200JSONResponse(accountJobBody(left)), nil
}

// accountJobBody is a job as its account sees it.
func accountJobBody(j job.Job) api.AccountJob {
	shown := keyJobBodyAt("/api/jobs/"+j.ID, j)
	return api.AccountJob{
		ID: shown.ID, Status: shown.Status, Metadata: shown.Metadata, OutputFormat: shown.OutputFormat,
		PreviewURL: shown.PreviewURL, DownloadURL: shown.DownloadURL, Error: shown.Error,
		CreatedAt: shown.CreatedAt, EndedAt: shown.EndedAt, BatchID: shown.BatchID, Charged: shown.Charged, Refunded: shown.Refunded,
		Options: optionsBody(j.Options), Cost: int(j.Cost), InputAvailable: j.Input != nil,
	}
}

func optionsBody(o job.Options) api.JobOptions {
	method, anchor, format := api.Method(o.Method), api.Anchor(o.Anchor), api.OutputFormat(o.OutputFormat)
	b := api.JobOptions{
		Method: &method, Tolerance: &o.Tolerance, Crop: &o.Crop, Pad: &o.Pad, Anchor: &anchor,
		OutputFormat: &format, BgColor: &o.BgColor, Trim: &o.Trim,
	}
	b.CanvasW, b.CanvasH, b.Harmonise, b.Largest = given(o.CanvasW), given(o.CanvasH), given(o.Harmonise), given(o.Largest)
	b.Model, b.Background, b.Outline, b.Shadow = given(o.Model), given(o.Background), given(o.Outline), given(o.Shadow)
	b.Fps, b.Start, b.End, b.Quality, b.Loop = given(o.FPS), given(o.Start), given(o.End), given(o.Quality), o.Loop
	if len(o.Hints) > 0 {
		b.Hints = &o.Hints
	}
	return b
}

// given is a value, or nil for the zero value.
func given[T comparable](v T) *T {
	if v == *new(T) {
		return nil
	}
	return &v
}
