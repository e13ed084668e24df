package client

import (
	"bytes"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"mime/multipart"
	"strconv"
	"sync"
	"sync/atomic"
	"time"

	"github.com/bgremove/bgremove/pkg/api"
)

// JobOptions are the options of the API, which api.JobOptions describes, and settings
// of the submission. The zero value leaves every option to the service's defaults.
type JobOptions struct {
	Method           api.Method // empty is the default, as in all that follow
	Tolerance        int
	Crop             *bool // nil is the default
	Pad              *int  // in pixels; nil is the default
	CanvasW, CanvasH int   // in pixels; 0 is not given
	Anchor           api.Anchor
	OutputFormat     api.OutputFormat
	BgColor          string
	Trim             bool

	Background string // in the place of a BgColor: "#rrggbb", "blur[:radius]" or "gradient:#rrggbb,#rrggbb[,angle]"
	Outline    string // "#rrggbb,width"
	Shadow     string // "soft" or "x,y[,blur[,opacity]]"
	Harmonise  bool
	Hints      []api.Hint // what is wanted and what is not; none has a mask
	Largest    bool

	FPS        float64       // at most so many frames a second; 0 keeps all
	Start, End time.Duration // the part to keep; an End of 0 is the end of the clip
	Quality    int           // 0 is the format's default
	Loop       *int          // how often the output plays, 0 for ever; nil is as the input

	Model string // a network that the service offers; empty is its default

	// WebhookURL is told of the end of each job. The account needs a signing secret.
	WebhookURL string

	// IdempotencyKey names the submission: sent again within 24 hours, by
	// whomever, with the same files and options it is not charged again.
	// Empty is a random one.
	IdempotencyKey string
	// Progress, if set, gets the bytes sent and their total, which is -1 if
	// unknown. Another goroutine calls it. Each attempt starts at 0.
	Progress func(sent, total int64)
}

// fields are the options that are given, in the order of the specification.
func (o JobOptions) fields() ([][2]string, error) {
	var all [][2]string
	add := func(given bool, name, value string) {
		if given {
			all = append(all, [2]string{name, value})
		}
	}
	add(o.Method != "", "method", string(o.Method))
	add(o.Tolerance != 0, "tolerance", strconv.Itoa(o.Tolerance))
	add(o.Crop != nil, "crop", strconv.FormatBool(value(o.Crop)))
	add(o.Pad != nil, "pad", strconv.Itoa(value(o.Pad)))
	add(o.CanvasW != 0, "canvasW", strconv.Itoa(o.CanvasW))
	add(o.CanvasH != 0, "canvasH", strconv.Itoa(o.CanvasH))
	add(o.Anchor != "", "anchor", string(o.Anchor))
	add(o.OutputFormat != "", "outputFormat", string(o.OutputFormat))
	add(o.BgColor != "", "bgColor", o.BgColor)
	add(o.Trim, "trim", "true")
	add(o.Background != "", "background", o.Background)
	add(o.Outline != "", "outline", o.Outline)
	add(o.Shadow != "", "shadow", o.Shadow)
	add(o.Harmonise, "harmonise", "true")
	add(o.WebhookURL != "", "webhookUrl", o.WebhookURL)
	add(o.Largest, "largest", "true")
	add(o.FPS != 0, "fps", decimal(o.FPS))
	add(o.Start != 0, "start", decimal(o.Start.Seconds()))
	add(o.End != 0, "end", decimal(o.End.Seconds()))
	add(o.Quality != 0, "quality", strconv.Itoa(o.Quality))
	add(o.Loop != nil, "loop", strconv.Itoa(value(o.Loop)))
	add(o.Model != "", "model", o.Model)
	hints, err := json.Marshal(o.Hints)
	add(len(o.Hints) > 0, "hints", string(hints))
	return all, err
}

func decimal(v float64) string { return strconv.FormatFloat(v, 'f', -1, 64) }

// form is a submission's body, which is made while it is sent.
type form struct {
	contentType string
	heads       [][]byte // before each file, and after the last
	files       []*source
	length      int64 // -1 is not known
	progress    func(sent, total int64)
}

// newForm checks the files and writes the parts of the form around them.
func newForm(files []File, o JobOptions) (*form, error) {
	f := &form{progress: o.Progress}
	var b bytes.Buffer
	w := multipart.NewWriter(&b)
	f.contentType = w.FormDataContentType()
	fields, err := o.fields()
	if err != nil {
		return nil, fmt.Errorf("hints: %w", err)
	}
	for _, field := range fields {
		if err := w.WriteField(field[0], field[1]); err != nil {
			return nil, err
		}
	}
	for _, file := range files {
		if file.fetched() {
			if err := w.WriteField("fileUrl", file.URL); err != nil {
				return nil, err
			}
			continue
		}
		s, err := file.open()
		if err != nil {
			return nil, err
		}
		if _, err := w.CreateFormFile("file", s.name); err != nil {
			return nil, err
		}
		f.add(s, &b)
	}
	if err := w.Close(); err != nil {
		return nil, err
	}
	f.add(nil, &b)
	return f, nil
}

// add stores the form's text before a file, or after the last one.
func (f *form) add(s *source, written *bytes.Buffer) {
	head := bytes.Clone(written.Bytes())
	written.Reset()
	f.heads = append(f.heads, head)
	if f.length >= 0 {
		f.length += int64(len(head))
	}
	if s == nil {
		return
	}
	f.files = append(f.files, s)
	if f.length >= 0 && s.size >= 0 {
		f.length += s.size
	} else {
		f.length = -1
	}
}

// spent reports whether the form cannot be sent again.
func (f *form) spent() bool {
	for _, s := range f.files {
		if s.spent() {
			return true
		}
	}
	return false
}

// body is a form that is being sent, once. http.Transport reads and closes it
// in a goroutine of its own, which may outlast the request.
type body struct {
	form  *form
	whole atomic.Bool // all files were read, and what follows them has begun to be

	mu     sync.Mutex
	next   int       // head
	head   io.Reader // the rest of it
	file   io.ReadCloser
	left   int64 // of the file, if its size is known
	sent   int64
	err    error // of reading
	closed bool
}

func (f *form) body() *body { return &body{form: f, head: bytes.NewReader(f.heads[0])} }

var errClosed = errors.New("the request has ended")

// Read implements io.Reader.
func (b *body) Read(p []byte) (int, error) {
	b.mu.Lock()
	defer b.mu.Unlock()
	if b.closed {
		return 0, errClosed
	}
	n, err := b.read(p)
	b.sent += int64(n)
	if err != nil && !errors.Is(err, io.EOF) {
		b.err = err
	}
	if b.form.progress != nil {
		b.form.progress(b.sent, b.form.length)
	}
	return n, err
}

// read continues through heads and files, which alternate.
func (b *body) read(p []byte) (int, error) {
	for {
		if b.next == len(b.form.files) {
			b.whole.Store(true)
		}
		if n, err := b.head.Read(p); n > 0 || !errors.Is(err, io.EOF) {
			return n, err
		}
		if b.next == len(b.form.files) {
			return 0, io.EOF
		}
		if n, err := b.readFile(b.form.files[b.next], p); n > 0 || !errors.Is(err, io.EOF) {
			return n, err
		}
		b.next++
		b.head = bytes.NewReader(b.form.heads[b.next])
	}
}

// readFile reads the file after the head. One that has become shorter or
// longer since it was measured is refused: nobody wants half of it.
func (b *body) readFile(s *source, p []byte) (n int, err error) {
	if b.file == nil {
		if b.file, err = s.reader(); err != nil {
			return 0, err
		}
		b.left = s.size
	}
	n, err = b.file.Read(p)
	b.left -= int64(n)
	switch {
	case n > 0 && errors.Is(err, io.EOF):
		err = nil // it comes again
	case err != nil && !errors.Is(err, io.EOF):
		return n, fmt.Errorf("read %s: %w", s.name, err)
	}
	if s.size >= 0 && (b.left < 0 || errors.Is(err, io.EOF) && b.left > 0) {
		return 0, fmt.Errorf("read %s: it changed while it was sent", s.name)
	}
	if errors.Is(err, io.EOF) {
		_ = b.file.Close() // it was only read
		b.file = nil
	}
	return n, err
}

// Close implements io.Closer. Nothing is read after it; it waits for a read
// that has begun.
func (b *body) Close() error {
	b.mu.Lock()
	defer b.mu.Unlock()
	b.closed = true
	if b.file != nil {
		_ = b.file.Close()
		b.file = nil
	}
	return nil
}

// failure is what went wrong in reading.
func (b *body) failure() error {
	b.mu.Lock()
	defer b.mu.Unlock()
	return b.err
}
