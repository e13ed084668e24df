package blob

import (
	"context"
	"crypto/sha256"
	"encoding/hex"
	"errors"
	"fmt"
	"hash"
	"io"
	"io/fs"
	"os"
	"sync"

	"gocloud.dev/blob"
)

// A part of a multipart upload, and how many are on their way: both bound the
// memory of a write to S3.
const (
	partSize = 5 << 20
	parts    = 2
)

// copySize is the buffer between a stream and storage.
const copySize = 64 << 10

// writeHooks has a storage's steps around one write.
type writeHooks interface {
	// options are for gocloud.dev's writer.
	options() *blob.WriterOptions
	// copy receives the written bytes, and may be nil.
	copy() io.Writer
	// flush makes the written bytes durable before the object becomes visible.
	flush() error
	// finish makes durable that it is seen, and returns a path to read it at.
	finish() (path string, release func(), err error)
	// discard follows a write that failed.
	discard()
}

// Upload is an object that was received. Its content can be read at Path until
// Release.
type Upload struct {
	Object
	Key     string
	Path    string
	release func()
}

// Release ends the use of Path. The object stays. It may be called again.
func (u *Upload) Release() { u.release() }

// Receive stores the content of r under key and hashes it. Its memory does not
// depend on the size. More than limit bytes are ErrTooLarge. An error of r is
// returned wrapped. An error of the storage is an *Error, also if there is no
// space for a temporary copy. After any error nothing is left.
func (s *Store) Receive(ctx context.Context, key string, r io.Reader, limit int64) (*Upload, error) {
	in := &hashReader{r: r, left: limit, hash: sha256.New()}
	w := s.backend.writer(key)
	if err := s.write(ctx, key, in, w); err != nil {
		w.discard()
		if in.err != nil {
			return nil, fmt.Errorf("receive: %w", in.err)
		}
		return nil, writeError(key, err)
	}
	path, release, err := w.finish()
	if err != nil {
		w.discard()
		return nil, errors.Join(writeError(key, err), s.Delete(context.WithoutCancel(ctx), key))
	}
	return &Upload{Object: in.object(), Key: key, Path: path, release: sync.OnceFunc(release)}, nil
}

// writeError is the *Error of a write, also where the bucket or a folder is not found: an object
// that is written cannot be missing.
func writeError(key string, err error) error { return &Error{Op: "write", Key: key, Err: err} }

// write moves the stream into the object, which becomes visible if there is no
// error.
func (s *Store) write(ctx context.Context, key string, in *hashReader, w writeHooks) (err error) {
	ctx, cancel := context.WithCancel(ctx)
	defer cancel()
	object, err := s.bucket.NewWriter(ctx, key, w.options())
	if errors.Is(err, fs.ErrNotExist) { // its folder was removed as an empty one
		object, err = s.bucket.NewWriter(ctx, key, w.options())
	}
	if err != nil {
		return err
	}
	var to io.Writer = object
	if c := w.copy(); c != nil {
		to = io.MultiWriter(object, c)
	}
	// Only Write: other methods would hide which side failed.
	_, err = io.CopyBuffer(struct{ io.Writer }{to}, in, make([]byte, copySize))
	if err == nil {
		err = w.flush()
	}
	if err != nil {
		cancel() // before Close, so that nothing is seen
		_ = object.Close()
		return err
	}
	return object.Close()
}

// PutFile stores the file at path under key. The file stays the caller's.
func (s *Store) PutFile(ctx context.Context, key, path string) (Object, error) {
	f, err := os.Open(path)
	if err != nil {
		return Object{}, fmt.Errorf("store a file: %w", err)
	}
	defer f.Close()
	in := &hashReader{r: f, left: 1 << 62, hash: sha256.New()}
	w := withoutCopy{s.backend.writer(key)}
	if err := s.write(ctx, key, in, w); err != nil {
		w.discard()
		if in.err != nil {
			return Object{}, fmt.Errorf("store a file: %w", in.err)
		}
		return Object{}, writeError(key, err)
	}
	_, release, err := w.finish()
	if err != nil {
		w.discard()
		return Object{}, errors.Join(writeError(key, err), s.Delete(context.WithoutCancel(ctx), key))
	}
	release()
	return in.object(), nil
}

// withoutCopy is a writing with its content already in a file.
type withoutCopy struct{ writeHooks }

func (withoutCopy) copy() io.Writer { return nil }

// hashReader counts and hashes a stream and remembers its error.
type hashReader struct {
	r    io.Reader
	left int64
	size int64
	hash hash.Hash
	err  error
}

func (in *hashReader) Read(p []byte) (int, error) {
	if int64(len(p)) > in.left+1 {
		p = p[:in.left+1] // one more, to see that there is more
	}
	n, err := in.r.Read(p)
	if int64(n) > in.left {
		n, err = int(in.left), ErrTooLarge
	}
	in.left -= int64(n)
	in.size += int64(n)
	_, _ = in.hash.Write(p[:n]) // it never fails
	if err != nil && !errors.Is(err, io.EOF) {
		in.err = err
	}
	return n, err
}

func (in *hashReader) object() Object {
	return Object{Size: in.size, SHA256: hex.EncodeToString(in.hash.Sum(nil))}
}
