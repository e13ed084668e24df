package client

import (
	"bytes"
	"context"
	"crypto/sha256"
	"encoding/hex"
	"errors"
	"fmt"
	"hash"
	"io"
	"net/http"
	"strings"
	"time"

	"github.com/bgremove/bgremove/pkg/api"
)

// stall is how long a download may bring nothing before it is tried again.
const stall = time.Minute

// DownloadOptions say how a download is kept. The zero value keeps an existing
// file.
type DownloadOptions struct {
	// Overwrite replaces an existing file.
	Overwrite bool
	// Progress, if set, gets the bytes received and their total, which is -1 if
	// unknown.
	Progress func(done, total int64)
}

// Download writes the output of a job to a file and returns its size. The file
// gets its name when it is complete and checked. Until then an existing file
// stays. An interrupted download is resumed. The error wraps fs.ErrExist if a
// file exists and must not be overwritten.
func (c *Client) Download(ctx context.Context, id, path string, o DownloadOptions) (int64, error) {
	p, err := createPart(path, o.Overwrite)
	if err != nil {
		return 0, err
	}
	defer p.discard()
	t := c.output(id)
	t.out, t.restart, t.progress = p, p.restart, o.Progress
	if err := t.run(ctx); err != nil {
		return 0, err
	}
	return t.done, p.commit()
}

// DownloadTo writes the output of a job to w and returns the number of bytes
// that were written. When there is an error these are not all, or, if it is
// ErrDigest, not the right ones.
func (c *Client) DownloadTo(ctx context.Context, id string, w io.Writer) (int64, error) {
	t := c.output(id)
	t.out = w
	err := t.run(ctx)
	return t.done, err
}

// Preview writes one frame of a job's result to w, as PNG. It is there before
// the job is done.
func (c *Client) Preview(ctx context.Context, id string, w io.Writer) (int64, error) {
	t := &transfer{client: c, id: id, out: w, get: func(ctx context.Context, byteRange, ifRange *string) (*http.Response, error) {
		return c.api.GetPreview(ctx, id, &api.GetPreviewParams{Range: byteRange, IfRange: ifRange}, uncompressed)
	}}
	err := t.run(ctx)
	return t.done, err
}

func (c *Client) output(id string) *transfer {
	return &transfer{client: c, id: id, get: func(ctx context.Context, byteRange, ifRange *string) (*http.Response, error) {
		return c.api.GetDownload(ctx, id, &api.GetDownloadParams{Range: byteRange, IfRange: ifRange}, uncompressed)
	}}
}

// uncompressed asks for the bytes of the file itself, which ranges count.
func uncompressed(_ context.Context, r *http.Request) error {
	r.Header.Set("Accept-Encoding", "identity")
	return nil
}

// transfer is a file of a job on its way.
type transfer struct {
	client   *Client
	id       string
	get      func(ctx context.Context, byteRange, ifRange *string) (*http.Response, error)
	out      io.Writer
	restart  func() error // discards the written bytes; nil if that is impossible
	progress func(done, total int64)

	etag   string
	digest hash.Hash // of the written bytes
	done   int64
	total  int64 // -1 is not known
}

func (t *transfer) run(ctx context.Context) error {
	t.digest = sha256.New()
	return t.client.retry(ctx, func(ctx context.Context) error {
		before := t.done
		err := t.once(ctx)
		if err != nil && t.done > before {
			return &movedError{err}
		}
		return err
	})
}

// once requests the missing part and writes it.
func (t *transfer) once(ctx context.Context) error {
	if t.done > 0 && t.etag == "" { // without it, a part of another file would look the same
		if err := t.startAgain(nil); err != nil {
			return err
		}
	}
	ctx, cancel := context.WithCancelCause(ctx)
	defer cancel(nil)
	watch := time.AfterFunc(stall, func() { cancel(errStalled) })
	defer watch.Stop()
	resp, err := t.client.ask(ctx, t.request)
	if err != nil {
		return err
	}
	defer resp.Body.Close()
	if err := t.readHead(ctx, resp); err != nil {
		return err
	}
	if err := t.copyBody(resp.Body, watch); err != nil {
		if last := (*lastError)(nil); errors.As(err, &last) {
			return err
		}
		return t.client.broken(ctx, err, true)
	}
	return t.check()
}

func (t *transfer) request(ctx context.Context) (*http.Response, error) {
	if t.done == 0 {
		return t.get(ctx, nil, nil)
	}
	from := fmt.Sprintf("bytes=%d-", t.done)
	return t.get(ctx, &from, &t.etag)
}

// readHead reads the head of an answer. If the answer starts at the file's
// beginning, it discards the written bytes.
func (t *transfer) readHead(ctx context.Context, resp *http.Response) error {
	etag := resp.Header.Get("ETag")
	switch {
	case resp.StatusCode == http.StatusNotFound:
		err := t.client.decode(ctx, resp, http.StatusOK, nil)
		if errors.Is(err, ErrNotFound) {
			return t.absent(ctx)
		}
		return err
	case resp.StatusCode == http.StatusRequestedRangeNotSatisfiable && t.done > 0:
		return t.startAgain(ErrDigest)
	case resp.StatusCode != http.StatusOK && resp.StatusCode != http.StatusPartialContent:
		return t.client.decode(ctx, resp, http.StatusOK, nil)
	case !isMedia(resp):
		return unexpected(resp)
	case resp.StatusCode == http.StatusPartialContent:
		var first, last, total int64
		n, _ := fmt.Sscanf(resp.Header.Get("Content-Range"), "bytes %d-%d/%d", &first, &last, &total)
		if n != 3 || first != t.done || etag != t.etag {
			return unexpected(resp)
		}
		t.total = total
		return nil
	case t.done > 0:
		if err := t.startAgain(nil); err != nil {
			return err
		}
	}
	t.etag, t.total = etag, resp.ContentLength
	if strings.HasPrefix(etag, "W/") { // does not vouch for bytes
		t.etag = ""
	}
	return nil
}

// isMedia reports whether an answer is a clip or a picture.
func isMedia(resp *http.Response) bool {
	kind := mediaType(resp)
	return strings.HasPrefix(kind, "image/") || strings.HasPrefix(kind, "video/")
}

// absent says why a result is not there.
func (t *transfer) absent(ctx context.Context) error {
	job, err := t.client.Job(ctx, t.id)
	switch {
	case err != nil:
		return &lastError{err}
	case job.Status == api.JobStatusDone:
		return ErrExpired
	case !Ended(job):
		return ErrNotReady
	}
	return Failure(job)
}

// startAgain discards the written bytes. It returns err, or the reason why it
// cannot.
func (t *transfer) startAgain(err error) error {
	if t.restart == nil {
		return &lastError{fmt.Errorf("%w, and a part of it was passed on", ErrDigest)}
	}
	if broken := t.restart(); broken != nil {
		return &lastError{broken}
	}
	t.done, t.etag = 0, ""
	t.digest.Reset()
	return err
}

// copyBody writes what arrives. The error of writing is a *lastError.
func (t *transfer) copyBody(from io.Reader, watch *time.Timer) error {
	buffer := make([]byte, 64<<10)
	for {
		watch.Reset(stall)
		n, err := from.Read(buffer)
		watch.Stop() // out may be slow
		if n > 0 {
			if _, err := t.out.Write(buffer[:n]); err != nil {
				return &lastError{err}
			}
			_, _ = t.digest.Write(buffer[:n]) // it never fails
			t.done += int64(n)
			if t.progress != nil {
				t.progress(t.done, t.total)
			}
		}
		if err == io.EOF {
			return t.complete()
		}
		if err != nil {
			return err
		}
	}
}

// complete compares the received bytes with the announced ones.
func (t *transfer) complete() error {
	if t.total >= 0 && t.done < t.total {
		return io.ErrUnexpectedEOF
	}
	return nil
}

// check compares the whole with the ETag, which is its SHA-256 if nothing on
// the way has put another in its place.
func (t *transfer) check() error {
	want, err := hex.DecodeString(strings.Trim(t.etag, `"`))
	if err != nil || len(want) != sha256.Size || bytes.Equal(want, t.digest.Sum(nil)) {
		return nil
	}
	return t.startAgain(ErrDigest)
}
