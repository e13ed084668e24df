package httpapi

import (
	"context"

	"github.com/bgremove/bgremove/internal/service/job"
	"github.com/bgremove/bgremove/pkg/api"
)

// GetJob is a job's status.
func (o operations) GetJob(ctx context.Context, in api.GetJobRequestObject) (api.GetJobResponseObject, error) {
	found, err := o.Jobs.Get(ctx, requestFrom(ctx).owner, in.ID)
	if err != nil {
		return nil, err
	}
	return api.GetJob200JSONResponse{Body: jobBody(found)}, nil
}

// DeleteJob cancels a job, or removes its files.
func (o operations) DeleteJob(ctx context.Context, in api.DeleteJobRequestObject) (api.DeleteJobResponseObject, error) {
	left, err := o.Jobs.Delete(ctx, requestFrom(ctx).owner, in.ID)
	if err != nil {
		return nil, err
	}
	return api.DeleteJob200JSONResponse{Body: jobBody(left)}, nil
}

// GetBatch is a batch's status and its jobs.
func (o operations) GetBatch(ctx context.Context, in api.GetBatchRequestObject) (api.GetBatchResponseObject, error) {
	found, err := o.Jobs.Batch(ctx, requestFrom(ctx).owner, in.ID)
	if err != nil {
		return nil, err
	}
	return api.GetBatch200JSONResponse{Body: api.Batch{
		ID: found.ID, Status: api.BatchStatus(found.State), Jobs: bodies(found.Jobs, jobBody),
	}}, nil
}

func jobPath(id string) string { return "/api/v1/jobs/" + id }

// jobBody is a job as keys see it.
func jobBody(j job.Job) api.Job { return jobBodyAt(jobPath(j.ID), j) }

// keyJobBody is a job in a key's list.
func keyJobBody(j job.Job) api.KeyJob { return keyJobBodyAt(jobPath(j.ID), j) }

// keyJobBodyAt is a job with its times and credits, and links below a path.
func keyJobBodyAt(self string, j job.Job) api.KeyJob {
	shown := jobBodyAt(self, j)
	b := api.KeyJob{
		ID: shown.ID, Status: shown.Status, Metadata: shown.Metadata, OutputFormat: shown.OutputFormat,
		PreviewURL: shown.PreviewURL, DownloadURL: shown.DownloadURL, Error: shown.Error,
		CreatedAt: milliseconds(j.CreatedAt), Charged: int(j.Charged),
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

// qualityBody is nil for jobs of versions that did not judge.
func qualityBody(q *job.Quality) *api.Quality {
	if q == nil {
		return nil
	}
	b := &api.Quality{Kept: q.Kept, Warnings: make([]api.Warning, len(q.Warnings))}
	for i, w := range q.Warnings {
		b.Warnings[i] = api.Warning(w)
	}
	return b
}

// jobBodyAt is a job with links to its files below a path.
func jobBodyAt(self string, j job.Job) api.Job {
	b := api.Job{
		ID: j.ID, Status: api.JobStatus(j.State), OutputFormat: api.OutputFormat(j.OutputFormat),
		Metadata: api.Metadata{
			OriginalName: j.OriginalName, InputSize: j.InputSize, FrameCount: j.Media.FrameCount,
			Width: j.Media.Width, Height: j.Media.Height, Duration: j.Media.Duration.Seconds(),
		},
	}
	if j.Preview != nil || j.State == job.Done {
		path := self + "/preview"
		b.PreviewURL = &path
	}
	if j.State == job.Done {
		path := self + "/download"
		b.DownloadURL, b.Metadata.OutputSize, b.Metadata.Quality = &path, &j.OutputSize, qualityBody(j.Quality)
	}
	if j.State == job.Failed {
		reason := string(j.Error)
		b.Error = &reason
	}
	return b
}
