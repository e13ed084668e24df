// Package fetch brings one known file from a server, a folder or another file
// to its place. It resumes downloads if the server allows it, and checks the
// content before the file gets its name. The final name never holds a partial
// file.
package fetch

import (
	"context"
	"errors"
	"fmt"
	"io"
	"net/http"
	"os"
	"path/filepath"
	"time"

	"github.com/bgremove/bgremove/internal/system/infile"
)

// File describes the wanted file.
type File struct {
	// From is an http or https URL, a file URL or a path.
	From string
	// Size in bytes; 0 is unknown.
	Size int64
	// SHA256 is the digest of the content, 64 lower-case hex digits.
	SHA256 string
}

// Client fetches files. The zero value is ready for use. It is safe for
// concurrent use.
type Client struct {
	// HTTP makes the requests. nil is a client that uses the proxies of the
	// environment and waits at most 30 s for an answer. Either client follows
	// at most ten redirects, and none from https to http.
	HTTP *http.Client
	// Idle is how long a server may send nothing; 0 is 30 s.
	Idle time.Duration
	// Progress, if set, gets the number of bytes so far and their final number
	// (0 while unknown). It runs on the goroutine that called Get.
	Progress func(done, total int64)
}

// maxUnknownSize bounds files of unknown size.
const maxUnknownSize = 4 << 30

// Get brings f to dest, and replaces an existing file. Until it is complete the
// content is in dest.part, under a lock (ErrBusy). An interrupted download
// keeps that file, and the next Get continues it. If the resumed file then has
// the wrong digest, Get fetches it once more from the start. It creates the
// folder of dest if needed.
//
// Errors: *UnreachableError, *StatusError, *PageError, *SizeError,
// *TruncatedError, *DigestError, *SpaceError, ErrStalled, ErrBusy, ErrRedirect,
// and those of the file system and network.
func (c *Client) Get(ctx context.Context, f File, dest string) (err error) {
	if !ValidDigest(f.SHA256) {
		return fmt.Errorf("%s: %w", Redacted(f.From), ErrNoDigest)
	}
	if err := os.MkdirAll(filepath.Dir(dest), 0o755); err != nil {
		return fmt.Errorf("make the folder: %w", err)
	}
	p, err := openPart(ctx, dest+".part")
	if err != nil {
		return err
	}
	defer func() { err = errors.Join(err, p.close()) }()
	if err := c.fill(ctx, f, p); err != nil {
		return err
	}
	return p.publish(dest)
}

// fill completes the part and checks it. It starts again once if resumed
// content turns out to be wrong.
func (c *Client) fill(ctx context.Context, f File, p *part) error {
	resumed := p.size > 0
	err := c.transfer(ctx, f, p)
	wrong := errors.Is(err, errRange)
	if err == nil {
		err = p.check(f)
		wrong = contentIsWrong(err)
	}
	if err == nil || !resumed || !wrong {
		return err // the source has another file; the part may still be right
	}
	if err := p.reset(); err != nil {
		return err
	}
	if err := c.transfer(ctx, f, p); err != nil {
		return err
	}
	return p.check(f)
}

// transfer fetches the missing bytes. It resumes an interrupted download as
// long as each try makes progress.
func (c *Client) transfer(ctx context.Context, f File, p *part) error {
	for reached := p.size; ; reached = p.size {
		err := c.try(ctx, f, p)
		if err == nil || !isInterruption(err) || p.size <= reached {
			return err
		}
	}
}

// try tries once to fetch the missing bytes.
func (c *Client) try(ctx context.Context, f File, p *part) error {
	if path, ok := LocalPath(f.From); ok {
		return c.copyLocal(ctx, f, path, p)
	}
	if f.Size > 0 && p.size >= f.Size {
		return nil // check shows whether they are right
	}
	return c.download(ctx, f, p)
}

func (c *Client) copyLocal(ctx context.Context, f File, path string, p *part) error {
	in, err := infile.Open(path)
	if err != nil {
		return err
	}
	defer in.Close()
	info, err := in.Stat()
	if err != nil {
		return err
	}
	if f.Size > 0 && info.Size() != f.Size {
		return &SizeError{From: path, Got: info.Size(), Want: f.Size}
	}
	if err := p.reset(); err != nil {
		return err
	}
	if err := enoughSpace(filepath.Dir(p.path), info.Size()); err != nil {
		return err
	}
	if err := c.copyBody(ctx, f.From, in, p, info.Size()); err != nil {
		return errors.Join(err, p.reset()) // a copy is not resumed
	}
	return nil
}

// copyBody appends in to the part up to total bytes, and refuses more. A total of 0
// is unknown.
func (c *Client) copyBody(ctx context.Context, from string, in io.Reader, p *part, total int64) error {
	limit := total
	if total == 0 {
		limit = maxUnknownSize
	}
	buf := make([]byte, 256<<10)
	for {
		if err := ctx.Err(); err != nil {
			return context.Cause(ctx)
		}
		n, err := in.Read(buf)
		if int64(n) > limit-p.size {
			return errors.Join(&SizeError{From: Redacted(from), Got: p.size + int64(n), Want: limit}, p.reset())
		}
		if werr := p.append(buf[:n]); werr != nil {
			return fmt.Errorf("write %s: %w", p.path, werr)
		}
		if c.Progress != nil {
			c.Progress(p.size, total)
		}
		switch {
		case err == io.EOF && total > 0 && p.size < total:
			return &TruncatedError{From: Redacted(from), Got: p.size, Want: total}
		case err == io.EOF:
			return nil
		case err != nil && errors.Is(context.Cause(ctx), ErrStalled):
			return fmt.Errorf("%s: %w", Redacted(from), ErrStalled)
		case err != nil && ctx.Err() != nil:
			return context.Cause(ctx)
		case err != nil:
			return &TruncatedError{From: Redacted(from), Got: p.size, Want: total, Err: err}
		}
	}
}
