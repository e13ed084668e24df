package mcp

import (
	"context"
	"errors"
	"fmt"
	"io/fs"
	"path/filepath"
	"strings"
	"time"

	"github.com/google/jsonschema-go/jsonschema"
	sdk "github.com/modelcontextprotocol/go-sdk/mcp"

	"github.com/bgremove/bgremove/pkg/bgremove"
	"github.com/bgremove/bgremove/pkg/client"
	"github.com/bgremove/bgremove/pkg/option"
)

// longestWait bounds the seconds that job_status waits: many assistants give a call up
// after a minute.
const longestWait = 45

// job is a job as its tools tell of it.
type job struct {
	ID       string   `json:"id"`
	Status   string   `json:"status" jsonschema:"done if the result can be downloaded"`
	Error    string   `json:"error,omitempty" jsonschema:"why it failed"`
	Input    string   `json:"input" jsonschema:"the name of the file"`
	Duration float64  `json:"duration" jsonschema:"seconds that the input plays"`
	Frames   int      `json:"frames" jsonschema:"of the input"`
	Width    int      `json:"width" jsonschema:"of the input"`
	Height   int      `json:"height" jsonschema:"of the input"`
	Format   string   `json:"format" jsonschema:"of the result"`
	Size     int64    `json:"size,omitempty" jsonschema:"bytes of the result"`
	Warnings []string `json:"warnings" jsonschema:"what may be wrong with the result"`
}

func newJob(j client.Job) job {
	m := j.Metadata
	all := job{ID: j.ID, Status: string(j.Status), Input: m.OriginalName, Duration: m.Duration, Frames: m.FrameCount,
		Width: m.Width, Height: m.Height, Format: string(j.OutputFormat), Warnings: []string{}}
	if j.Error != nil {
		all.Error = *j.Error
	}
	if m.OutputSize != nil {
		all.Size = *m.OutputSize
	}
	if m.Quality != nil {
		for _, w := range m.Quality.Warnings {
			all.Warnings = append(all.Warnings, w.Message)
		}
	}
	return all
}

// submitted is the result of submit_job.
type submitted struct {
	ID               string `json:"id" jsonschema:"names the job for the other tools"`
	Status           string `json:"status"`
	CreditsRemaining int    `json:"creditsRemaining" jsonschema:"the balance after the charge"`
}

// downloaded is the result of download_result.
type downloaded struct {
	Path   string `json:"path" jsonschema:"the file that was written"`
	Format string `json:"format"`
	Size   int64  `json:"size" jsonschema:"bytes"`
}

func (s *server) addJobs(m *sdk.Server) {
	id := &jsonschema.Schema{Type: "string", Description: "The id of the job, from submit_job."}
	elsewhere := new(true)
	submit := map[string]*jsonschema.Schema{
		"input":          {Type: "string", Description: "The path of a clip: " + strings.Join(option.UploadExtensions(), " ") + "."},
		"idempotencyKey": {Type: "string", Description: "A text of your choice. Within 24 hours the same submission with it is not charged again."},
	}
	words().addOptions(submit, words().service)
	addTool(m, &sdk.Tool{
		Name: "submit_job", Title: "Send a clip to the service",
		Description: "Sends a local clip to the service, which charges credits for it and takes its background out. probe tells the price. job_status tells when it is done.",
		InputSchema: object([]string{"input"}, submit),
		Annotations: &sdk.ToolAnnotations{DestructiveHint: new(false), OpenWorldHint: elsewhere},
	}, s.submit)
	addTool(m, &sdk.Tool{
		Name: "job_status", Title: "Look at a job",
		Description: "Tells the state of a job of the service. With wait it answers when the job has ended, or after so many seconds.",
		InputSchema: object([]string{"id"}, map[string]*jsonschema.Schema{
			"id":   id,
			"wait": {Type: "number", Minimum: new(0.0), Maximum: new(float64(longestWait)), Description: "Seconds to wait for the end of the job."},
		}),
		Annotations: &sdk.ToolAnnotations{ReadOnlyHint: true, IdempotentHint: true, OpenWorldHint: elsewhere},
	}, s.status)
	addTool(m, &sdk.Tool{
		Name: "download_result", Title: "Get the result of a job",
		Description: "Writes the result of a job that is done to a local file.",
		InputSchema: object([]string{"id", "output"}, map[string]*jsonschema.Schema{
			"id":        id,
			"output":    {Type: "string", Description: "The path of the file to write, with the extension of the job's format."},
			"overwrite": {Type: "boolean", Description: "Replace the output if it exists."},
		}),
		Annotations: &sdk.ToolAnnotations{DestructiveHint: new(true), IdempotentHint: true, OpenWorldHint: elsewhere},
	}, s.download)
	addTool(m, &sdk.Tool{
		Name: "cancel_job", Title: "Cancel a job",
		Description: "Cancels a job that has not ended; its credits are given back. A job that has ended stays as it is.",
		InputSchema: object([]string{"id"}, map[string]*jsonschema.Schema{"id": id}),
		Annotations: &sdk.ToolAnnotations{DestructiveHint: new(true), IdempotentHint: true, OpenWorldHint: elsewhere},
	}, s.cancel)
}

func (s *server) submit(ctx context.Context, c *call) (submitted, error) {
	var path, key string
	err := errors.Join(take(c.arguments, "input", &path), take(c.arguments, "idempotencyKey", &key))
	if err == nil {
		path, err = s.folders.input(path)
	}
	var o option.Options
	if err == nil {
		o, err = c.arguments.options()
	}
	if err == nil {
		err = bgremove.Validate(o)
	}
	if err != nil {
		return submitted{}, s.explain(err)
	}
	settings := s.JobOptions(o)
	tell := c.progress(ctx, "sending "+filepath.Base(path))
	settings.IdempotencyKey, settings.Progress = key, func(sent, total int64) { tell(float64(sent), float64(total)) }
	made, err := s.Service.Submit(ctx, client.File{Path: path}, settings)
	if err != nil {
		return submitted{}, s.explain(err)
	}
	return submitted{ID: made.ID, Status: string(made.Status), CreditsRemaining: made.CreditsRemaining}, nil
}

// jobID takes the id of a job.
func jobID(a arguments) (id string, err error) {
	if err := take(a, "id", &id); err != nil {
		return "", err
	}
	if !strings.HasPrefix(id, "job_") || strings.ContainsAny(id, "/?#") {
		return "", wrong("id", "must be that of a job, which begins with job_")
	}
	return id, nil
}

func (s *server) status(ctx context.Context, c *call) (job, error) {
	var wait float64
	id, err := jobID(c.arguments)
	if err == nil {
		err = take(c.arguments, "wait", &wait)
	}
	if err == nil && !(wait >= 0 && wait <= longestWait) {
		err = wrong("wait", fmt.Sprintf("must be between 0 and %d", longestWait))
	}
	if err != nil {
		return job{}, s.explain(err)
	}
	now, err := s.Service.Job(ctx, id)
	if err != nil || wait == 0 || client.Ended(now) {
		return newJob(now), s.explain(err)
	}
	brief, cancel := context.WithTimeout(ctx, time.Duration(wait*float64(time.Second)))
	defer cancel()
	_, err = s.Service.Wait(brief, id, func(j client.Job) { now = j })
	if brief.Err() != nil && ctx.Err() == nil || errors.As(err, new(*client.JobFailedError)) {
		err = nil // the job tells it
	}
	return newJob(now), s.explain(err)
}

func (s *server) download(ctx context.Context, c *call) (downloaded, error) {
	var path string
	var overwrite bool
	id, err := jobID(c.arguments)
	err = errors.Join(err, take(c.arguments, "output", &path), take(c.arguments, "overwrite", &overwrite))
	if err == nil {
		path, err = s.folders.output(path)
	}
	if err != nil {
		return downloaded{}, s.explain(err)
	}
	j, err := s.Service.Job(ctx, id)
	if err != nil {
		return downloaded{}, s.explain(err)
	}
	if format := option.Format(j.OutputFormat); client.Ended(j) && !strings.EqualFold(filepath.Ext(path), "."+format.Extension()) {
		return downloaded{}, s.explain(wrong("output", fmt.Sprintf("ends in %s, and the result of the job is %s: name it .%s", filepath.Ext(path), format, format.Extension())))
	}
	tell := c.progress(ctx, "downloading "+filepath.Base(path))
	size, err := s.Service.Download(ctx, id, path, client.DownloadOptions{Overwrite: overwrite, Progress: func(done, total int64) { tell(float64(done), float64(total)) }})
	if errors.Is(err, fs.ErrExist) {
		err = &bgremove.Error{Kind: bgremove.Exists, Cause: bgremove.OutputExists, Path: path, Reason: "the output already exists", Err: err}
	}
	if err != nil {
		return downloaded{}, s.explain(err)
	}
	return downloaded{Path: path, Format: string(j.OutputFormat), Size: size}, nil
}

func (s *server) cancel(ctx context.Context, c *call) (job, error) {
	id, err := jobID(c.arguments)
	if err != nil {
		return job{}, s.explain(err)
	}
	j, err := s.Service.Job(ctx, id)
	if err == nil && !client.Ended(j) {
		j, err = s.Service.Delete(ctx, id)
	}
	if err != nil {
		return job{}, s.explain(err)
	}
	return newJob(j), nil
}
