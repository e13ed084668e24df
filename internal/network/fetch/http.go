package fetch

import (
	"context"
	"errors"
	"fmt"
	"io"
	"mime"
	"net"
	"net/http"
	"net/url"
	"path/filepath"
	"time"
)

const maxRedirects = 10

// defaultHTTP has a limit for each step but none for the whole body.
var defaultHTTP = &http.Client{
	Transport: &http.Transport{
		Proxy:                 http.ProxyFromEnvironment,
		DialContext:           (&net.Dialer{Timeout: 15 * time.Second}).DialContext,
		TLSHandshakeTimeout:   15 * time.Second,
		ResponseHeaderTimeout: 30 * time.Second,
		ForceAttemptHTTP2:     true,
		MaxIdleConns:          4,
		IdleConnTimeout:       30 * time.Second,
	},
	CheckRedirect: checkRedirect,
}

func checkRedirect(next *http.Request, via []*http.Request) error {
	switch {
	case len(via) > maxRedirects:
		return fmt.Errorf("%w: more than %d of them", ErrRedirect, maxRedirects)
	case via[0].URL.Scheme == "https" && next.URL.Scheme != "https":
		return fmt.Errorf("%w: from https to %s", ErrRedirect, next.URL.Scheme)
	}
	return nil
}

// download fetches the bytes that follow the part's.
func (c *Client) download(ctx context.Context, f File, p *part) error {
	ctx, cancel := context.WithCancelCause(ctx)
	defer cancel(nil)
	resp, err := c.request(ctx, f, p)
	if err != nil {
		return err
	}
	defer resp.Body.Close()
	total, err := c.readHead(f, p, resp)
	if err != nil {
		return err
	}
	if err := p.setTag(resp.Header.Get("ETag")); err != nil {
		return err
	}
	if err := enoughSpace(filepath.Dir(p.path), total-p.size); err != nil {
		return err
	}
	idle := c.Idle
	if idle == 0 {
		idle = 30 * time.Second
	}
	timer := time.AfterFunc(idle, func() { cancel(ErrStalled) })
	defer timer.Stop()
	return c.copyBody(ctx, f.From, &idleReader{resp.Body, timer, idle}, p, total)
}

// request asks for the rest of the file, or for all of it if the server does
// not know the version of the part.
func (c *Client) request(ctx context.Context, f File, p *part) (*http.Response, error) {
	client := *defaultHTTP
	if c.HTTP != nil {
		client = *c.HTTP
		client.CheckRedirect = checkRedirect
	}
	req, err := http.NewRequestWithContext(ctx, http.MethodGet, f.From, nil)
	if err != nil {
		return nil, redactError(f.From, err)
	}
	req.Header.Set("User-Agent", "bgremove")
	req.Header.Set("Accept-Encoding", "identity") // ranges count bytes of the file itself
	if p.size > 0 {
		req.Header.Set("Range", fmt.Sprintf("bytes=%d-", p.size))
		if p.etag != "" {
			req.Header.Set("If-Range", p.etag)
		}
	}
	resp, err := client.Do(req)
	if err != nil {
		if ctx.Err() != nil {
			return nil, context.Cause(ctx)
		}
		return nil, redactError(f.From, err)
	}
	if resp.StatusCode == http.StatusRequestedRangeNotSatisfiable && p.size > 0 {
		_ = resp.Body.Close()
		if err := p.reset(); err != nil {
			return nil, err
		}
		return c.request(ctx, f, p)
	}
	return resp, nil
}

// errRange is an answer with another part of the file than the requested one.
var errRange = errors.New("the server sent another part of the file")

// readHead reads the head of an answer. It empties the part if the server sends
// the file from its start. It returns the file's size, or 0 if that is unknown.
func (c *Client) readHead(f File, p *part, resp *http.Response) (int64, error) {
	from := Redacted(f.From)
	if kind, _, _ := mime.ParseMediaType(resp.Header.Get("Content-Type")); kind == "text/html" && resp.StatusCode/100 == 2 {
		return 0, &PageError{From: from}
	}
	var total int64
	switch resp.StatusCode {
	case http.StatusPartialContent:
		var first, last int64
		if _, err := fmt.Sscanf(resp.Header.Get("Content-Range"), "bytes %d-%d/%d", &first, &last, &total); err != nil || first != p.size {
			return 0, fmt.Errorf("%s: %w", from, errRange)
		}
	case http.StatusOK:
		total = max(resp.ContentLength, 0)
	default:
		return 0, &StatusError{From: from, Code: resp.StatusCode}
	}
	if f.Size > 0 && total > 0 && total != f.Size {
		return 0, &SizeError{From: from, Got: total, Want: f.Size}
	}
	if resp.StatusCode == http.StatusOK && p.size > 0 {
		if err := p.reset(); err != nil {
			return 0, err
		}
	}
	return max(total, f.Size), nil
}

// idleReader is a body with a timer that ends a silent transfer.
type idleReader struct {
	io.Reader
	timer *time.Timer
	idle  time.Duration
}

func (w *idleReader) Read(b []byte) (int, error) {
	n, err := w.Reader.Read(b)
	w.timer.Reset(w.idle)
	return n, err
}

// redactError removes the addresses from a network error, because those of redirects
// may hold signatures.
func redactError(from string, err error) error {
	var wrapped *url.Error
	if errors.As(err, &wrapped) {
		err = wrapped.Err
	}
	return &UnreachableError{Redacted(from), err}
}
