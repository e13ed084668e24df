package httpapi

import (
	"context"
	"errors"
	"fmt"
	"io"
	"mime"
	"net/http"
	"net/url"
	"path"
	"time"

	"github.com/bgremove/bgremove/internal/service/outbound"
	"github.com/bgremove/bgremove/pkg/option"
)

// fetchSlots is how many files a node fetches at once.
const fetchSlots = 16

// FetchTime is how long a fetch may take, so that slow servers do not hold the slots for hours.
const FetchTime = 15 * time.Minute

// maxShown is how much of an address a message repeats, in bytes.
const maxShown = 200

// fetcher gets files from addresses that submissions give.
type fetcher struct {
	guard          *outbound.Guard
	client         *http.Client
	slots          *fairSemaphore
	stall, longest time.Duration
}

func newFetcher(c Config) *fetcher {
	if c.FileURLs == nil {
		return nil
	}
	return &fetcher{guard: c.FileURLs, client: c.FileURLs.Client(0), slots: newFairSemaphore(fetchSlots), stall: c.Stall, longest: min(FetchTime, c.MaxUpload)}
}

// checkURLs refuses addresses that no file is fetched from.
func (a *API) checkURLs(ctx context.Context, f *form) error {
	for _, u := range f.uploads {
		if u.Upload != nil {
			continue
		}
		if a.fetcher == nil {
			return &formError{field: fileURLField, reason: "is not accepted by this service: send the file"}
		}
		err := a.fetcher.guard.CheckURL(ctx, u.url)
		if wrong := (*outbound.URLError)(nil); errors.As(err, &wrong) {
			return &formError{field: fileURLField, reason: wrong.Reason}
		}
		if err != nil {
			return err
		}
	}
	return nil
}

// fetch gets the files of a form that are given by address, one after the other.
func (a *API) fetch(ctx context.Context, f *form) error {
	for i, u := range f.uploads {
		if u.Upload != nil {
			continue
		}
		fetched, err := a.fetcher.fetch(ctx, f, u.url)
		if err != nil {
			return err
		}
		f.uploads[i] = fetched
	}
	return nil
}

// errSlow ends a fetch that brings too little.
var errSlow = errors.New("too slow")

// fetch stores the file at an address. The error is a *formError that says what is wrong
// with it, of a limit, or of this machine.
func (x *fetcher) fetch(ctx context.Context, f *form, address string) (upload, error) {
	leave, err := x.slots.acquire(ctx, f.account)
	if err != nil {
		return upload{}, err
	}
	defer leave()
	timed, cancel := context.WithCancelCause(ctx)
	defer cancel(nil)
	pace := newPace(x.stall, x.longest)
	timer := time.AfterFunc(x.stall, func() { cancel(errSlow) })
	defer timer.Stop()

	u, err := x.get(timed, f, address, func(r io.Reader) io.Reader { return &pacedReader{r: r, pace: pace, timer: timer} })
	switch {
	case err == nil || ctx.Err() != nil:
		return u, err
	case context.Cause(timed) == errSlow: //nolint:errorlint // it is the very error
		return upload{}, fetchError(address, "answered too slowly", err)
	case outbound.Refused(err):
		return upload{}, fetchError(address, "leads to a private or reserved address", err)
	case isType[*readError](err):
		return upload{}, fetchError(address, "broke off", err)
	case isType[*url.Error](err):
		return upload{}, fetchError(address, "could not be reached", err)
	}
	return upload{}, err
}

// get makes the request.
func (x *fetcher) get(ctx context.Context, f *form, address string, paced func(io.Reader) io.Reader) (upload, error) {
	r, err := http.NewRequestWithContext(ctx, http.MethodGet, address, nil)
	if err != nil {
		return upload{}, err
	}
	r.Header.Set("User-Agent", "bgremove-fetch")
	answer, err := x.client.Do(r)
	if err != nil {
		return upload{}, err
	}
	defer answer.Body.Close()
	name := fetchedName(answer)
	switch {
	case answer.StatusCode >= 300 && answer.StatusCode < 400:
		return upload{}, fetchError(address, fmt.Sprintf("answered %d: redirects are not followed", answer.StatusCode), nil)
	case answer.StatusCode != http.StatusOK:
		return upload{}, fetchError(address, fmt.Sprintf("answered %d", answer.StatusCode), nil)
	case answer.ContentLength > f.maxFile:
		return upload{}, errTooLarge
	case !option.IsUpload(name):
		return upload{}, fetchError(address, mustBeNamed, nil)
	}
	u, err := f.store(ctx, paced(answer.Body))
	u.name, u.url = name, address
	return u, err
}

// fetchError is what is wrong with a file at an address.
func fetchError(address, reason string, err error) error {
	return &formError{field: fileURLField, reason: shownURL(address) + " " + reason, err: err}
}

// shownURL is an address without its query, which may be secret.
func shownURL(address string) string {
	u, err := url.Parse(address)
	if err != nil {
		return ""
	}
	u.RawQuery, u.ForceQuery = "", false
	return shorten(u.String(), maxShown)
}

// fetchedName is the name of a fetched file: that of its address, or of the answer's
// Content-Disposition, or one by its Content-Type, "clip" if the address has none.
func fetchedName(answer *http.Response) string {
	name := cleanName(path.Base(answer.Request.URL.Path))
	if option.IsUpload(name) {
		return name
	}
	_, parameters, err := mime.ParseMediaType(answer.Header.Get("Content-Disposition"))
	if given := cleanName(parameters["filename"]); err == nil && option.IsUpload(given) {
		return given
	}
	if name == "" || name == "." {
		name = "clip"
	}
	kind, _, _ := mime.ParseMediaType(answer.Header.Get("Content-Type"))
	return shorten(name+option.UploadExtension(kind), maxName)
}

// pacedReader runs the timer that ends a transfer while it waits for the server. The time
// that the storage takes in between does not count, but towards the transfer's end.
type pacedReader struct {
	r        io.Reader
	pace     pace
	timer    *time.Timer
	received int64
	paused   time.Time // when the last read ended; zero before the first
}

func (r *pacedReader) Read(p []byte) (int, error) {
	now := time.Now()
	if !r.paused.IsZero() {
		r.pace.started = r.pace.started.Add(now.Sub(r.paused))
	}
	r.timer.Reset(r.pace.deadline(now, r.received).Sub(now))
	n, err := r.r.Read(p)
	r.timer.Stop()
	r.received += int64(n)
	r.paused = time.Now()
	return n, err
}
