// Package blob keeps objects: uploads, outputs and previews, as files or on
// S3, under keys such as inputs/ID. An object is complete and durable once it
// can be seen, and never changes.
package blob

import (
	"context"
	"errors"
	"io"
	"iter"
	"time"

	"gocloud.dev/blob"
	_ "gocloud.dev/blob/fileblob" // file:
	_ "gocloud.dev/blob/s3blob"   // s3:
)

// What callers only compare.
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

// Object is what is known of content that was stored.
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
	// TempSpace bounds it, in bytes; 0 is 4 × 10^9.
	TempSpace int64
}

// Store is a place for objects. It is safe for concurrent use.
type Store struct {
	bucket *blob.Bucket
}

// Open opens the store at url: file:///PATH, a folder that is made if it does
// not exist, or s3://BUCKET?region=…&endpoint=… with the credentials of AWS_*
// in the environment.
func Open(ctx context.Context, url string, o Options) (*Store, error) {
	return nil, errors.ErrUnsupported
}

// Close ends all use.
func (s *Store) Close() error { return errors.ErrUnsupported }

// Ping reports whether the store answers.
func (s *Store) Ping(ctx context.Context) error { return errors.ErrUnsupported }

// Upload is an object that was received. Its content can be read at Path until
// Release.
type Upload struct {
	Object
	Key  string
	Path string
}

// Release ends the use of Path. The object stays. It may be called again.
func (u *Upload) Release() {}

// Receive stores what r gives under key, hashing it on the way, in memory that
// does not depend on its size. More than limit bytes are ErrTooLarge; an error
// of r is returned as it is, wrapped; one of the storage is an *Error, also
// where there is no room for a temporary copy. After any error nothing is left.
func (s *Store) Receive(ctx context.Context, key string, r io.Reader, limit int64) (*Upload, error) {
	return nil, errors.ErrUnsupported
}

// PutFile stores the file at path under key. The file stays the caller's.
func (s *Store) PutFile(ctx context.Context, key, path string) (Object, error) {
	return Object{}, errors.ErrUnsupported
}

// Local is a path at which programs can read an object until release is
// called: the object itself, or a copy in the temporary folder, for whose room
// it waits. The error is ErrNotFound or an *Error.
func (s *Store) Local(ctx context.Context, key string) (path string, release func(), err error) {
	return "", nil, errors.ErrUnsupported
}

// Open reads length bytes of an object from offset on, all that follow if
// length is negative. The error is ErrNotFound or an *Error.
func (s *Store) Open(ctx context.Context, key string, offset, length int64) (io.ReadCloser, error) {
	return nil, errors.ErrUnsupported
}

// Stat is what is known of an object; the error is ErrNotFound or an *Error.
func (s *Store) Stat(ctx context.Context, key string) (Info, error) {
	return Info{}, errors.ErrUnsupported
}

// Delete removes an object, if it is there.
func (s *Store) Delete(ctx context.Context, key string) error { return errors.ErrUnsupported }

// List is every object whose key begins with prefix, by their keys. It ends
// after an error.
func (s *Store) List(ctx context.Context, prefix string) iter.Seq2[Info, error] {
	return func(func(Info, error) bool) {}
}

// Sweep removes what broken writes have left since before the time before:
// temporary files, unfinished multipart uploads. It returns their number.
func (s *Store) Sweep(ctx context.Context, before time.Time) (int, error) {
	return 0, errors.ErrUnsupported
}
