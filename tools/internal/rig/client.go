package rig

import (
	"bytes"
	"context"
	"encoding/json"
	"fmt"
	"io"
	"mime/multipart"
	"net/http"

	"github.com/bgremove/bgremove/pkg/api"
)

// File is a file in a form.
type File struct {
	Name    string
	Content []byte
}

// Form is a submission: one file makes a job, several make a batch. It may be
// sent any number of times.
type Form struct {
	path, contentType string
	body              []byte
}

// NewForm puts files in a form with method fast.
func NewForm(files ...File) (Form, error) {
	var b bytes.Buffer
	w := multipart.NewWriter(&b)
	if err := w.WriteField("method", "fast"); err != nil {
		return Form{}, err
	}
	for _, f := range files {
		part, err := w.CreateFormFile("file", f.Name)
		if err != nil {
			return Form{}, err
		}
		if _, err := part.Write(f.Content); err != nil {
			return Form{}, err
		}
	}
	if err := w.Close(); err != nil {
		return Form{}, err
	}
	form := Form{path: "/api/v1/jobs", contentType: w.FormDataContentType(), body: b.Bytes()}
	if len(files) > 1 {
		form.path = "/api/v1/batches"
	}
	return form, nil
}

// Body returns the media type and the body of the form.
func (f Form) Body() (contentType string, body []byte) { return f.contentType, f.body }

// StatusError is an answer without success.
type StatusError struct {
	Code int
	Body string
	// Again means that a Retry-After asks the client to retry.
	Again bool
}

func (e *StatusError) Error() string { return fmt.Sprintf("status %d: %s", e.Code, e.Body) }

// Client makes requests to nodes. It is safe for concurrent use.
type Client struct {
	key  string
	http *http.Client
}

// NewClient makes a client with an API key. It opens at most connections
// connections to a node.
func NewClient(key string, connections int) *Client {
	return &Client{key: key, http: &http.Client{Transport: &http.Transport{
		MaxConnsPerHost: connections, MaxIdleConnsPerHost: connections, DisableCompression: true,
	}}}
}

// Submit sends a form to the node at url and returns the ids of the jobs. It
// sends an Idempotency-Key unless that is empty.
func (c *Client) Submit(ctx context.Context, url string, f Form, idempotencyKey string) ([]string, error) {
	r, err := http.NewRequestWithContext(ctx, http.MethodPost, url+f.path, bytes.NewReader(f.body))
	if err != nil {
		return nil, err
	}
	r.Header.Set("Content-Type", f.contentType)
	if idempotencyKey != "" {
		r.Header.Set("Idempotency-Key", idempotencyKey)
	}
	if f.path == "/api/v1/batches" {
		var made api.BatchCreated
		err := c.do(r, &made)
		var ids []string
		for _, j := range made.Jobs {
			ids = append(ids, j.ID)
		}
		return ids, err
	}
	var made api.JobCreated
	if err := c.do(r, &made); err != nil {
		return nil, err
	}
	return []string{made.ID}, nil
}

// Upload sends a form of length bytes that is generated during the transfer.
func (c *Client) Upload(ctx context.Context, url, contentType string, body io.Reader, length int64) (id string, err error) {
	r, err := http.NewRequestWithContext(ctx, http.MethodPost, url+"/api/v1/jobs", body)
	if err != nil {
		return "", err
	}
	r.ContentLength = length
	r.Header.Set("Content-Type", contentType)
	var made api.JobCreated
	err = c.do(r, &made)
	return made.ID, err
}

// Job returns the state of a job.
func (c *Client) Job(ctx context.Context, url, id string) (api.Job, error) {
	r, err := http.NewRequestWithContext(ctx, http.MethodGet, url+"/api/v1/jobs/"+id, nil)
	if err != nil {
		return api.Job{}, err
	}
	var j api.Job
	err = c.do(r, &j)
	return j, err
}

// Delete cancels a job, or removes its files.
func (c *Client) Delete(ctx context.Context, url, id string) error {
	r, err := http.NewRequestWithContext(ctx, http.MethodDelete, url+"/api/v1/jobs/"+id, nil)
	if err != nil {
		return err
	}
	return c.do(r, &api.Job{})
}

// do sends a request and reads the answer as JSON. An answer without success is
// a *StatusError.
func (c *Client) do(r *http.Request, answer any) error {
	r.Header.Set("Authorization", "Bearer "+c.key)
	resp, err := c.http.Do(r)
	if err != nil {
		return err
	}
	defer resp.Body.Close()
	body, err := io.ReadAll(resp.Body)
	if err != nil {
		return err
	}
	if resp.StatusCode/100 != 2 {
		return &StatusError{Code: resp.StatusCode, Body: string(body), Again: resp.Header.Get("Retry-After") != ""}
	}
	return json.Unmarshal(body, answer)
}
