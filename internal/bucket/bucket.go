// Package bucket reads and writes files that lie in object storage: on S3, on Azure Blob
// Storage and, in builds with the tag gs, on Google Cloud Storage. Errors are
// *bgremove.Error and name the object.
package bucket

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"io"
	"iter"
	"os"
	"path"
	"slices"
	"strings"
	"time"

	"github.com/aws/aws-sdk-go-v2/service/s3"
	"gocloud.dev/blob"
	_ "gocloud.dev/blob/azureblob" // for azblob:
	_ "gocloud.dev/blob/s3blob"    // for s3:
	"gocloud.dev/gcerrors"

	"github.com/bgremove/bgremove/pkg/bgremove"
)

// schemes begin the addresses that Open knows.
var schemes = append([]string{"s3", "azblob"}, built...)

// IsAddress reports whether an argument is an address and not a path of this
// machine. Open refuses those that it does not know.
func IsAddress(arg string) bool {
	scheme, _, found := strings.Cut(arg, "://")
	return found && scheme != "" && !strings.ContainsAny(scheme, `/\. `)
}

// LocalPath is an argument as a path of this machine, where it is one: file:///PATH
// is PATH. Other arguments stay as they are.
func LocalPath(arg string) string {
	rest, found := strings.CutPrefix(arg, "file://")
	switch {
	case !found || !strings.HasPrefix(rest, "/"):
		return arg
	case len(rest) > 2 && rest[2] == ':':
		return rest[1:] // file:///C:/…
	}
	return rest
}

// Folder is where the names of some objects begin. It is safe for concurrent use.
type Folder struct {
	bucket  *blob.Bucket
	top     string // SCHEME://BUCKET/
	prefix  string // of the objects' keys; it ends in a slash, or is empty
	options string // of the address, after its question mark
}

// Open opens the folder with an address: SCHEME://BUCKET/FOLDER?OPTIONS. The options
// are those of gocloud.dev, the credentials come from the environment. The bucket is
// not asked yet.
func Open(ctx context.Context, address string) (*Folder, error) {
	place, options, _ := strings.Cut(address, "?")
	scheme, rest, _ := strings.Cut(place, "://")
	name, key, _ := strings.Cut(rest, "/")
	f := &Folder{top: scheme + "://" + name + "/", options: options}
	if key = strings.Trim(key, "/"); key != "" {
		f.prefix = key + "/"
	}
	switch {
	case !slices.Contains(schemes, scheme):
		return nil, &bgremove.Error{Kind: bgremove.Invalid, Cause: UnknownScheme, Path: place, Reason: "not an address of a storage that bgremove knows", Name: scheme}
	case name == "":
		return nil, &bgremove.Error{Kind: bgremove.Invalid, Cause: BadAddress, Path: place, Reason: "names no bucket"}
	case slices.ContainsFunc(strings.Split(options, "&"), func(o string) bool { return strings.HasPrefix(o, "prefix=") }):
		return nil, &bgremove.Error{Kind: bgremove.Invalid, Cause: BadAddress, Path: place, Reason: "has the option prefix; its place is after the bucket's name"}
	}
	b, err := blob.OpenBucket(ctx, scheme+"://"+name+"?"+options)
	if err != nil {
		return nil, &bgremove.Error{Kind: bgremove.Invalid, Cause: BadAddress, Path: place, Reason: "cannot be opened: " + oneLine(err), Err: err}
	}
	f.bucket = b
	return f, nil
}

// Close ends all use. A nil Folder has none.
func (f *Folder) Close() error {
	if f == nil {
		return nil
	}
	return f.bucket.Close()
}

// Address is that of the folder, without options. It ends in a slash.
func (f *Folder) Address() string { return f.top + f.prefix }

// Parent is the folder around this one, and the name of this one in it, as if it were
// an object. The name is empty for a whole bucket. Only one of both is to be closed.
func (f *Folder) Parent() (parent *Folder, name string) {
	above := *f
	above.prefix, name = path.Split(strings.TrimSuffix(f.prefix, "/"))
	return &above, name
}

// Contains reports whether another folder lies below this one.
func (f *Folder) Contains(other *Folder) bool {
	return f.options == other.options && f.Address() != other.Address() && strings.HasPrefix(other.Address(), f.Address())
}

// Check reports a bucket that does not exist or cannot be asked.
func (f *Folder) Check(ctx context.Context) error {
	ok, err := f.bucket.IsAccessible(ctx)
	if err == nil && !ok {
		return f.missing()
	}
	return explain(f.Address(), Refused, err)
}

// List returns the names of objects below the folder, in the order of their keys; those
// below further folders only if it is recursive.
func (f *Folder) List(ctx context.Context, recursive bool) iter.Seq2[string, error] {
	options := &blob.ListOptions{Prefix: f.prefix, Delimiter: "/"}
	if recursive {
		options.Delimiter = ""
	}
	return func(yield func(string, error) bool) {
		for objects := f.bucket.List(options); ; {
			o, err := objects.Next(ctx)
			switch {
			case errors.Is(err, io.EOF):
				return
			case gcerrors.Code(err) == gcerrors.NotFound:
				yield("", f.missing())
				return
			case err != nil:
				yield("", explain(f.Address(), Refused, err))
				return
			case !o.IsDir && !yield(strings.TrimPrefix(o.Key, f.prefix), nil):
				return
			}
		}
	}
}

// Modified is when an object was written, zero if there is none.
func (f *Folder) Modified(ctx context.Context, name string) (time.Time, error) {
	a, err := f.bucket.Attributes(ctx, f.prefix+name)
	switch {
	case gcerrors.Code(err) == gcerrors.NotFound:
		return time.Time{}, nil
	case err != nil:
		return time.Time{}, explain(f.Address()+name, Refused, err)
	}
	return a.ModTime, nil
}

// Download writes an object into a new file.
func (f *Folder) Download(ctx context.Context, name, path string) (err error) {
	file, err := os.OpenFile(path, os.O_WRONLY|os.O_CREATE|os.O_EXCL, 0o600)
	if err == nil {
		err = errors.Join(f.bucket.Download(ctx, f.prefix+name, file, &blob.ReaderOptions{BeforeRead: quiet}), file.Close())
	}
	if gcerrors.Code(err) == gcerrors.NotFound {
		return &bgremove.Error{Kind: bgremove.NotFound, Path: f.Address() + name, Reason: "no such object", Err: err}
	}
	return explain(f.Address()+name, Refused, err)
}

// quiet keeps the SDK of S3 from printing a line for each object without a checksum.
func quiet(as func(any) bool) error {
	var options *[]func(*s3.Options)
	if as(&options) {
		*options = append(*options, func(o *s3.Options) { o.DisableLogOutputChecksumValidationSkipped = true })
	}
	return nil
}

// Upload makes an object of a file. It is there whole or not at all. Without overwrite,
// an object that exists is an error of kind bgremove.Exists.
func (f *Folder) Upload(ctx context.Context, name, path string, overwrite bool) error {
	file, err := os.Open(path)
	if err != nil {
		return explain(f.Address()+name, WriteRefused, err)
	}
	defer file.Close()
	return f.put(ctx, name, file, overwrite)
}

// Read is the content of a small object; nil if there is none.
func (f *Folder) Read(ctx context.Context, name string) ([]byte, error) {
	r, err := f.bucket.NewReader(ctx, f.prefix+name, &blob.ReaderOptions{BeforeRead: quiet})
	if gcerrors.Code(err) == gcerrors.NotFound {
		return nil, nil
	}
	if err != nil {
		return nil, explain(f.Address()+name, Refused, err)
	}
	defer r.Close()
	text, err := io.ReadAll(r)
	return text, explain(f.Address()+name, Refused, err)
}

// Write stores a small object, in place of one that exists.
func (f *Folder) Write(ctx context.Context, name string, content []byte) error {
	return f.put(ctx, name, bytes.NewReader(content), true)
}

// put stores what r has to its end.
func (f *Folder) put(ctx context.Context, name string, r io.Reader, overwrite bool) error {
	err := f.bucket.Upload(ctx, f.prefix+name, r, &blob.WriterOptions{ContentType: mediaType(name), IfNotExist: !overwrite})
	if gcerrors.Code(err) == gcerrors.FailedPrecondition {
		return &bgremove.Error{Kind: bgremove.Exists, Path: f.Address() + name, Reason: "already exists", Err: err}
	}
	return explain(f.Address()+name, WriteRefused, err)
}

// mediaType is the Content-Type of an output.
func mediaType(name string) string {
	format, ok := bgremove.FormatOf(name)
	switch {
	case ok:
		return format.MediaType()
	case path.Ext(name) == ".json":
		return "application/json"
	}
	return "application/octet-stream"
}

func (f *Folder) missing() error {
	return &bgremove.Error{Kind: bgremove.NotFound, Cause: NoBucket, Path: f.top, Reason: fmt.Sprintf("there is no bucket %s", path.Base(f.top))}
}
