package blob

import (
	"context"
	"errors"
	"fmt"
	"io"
	"iter"
	neturl "net/url"
	"os"
	"time"

	"github.com/aws/aws-sdk-go-v2/aws"
	"github.com/aws/aws-sdk-go-v2/service/s3"
	"github.com/aws/smithy-go"
	"gocloud.dev/blob"
	_ "gocloud.dev/blob/s3blob" // for s3:

	"github.com/bgremove/bgremove/internal/system/scratch"
)

// s3Backend is a bucket. Copies for programs lie in a folder of this process.
type s3Backend struct {
	client *s3.Client
	bucket string
	prefix string // of all keys
	dir    *scratch.Dir
	quota  *tempQuota // of the copies
}

func openS3(ctx context.Context, u *neturl.URL, o Options) (*Store, error) {
	bucket, err := blob.OpenBucket(ctx, u.String())
	if err != nil {
		return nil, fmt.Errorf("storage: %w", err)
	}
	dir, err := scratch.Open(o.TempDir)
	if err != nil {
		return nil, errors.Join(fmt.Errorf("storage: %w", err), bucket.Close())
	}
	p := &s3Backend{bucket: u.Host, prefix: u.Query().Get("prefix"), dir: dir, quota: newTempQuota(o.TempSpace)}
	if !bucket.As(&p.client) {
		return nil, errors.Join(errors.New("storage: s3blob does not show its client"), bucket.Close(), dir.Close())
	}
	return &Store{bucket: bucket, backend: p}, nil
}

func (p *s3Backend) writer(string) writeHooks { return &s3WriteHooks{s3Backend: p, spool: &spool{}} }

// local downloads an object.
func (p *s3Backend) local(ctx context.Context, s *Store, key string, wait bool) (_ string, _ func(), err error) {
	info, err := s.Stat(ctx, key)
	if err != nil {
		return "", nil, err
	}
	if wait {
		err = p.quota.wait(ctx, info.Size)
	} else {
		err = p.quota.acquire(info.Size)
	}
	if err != nil {
		return "", nil, wrap("copy", key, err)
	}
	c := &spool{backend: p, size: info.Size}
	defer func() {
		if err != nil {
			c.discard()
		}
	}()
	r, err := s.Open(ctx, key, 0, -1)
	if err != nil {
		return "", nil, err
	}
	defer r.Close()
	f, err := c.create()
	if err != nil {
		return "", nil, wrap("copy", key, err)
	}
	n, err := io.Copy(f, r)
	if err = errors.Join(err, f.Close()); err == nil && n != info.Size {
		err = io.ErrUnexpectedEOF
	}
	if err != nil {
		return "", nil, wrap("copy", key, err)
	}
	return f.Name(), c.discard, nil
}

func (p *s3Backend) afterDelete(string) {}

func (p *s3Backend) list(ctx context.Context, s *Store, prefix string) iter.Seq2[Info, error] {
	return func(yield func(Info, error) bool) {
		objects := s.bucket.List(&blob.ListOptions{Prefix: prefix})
		for {
			o, err := objects.Next(ctx)
			if errors.Is(err, io.EOF) {
				return
			}
			if err != nil {
				yield(Info{}, wrap("list", prefix, err))
				return
			}
			if !yield(Info{Key: o.Key, Size: o.Size, ModTime: o.ModTime}, nil) {
				return
			}
		}
	}
}

// sweep aborts abandoned multipart uploads.
func (p *s3Backend) sweep(ctx context.Context, before time.Time) (n int, err error) {
	pages := s3.NewListMultipartUploadsPaginator(p.client, &s3.ListMultipartUploadsInput{Bucket: &p.bucket, Prefix: &p.prefix})
	for pages.HasMorePages() {
		page, err := pages.NextPage(ctx)
		if isCode(err, "NoSuchUpload") {
			return n, nil // some servers say so where there is none
		}
		if err != nil {
			return n, err
		}
		for _, u := range page.Uploads {
			if !aws.ToTime(u.Initiated).Before(before) {
				continue
			}
			_, err := p.client.AbortMultipartUpload(ctx, &s3.AbortMultipartUploadInput{Bucket: &p.bucket, Key: u.Key, UploadId: u.UploadId})
			if isCode(err, "NoSuchUpload") {
				continue // another node was faster
			}
			if err != nil {
				return n, err
			}
			n++
		}
	}
	return n, nil
}

func isCode(err error, code string) bool {
	var e smithy.APIError
	return errors.As(err, &e) && e.ErrorCode() == code
}

func (p *s3Backend) disk() string { return p.dir.Path() }

func (p *s3Backend) close() error { return p.dir.Close() }

// s3WriteHooks keeps a local copy of the received bytes, for programs to read.
type s3WriteHooks struct {
	*s3Backend
	spool *spool
}

func (w *s3WriteHooks) options() *blob.WriterOptions {
	return &blob.WriterOptions{ContentType: "application/octet-stream", BufferSize: partSize, MaxConcurrency: parts}
}

func (w *s3WriteHooks) copy() io.Writer {
	w.spool.backend = w.s3Backend
	return w.spool
}

func (w *s3WriteHooks) flush() error { return w.spool.close() }

func (w *s3WriteHooks) finish() (string, func(), error) {
	return w.spool.name, w.spool.discard, nil
}

func (w *s3WriteHooks) discard() { w.spool.discard() }

// spool is a temporary copy. It takes room as it grows, and fails where there
// is none: uploads that waited for each other would wait for ever.
type spool struct {
	backend *s3Backend
	file    *os.File
	name    string
	size    int64 // of the room it takes
}

func (c *spool) create() (*os.File, error) {
	f, err := os.CreateTemp(c.backend.dir.Path(), "object-*")
	if err != nil {
		return nil, err
	}
	c.file, c.name = f, f.Name()
	return f, nil
}

func (c *spool) Write(p []byte) (int, error) {
	if c.file == nil {
		if _, err := c.create(); err != nil {
			return 0, err
		}
	}
	if err := c.backend.quota.acquire(int64(len(p))); err != nil {
		return 0, err
	}
	c.size += int64(len(p))
	return c.file.Write(p)
}

func (c *spool) close() error {
	if c.backend == nil {
		return nil // no copy is wanted
	}
	if c.file == nil { // the object is empty
		if _, err := c.create(); err != nil {
			return err
		}
	}
	return c.file.Close()
}

// discard removes the copy and gives its room back, once.
func (c *spool) discard() {
	if c.backend == nil {
		return
	}
	if c.file != nil {
		_ = c.file.Close() // it may be closed already
		_ = os.Remove(c.name)
	}
	c.backend.quota.release(c.size)
	c.backend, c.file, c.size = nil, nil, 0
}
