// Package blob keeps objects: uploads, outputs and previews, as files or on
// S3, under keys such as inputs/ID. An object is complete and durable once it
// can be seen, and never changes.
package blob

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"io"
	"iter"
	neturl "net/url"
	"strings"
	"time"

	"gocloud.dev/blob"
	"gocloud.dev/gcerrors"

	"github.com/bgremove/bgremove/internal/system/disk"
)

// Errors without further facts.
var (
	// ErrNotFound is a key without an object.
	ErrNotFound = errors.New("no such object")
	// ErrTooLarge is a stream longer than its limit.
	ErrTooLarge = errors.New("larger than the limit")
)

// Error is storage that failed: it is down, full or forbidden. The same call
// may succeed later. A stream that breaks off while it is received is not such
// an error.
type Error struct {
	Op, Key string
	Err     error
}

func (e *Error) Error() string { return "storage: " + e.Op + " " + e.Key + ": " + e.Err.Error() }

func (e *Error) Unwrap() error { return e.Err }

// Object describes stored content.
type Object struct {
	Size   int64
	SHA256 string // in hex
}

// Info is what storage says of an object.
type Info struct {
	Key     string
	Size    int64
	ModTime time.Time // by the storage's clock
}

// Options say how to keep objects. The zero value is ready to use.
type Options struct {
	// TempDir is where objects on S3 lie while programs read them; empty is a
	// folder of this process in the system's. Files are read where they are.
	TempDir string
	// TempSpace bounds it, in bytes; 0 is that of DefaultOptions.
	TempSpace int64
	// Reserve is how many bytes must stay free on the disk, of the folder or of
	// TempDir; 0 is none.
	Reserve int64
}

// DefaultOptions are those of a service.
func DefaultOptions() Options { return Options{TempSpace: 4e9, Reserve: 1e9} }

// tempExt ends the names of files that are being written, as gocloud.dev names
// them; no key ends so.
const tempExt = ".tmp"

// Store is a place for objects. It is safe for concurrent use.
type Store struct {
	bucket  *blob.Bucket
	backend backend
	reserve int64
}

// backend is what differs between files and S3 beyond gocloud.dev.
type backend interface {
	// writer prepares what must happen around a write.
	writer(key string) writeHooks
	// local is a path to read an object at. It may wait for space.
	local(ctx context.Context, s *Store, key string, wait bool) (path string, release func(), err error)
	// afterDelete follows the removal of an object.
	afterDelete(key string)
	// list is Store.List.
	list(ctx context.Context, s *Store, prefix string) iter.Seq2[Info, error]
	// disk is a path on the disk that writes land on first.
	disk() string
	// sweep removes what broken writes have left since before a time.
	sweep(ctx context.Context, before time.Time) (int, error)
	close() error
}

// Open opens the store at url: file:///PATH, a folder that is made if it does
// not exist, or s3://BUCKET?region=…&endpoint=… with the credentials of AWS_*
// in the environment.
func Open(ctx context.Context, url string, o Options) (*Store, error) {
	o.TempSpace = cmp.Or(o.TempSpace, DefaultOptions().TempSpace)
	u, err := neturl.Parse(url)
	if err != nil {
		return nil, fmt.Errorf("storage: %w", err)
	}
	var s *Store
	switch u.Scheme {
	case "file":
		s, err = openFiles(u)
	case "s3":
		s, err = openS3(ctx, u, o)
	default:
		err = fmt.Errorf("storage: %q is not file:///PATH or s3://BUCKET", u.Redacted())
	}
	if err != nil {
		return nil, err
	}
	s.reserve = o.Reserve
	return s, nil
}

// Free is how many bytes may still be written to the disk: to that of the folder
// or, with S3, of the temporary copies.
func (s *Store) Free() (int64, error) {
	n, err := disk.Free(s.backend.disk())
	return n, wrap("free space", "", err)
}

// Room reports, as an *Error, a disk on which less than the reserve is free.
func (s *Store) Room() error {
	if s.reserve == 0 {
		return nil
	}
	n, err := s.Free()
	if err == nil && n < s.reserve {
		err = &Error{Op: "write", Err: fmt.Errorf("%d bytes are free, and %d must stay free", n, s.reserve)}
	}
	return err
}

// Close ends all use.
func (s *Store) Close() error { return errors.Join(s.bucket.Close(), s.backend.close()) }

// Ping reports whether the store answers.
func (s *Store) Ping(ctx context.Context) error {
	ok, err := s.bucket.IsAccessible(ctx)
	if err == nil && !ok {
		err = errors.New("the bucket or folder does not exist")
	}
	return wrap("ping", "", err)
}

// Local is a path where programs can read an object until release is called:
// the object itself, or a copy in the temporary folder. It waits for space for
// a copy. The error is ErrNotFound or an *Error.
func (s *Store) Local(ctx context.Context, key string) (path string, release func(), err error) {
	return s.backend.local(ctx, s, key, true)
}

// LocalNow is Local for those that have a copy already: if they waited for space, they could wait
// for each other for ever. Without space the error is an *Error that is ErrNoTempSpace.
func (s *Store) LocalNow(ctx context.Context, key string) (path string, release func(), err error) {
	return s.backend.local(ctx, s, key, false)
}

// Open reads length bytes of an object from offset on, all that follow if
// length is negative. The error is ErrNotFound or an *Error.
func (s *Store) Open(ctx context.Context, key string, offset, length int64) (io.ReadCloser, error) {
	r, err := s.bucket.NewRangeReader(ctx, key, offset, length, nil)
	if err != nil {
		return nil, wrap("open", key, err)
	}
	return r, nil
}

// Stat describes an object; the error is ErrNotFound or an *Error.
func (s *Store) Stat(ctx context.Context, key string) (Info, error) {
	a, err := s.bucket.Attributes(ctx, key)
	if err != nil {
		return Info{}, wrap("stat", key, err)
	}
	return Info{Key: key, Size: a.Size, ModTime: a.ModTime}, nil
}

// Delete removes an object, if it is there.
func (s *Store) Delete(ctx context.Context, key string) error {
	err := s.bucket.Delete(ctx, key)
	if err == nil || gcerrors.Code(err) == gcerrors.NotFound {
		s.backend.afterDelete(key)
		return nil
	}
	return wrap("delete", key, err)
}

// markLimit is the longest mark, in bytes.
const markLimit = 1000

// Mark is a short text that SetMark has left under a name, empty if none has.
func (s *Store) Mark(ctx context.Context, name string) (string, error) {
	r, err := s.Open(ctx, name, 0, markLimit)
	if errors.Is(err, ErrNotFound) {
		return "", nil
	}
	if err != nil {
		return "", err
	}
	defer r.Close()
	text, err := io.ReadAll(r)
	return string(text), wrap("read", name, err)
}

// SetMark stores a short text under a name and replaces an earlier one. A mark
// is the only kind of object that changes.
func (s *Store) SetMark(ctx context.Context, name, text string) error {
	u, err := s.Receive(ctx, name, strings.NewReader(text), markLimit)
	if err == nil {
		u.Release()
	}
	return err
}

// List returns every object with the key prefix; those of one folder by their
// names. Objects created or removed meanwhile may be missing. It ends after an
// error.
func (s *Store) List(ctx context.Context, prefix string) iter.Seq2[Info, error] {
	return s.backend.list(ctx, s, prefix)
}

// Sweep removes what broken writes have left since before the time before:
// temporary files, unfinished multipart uploads. It returns their number.
func (s *Store) Sweep(ctx context.Context, before time.Time) (int, error) {
	n, err := s.backend.sweep(ctx, before)
	return n, wrap("sweep", "", err)
}

// wrap is the Error of an operation, or ErrNotFound.
func wrap(op, key string, err error) error {
	switch {
	case err == nil:
		return nil
	case gcerrors.Code(err) == gcerrors.NotFound:
		return fmt.Errorf("storage: %s %s: %w", op, key, ErrNotFound)
	}
	return &Error{Op: op, Key: key, Err: err}
}
