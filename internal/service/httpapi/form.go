package httpapi

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"io"
	"iter"
	"mime/multipart"
	"os"

	"github.com/bgremove/bgremove/internal/service/blob"
	"github.com/bgremove/bgremove/internal/service/job"
	"github.com/bgremove/bgremove/internal/service/outbound"
	"github.com/bgremove/bgremove/internal/spell"
	"github.com/bgremove/bgremove/pkg/option"
)

// Bounds of a form.
const (
	// MaxFiles is how many files a batch may have.
	MaxFiles  = 20
	maxParts  = 100
	maxOption = 1000 // bytes of an option's value, but of hints and addresses
	// maxPartHeader bounds the header of a part, in bytes: the standard reader
	// would accept 10 MB. It also covers bytes of the part read together with
	// it.
	maxPartHeader = 8 << 10
	readAhead     = 4 << 10
)

// Fields of a submission that are no options.
const (
	fileField    = "file"
	fileURLField = "fileUrl" // in the place of a file
	webhookField = "webhookUrl"
)

// fieldNames are those that a form may have beside its files.
var fieldNames = append(job.OptionNames(), fileURLField, webhookField)

// upload is a file of a form that lies in the blob store, or is yet to be fetched.
type upload struct {
	*blob.Upload // nil until it is fetched
	name         string
	url          string // where it is fetched from; empty if the form brought it
	counted      *metered
}

// form is a submission while it is read. Files go to the blob store as they
// arrive. After an error they are only counted, because a file that is too
// large is refused before a wrong option, in whatever order they come.
type form struct {
	blobs    *blob.Store
	quota    *uploadQuota
	body     *body
	account  string
	maxFile  int64
	maxFiles int
	keep     bool // store files; false where the answer is known to be a refusal
	blanks   bool // an empty option counts as missing, because pages send empty fields

	options job.Options
	webhook string // the submission's webhookUrl
	given   map[string]bool
	files   int
	uploads []upload // to be dropped
	refused error    // the first thing that is wrong with the form, which comes before its options
	wrong   error    // the first option that is wrong
}

// newForm expects one file, or up to the given number; 0 expects only options.
func (a *API) newForm(r *request, files int, keep bool) *form {
	return &form{blobs: a.Blobs, quota: a.uploads, body: r.body, account: r.owner.AccountID, blanks: r.owner.KeyID == "", maxFile: a.MaxFile, maxFiles: files, keep: keep, options: job.DefaultOptions(), given: map[string]bool{}}
}

// read reads the form from its body. drop removes the stored files.
func (f *form) read(ctx context.Context, r *multipart.Reader) error {
	for n := 0; ; n++ {
		p, err := f.next(r)
		if errors.Is(err, io.EOF) {
			break
		}
		if err != nil {
			return broken(err)
		}
		if n == maxParts {
			return &formError{reason: fmt.Sprintf("the form has more than %d fields", maxParts)}
		}
		switch name := p.FormName(); name {
		case fileField:
			err = f.file(ctx, p)
		case fileURLField:
			err = f.fileURL(p)
		default:
			err = f.field(name, p)
		}
		if err != nil {
			return err
		}
		if _, err := io.Copy(io.Discard, p); err != nil { // the rest of a value that is too long
			return broken(err)
		}
	}
	if err := f.refusal(); err != nil || f.files > 0 || f.maxFiles == 0 {
		return err
	}
	return &formError{field: fileField, reason: "is missing"}
}

// refusal is what is wrong, the form itself first.
func (f *form) refusal() error {
	if f.refused != nil {
		return f.refused
	}
	return f.wrong
}

// next is the next part, with a bounded header. The previous part has been
// read.
func (f *form) next(r *multipart.Reader) (*multipart.Part, error) {
	f.body.allow(maxPartHeader + readAhead)
	defer f.body.allow(-1)
	p, err := r.NextPart()
	if err != nil && f.body.allowed == 0 {
		err = errAllowance // or the error of a truncated header
	}
	return p, err
}

func (f *form) refuse(field, reason string) {
	if f.refused == nil {
		f.refused = &formError{field: field, reason: reason}
	}
}

// FlagNames are the command line's names of options that have another one here.
var FlagNames = map[string]string{"format": "outputFormat", "bg": "bgColor"}

// field takes an option, or ignores a field that is none unless its name is
// nearly an option's, or its name on the command line: nobody shall pay for a typo.
func (f *form) field(name string, r io.Reader) error {
	most := maxOption
	switch name {
	case "hints":
		most = option.HintBytes
	case webhookField:
		most = outbound.MaxURL
	}
	value, err := io.ReadAll(io.LimitReader(r, int64(most)+1))
	if err != nil {
		return broken(err)
	}
	if f.blanks && len(value) == 0 {
		return nil
	}
	known, err := f.set(name, string(value))
	if meant := cmp.Or(FlagNames[name], spell.Meant(name, fieldNames)); !known && meant != "" {
		err = &formError{field: name, meant: meant}
	}
	switch {
	case !known && err == nil:
	case f.given[name]:
		f.refuse(name, "is given twice")
	case known && len(value) > most:
		f.refuse(name, fmt.Sprintf("is longer than %d bytes", most))
	case err != nil && f.wrong == nil:
		f.wrong = err
	}
	if known {
		f.given[name] = true
	}
	return nil
}

// set gives an option or the webhook its value.
func (f *form) set(name, value string) (known bool, err error) {
	if name == webhookField {
		f.webhook = value
		return true, nil
	}
	return f.options.Set(name, value)
}

// file takes a file. The error is one that ends the reading.
func (f *form) file(ctx context.Context, p *multipart.Part) error {
	name := cleanName(p.FileName())
	f.countFile(fileField)
	switch {
	case name == "":
		f.refuse(fileField, "must be a file with a name")
	case !option.IsUpload(name):
		f.refuse(fileField, mustBeNamed)
	}
	if f.refusal() != nil || !f.keep {
		return f.count(p)
	}
	u, err := f.store(ctx, p)
	if isType[*readError](err) {
		return broken(err)
	}
	if err == nil {
		u.name = name
		f.uploads = append(f.uploads, u)
	}
	return err
}

// mustBeNamed is what is wrong with the name of a file that the service does not take.
var mustBeNamed = "must be named " + option.List(option.UploadExtensions(), "or")

// countFile counts a file, which one of two fields gives.
func (f *form) countFile(field string) {
	f.files++
	switch {
	case f.maxFiles == 0:
		f.refuse(field, "is kept already; send only options")
	case f.files > f.maxFiles && f.maxFiles == 1:
		f.refuse(field, "is given twice")
	case f.files > f.maxFiles:
		f.refuse(field, fmt.Sprintf("is given more than %d times", f.maxFiles))
	}
}

// fileURL takes the address of a file, which is fetched once the form is checked.
func (f *form) fileURL(r io.Reader) error {
	value, err := io.ReadAll(io.LimitReader(r, outbound.MaxURL+1))
	if err != nil {
		return broken(err)
	}
	if f.blanks && len(value) == 0 {
		return nil
	}
	f.countFile(fileURLField)
	if f.refusal() == nil {
		f.uploads = append(f.uploads, upload{url: string(value)})
	}
	return nil
}

// readError is an error of the reader of a file.
type readError struct{ error }

func (e *readError) Unwrap() error { return e.error }

// store stores a file and counts its bytes. The error is a *readError, of a limit, or of
// the storage.
func (f *form) store(ctx context.Context, r io.Reader) (upload, error) {
	counted := &metered{r: r, quota: f.quota, accountID: f.account}
	stored, err := f.blobs.Receive(ctx, job.InputKey(), counted, f.maxFile)
	if err == nil {
		return upload{Upload: stored, counted: counted}, nil
	}
	counted.release()
	switch {
	case counted.err != nil:
		return upload{}, counted.err
	case isType[*blob.Error](err) || errors.Is(err, blob.ErrTooLarge):
		return upload{}, err
	}
	return upload{}, &readError{err}
}

// count reads a file that is not wanted any more.
func (f *form) count(r io.Reader) error {
	n, err := io.Copy(io.Discard, io.LimitReader(r, f.maxFile+1))
	if err != nil {
		return broken(err)
	}
	if n > f.maxFile {
		return errTooLarge
	}
	return nil
}

// release ends the use of the files at their paths.
func (f *form) release() {
	for u := range f.stored() {
		u.Release()
	}
}

// stored are the files that lie in the blob store.
func (f *form) stored() iter.Seq[upload] {
	return func(yield func(upload) bool) {
		for _, u := range f.uploads {
			if u.Upload != nil && !yield(u) {
				return
			}
		}
	}
}

// drop removes the stored files. The sweeper removes any that remain.
func (f *form) drop(ctx context.Context) {
	f.release()
	ctx = context.WithoutCancel(ctx)
	for u := range f.stored() {
		_ = f.blobs.Delete(ctx, u.Key)
		u.counted.release()
	}
}

// handOver hands the stored files to the form's jobs, or to the sweeper.
func (f *form) handOver() {
	for u := range f.stored() {
		u.counted.release()
	}
	f.uploads = nil
}

// broken is a body that cannot be read to its end.
func broken(err error) error {
	if errors.Is(err, errAllowance) {
		return &formError{reason: fmt.Sprintf("the header of a part has more than %d bytes", maxPartHeader), err: err}
	}
	if errors.Is(err, os.ErrDeadlineExceeded) {
		return &formError{reason: "the body came too slowly", err: err}
	}
	return &formError{reason: "the body is no complete multipart form", err: err}
}
