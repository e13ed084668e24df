package httpapi

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"mime/multipart"
	"slices"
	"strings"
	"time"
	"unicode/utf8"

	"github.com/bgremove/bgremove/internal/service/account"
	"github.com/bgremove/bgremove/internal/service/job"
	"github.com/bgremove/bgremove/internal/service/store"
	"github.com/bgremove/bgremove/pkg/api"
	"github.com/bgremove/bgremove/pkg/option"
)

// probeTimeout is how long measuring a file may take. A file that takes longer
// counts as unreadable.
const probeTimeout = time.Minute

// maxIdempotencyKey is in characters.
const maxIdempotencyKey = 255

// CreateJob submits one file.
func (o operations) CreateJob(ctx context.Context, in api.CreateJobRequestObject) (api.CreateJobResponseObject, error) {
	receipt, err := o.submit(ctx, in.Body, in.Params.IdempotencyKey, oneFile)
	if err != nil {
		return nil, err
	}
	id := receipt.Jobs[0].ID
	return api.CreateJob202JSONResponse{Body: api.JobCreated{
		ID: id, Status: api.JobStatusQueued, CreditsRemaining: int(receipt.CreditsRemaining),
		Links: api.JobLinks{Self: jobPath(id), Download: jobPath(id) + "/download"},
	}}, nil
}

// CreateBatch submits several files.
func (o operations) CreateBatch(ctx context.Context, in api.CreateBatchRequestObject) (api.CreateBatchResponseObject, error) {
	receipt, err := o.submit(ctx, in.Body, in.Params.IdempotencyKey, manyFiles)
	if err != nil {
		return nil, err
	}
	b := api.BatchCreated{ID: receipt.BatchID, CreditsRemaining: int(receipt.CreditsRemaining), Jobs: batchEntries(receipt)}
	return api.CreateBatch202JSONResponse{Body: b}, nil
}

func batchEntries(r job.Receipt) []api.BatchEntry {
	all := make([]api.BatchEntry, len(r.Jobs))
	for i, j := range r.Jobs {
		all[i] = api.BatchEntry{ID: j.ID, Filename: j.Filename}
	}
	return all
}

// shape describes the allowed submissions.
type shape struct {
	files int // at most
	// batch says whether so many files are one.
	batch func(files int) bool
}

var (
	oneFile   = shape{1, func(int) bool { return false }}
	manyFiles = shape{MaxFiles, func(int) bool { return true }}
	anyFiles  = shape{MaxFiles, func(files int) bool { return files > 1 }}
)

// submit reads a form, measures its files, and has them charged and queued.
// Refusals come in the order of the product: size, form, limits, idempotency,
// unreadable, credits. A client that cannot pay the least price is refused
// before any file is stored or measured.
func (a *API) submit(ctx context.Context, body *multipart.Reader, key *string, s shape) (job.Receipt, error) {
	r := requestFrom(ctx)
	reservation, running, err := a.reserve(ctx, r.owner, key)
	if err != nil {
		return job.Receipt{}, err
	}
	if reservation != nil {
		defer reservation.Close()
	}
	poor := a.Jobs.Afford(ctx, r.owner.AccountID, 1)
	replay := reservation != nil && reservation.Answered()
	f := a.newForm(r, s.files, running == nil && (poor == nil || replay))
	defer f.drop(ctx)
	if err := errors.Join(f.read(ctx, body), running); err != nil {
		return job.Receipt{}, err
	}
	sub := job.Submission{Owner: r.owner, RequestID: r.id, Options: f.options, Files: f.inputs(), Batch: s.batch(f.files), WebhookURL: f.webhook, Reservation: reservation}
	if err := a.check(ctx, f); err != nil {
		return job.Receipt{}, err
	}
	earlier, conflict := earlierAnswer(sub)
	if earlier != nil {
		return *earlier, nil
	}
	if poor == nil || replay {
		poor = a.Jobs.Afford(ctx, r.owner.AccountID, f.files)
	}
	if poor != nil {
		return job.Receipt{}, errors.Join(conflict, poor)
	}
	if err := a.fetch(ctx, f); err != nil {
		return job.Receipt{}, err
	}
	sub.Files = f.inputs()
	if err := errors.Join(a.probe(ctx, f, sub.Files), conflict, checkReadable(sub)); err != nil {
		return job.Receipt{}, err
	}
	if err := checkClips(sub); err != nil {
		return job.Receipt{}, err
	}
	f.release()
	receipt, err := a.Jobs.Submit(ctx, sub)
	if !receipt.Replayed && !refused(err) {
		f.handOver() // also where nobody knows how the commit ended
	}
	return receipt, err
}

// check refuses what this service cannot do, or does not for the account.
func (a *API) check(ctx context.Context, f *form) error {
	if err := a.checkOptions(ctx, f.options); err != nil {
		return err
	}
	if err := a.checkURLs(ctx, f); err != nil || !f.given[webhookField] {
		return err
	}
	return webhookError(webhookField, a.Webhooks.CheckSubmission(ctx, f.account, f.webhook))
}

// checkOptions refuses what does not go together, and what this service cannot do.
func (a *API) checkOptions(ctx context.Context, o job.Options) error {
	switch {
	case a.WithoutNetwork && o.Method == option.Rembg:
		return &formError{field: "method", reason: "rembg is not available on this service"}
	case o.Model != "" && len(a.Models) == 0:
		return &formError{field: "model", reason: "cannot be chosen on this service"}
	case o.Model != "" && !slices.Contains(a.Models, o.Model):
		return &formError{field: "model", reason: "must be one of " + strings.Join(a.Models, ", ")}
	case len(o.Hints) > 0 && slices.Contains(a.Unguided, o.Model):
		return &formError{field: "hints", reason: "are not followed by " + cmp.Or(o.Model, "this service")}
	}
	if err := o.Check(); err != nil {
		return err
	}
	return a.Prober.Check(ctx, o)
}

// checkClips refuses options that do not fit all files. A file that cannot be read fits
// any.
func checkClips(sub job.Submission) error {
	for _, f := range sub.Files {
		if f.Unreadable {
			continue
		}
		err := sub.Options.CheckFor(f.Media)
		if wrong := (*option.Error)(nil); sub.Batch && errors.As(err, &wrong) {
			return &formError{field: wrong.Field, reason: wrong.Reason + " of " + f.Name, err: err}
		}
		if err != nil {
			return err
		}
	}
	return nil
}

// refused reports whether Submit has certainly done nothing.
func refused(err error) bool {
	return isType[*account.InsufficientError](err) || isAny(account.ErrSuspended, job.ErrRunning, job.ErrConflict)(err)
}

// earlierAnswer is what an earlier request with the Idempotency-Key was answered.
func earlierAnswer(sub job.Submission) (*job.Receipt, error) {
	if sub.Reservation == nil {
		return nil, nil
	}
	return sub.Reservation.Answer(sub)
}

// reserve starts a request with an Idempotency-Key, if there is one. A key held
// by another request is reported separately: it is refused later.
func (a *API) reserve(ctx context.Context, owner job.Owner, key *string) (reservation *job.Reservation, running, err error) {
	if key == nil {
		return nil, nil, nil
	}
	if *key == "" || utf8.RuneCountInString(*key) > maxIdempotencyKey || !store.ValidText(*key) {
		return nil, nil, &formError{field: "Idempotency-Key", reason: fmt.Sprintf("must have 1 to %d characters", maxIdempotencyKey)}
	}
	reservation, err = a.Jobs.Reserve(ctx, owner, *key)
	if errors.Is(err, job.ErrRunning) {
		return nil, err, nil
	}
	return reservation, nil, err
}

// inputs are the files of a form for the job service, not yet measured. One that is not
// fetched yet has only its address.
func (f *form) inputs() []job.Input {
	files := make([]job.Input, len(f.uploads))
	for i, u := range f.uploads {
		files[i] = job.Input{Name: u.name, URL: u.url}
		if u.Upload != nil {
			files[i].Key, files[i].Size, files[i].SHA256 = u.Key, u.Size, u.SHA256
		}
	}
	return files
}

// probe measures files and marks those that cannot be read. The error is of a
// file beyond a limit, or of this machine.
func (a *API) probe(ctx context.Context, f *form, files []job.Input) error {
	for i, u := range f.uploads {
		media, err := a.probeOne(ctx, f.account, u.Path)
		var limit *job.LimitError
		switch {
		case errors.Is(err, job.ErrUnreadable):
			files[i].Unreadable = true
		case errors.As(err, &limit):
			return &formError{reason: u.name + ": " + limit.Reason, err: err}
		case err != nil:
			return err
		}
		files[i].Media = media
	}
	return nil
}

// probeOne has a place of its own, so that a batch lets others between its files.
func (a *API) probeOne(ctx context.Context, accountID, path string) (job.Media, error) {
	leave, err := a.probes.acquire(ctx, accountID)
	if err != nil {
		return job.Media{}, err
	}
	defer leave()
	timed, cancel := context.WithTimeout(ctx, probeTimeout)
	defer cancel()
	media, err := a.Prober.Probe(timed, path, a.Limits)
	if err != nil && timed.Err() != nil && ctx.Err() == nil {
		return job.Media{}, job.ErrUnreadable
	}
	return media, err
}

// checkReadable refuses a single file that cannot be read. In a batch it becomes
// a failed job.
func checkReadable(sub job.Submission) error {
	if !sub.Batch && sub.Files[0].Unreadable {
		return job.ErrUnreadable
	}
	return nil
}
