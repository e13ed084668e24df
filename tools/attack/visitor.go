package main

import (
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"mime/multipart"
	"net"
	"net/http"
	"net/http/cookiejar"
	"strings"
	"sync"

	"github.com/bgremove/bgremove/pkg/api"
	"github.com/bgremove/bgremove/tools/internal/rig"
)

// visitor makes requests to a server, from a local address of its own. It keeps
// cookies. It is safe for concurrent use.
type visitor struct {
	id, email, password string // of its account, if any
	keyID, key          string // of its API key, if any
	url                 string
	http                *http.Client
}

func newVisitor(url string, number int64) *visitor {
	jar, _ := cookiejar.New(nil) // it never fails
	from := &net.TCPAddr{IP: net.IPv4(127, 1, byte(number>>8), byte(number))}
	return &visitor{url: url, http: &http.Client{
		Jar:           jar,
		Transport:     &http.Transport{DialContext: (&net.Dialer{LocalAddr: from}).DialContext, DisableCompression: true},
		CheckRedirect: func(*http.Request, []*http.Request) error { return http.ErrUseLastResponse },
	}}
}

// answer is an answer of a server. The zero value is none.
type answer struct {
	status int
	header http.Header
	body   []byte
}

// code is the code of an error.
func (a answer) code() string {
	var e api.Error
	_ = json.Unmarshal(a.body, &e) // other bodies have no code
	return string(e.Error)
}

// message is the message of an error, for people.
func (a answer) message() string {
	var e api.Error
	if json.Unmarshal(a.body, &e) != nil || e.Message == nil {
		return ""
	}
	return *e.Message
}

func (a answer) String() string {
	text := fmt.Sprint(a.status)
	if code := a.code(); code != "" {
		text += " " + code
	}
	if again := a.header.Get("Retry-After"); again != "" {
		text += ", Retry-After " + again
	}
	return text
}

// want checks a status and the code of an error. Pages and successes have an
// empty code.
func (a answer) want(status int, code api.ErrorCode) error {
	if a.status != status || a.code() != string(code) {
		return fmt.Errorf("the answer is %v, want %d %s: %.200q", a, status, code, a.body)
	}
	return nil
}

// wantLater is want for answers that ask the client to retry later.
func (a answer) wantLater(status int, code api.ErrorCode) error {
	if a.header.Get("Retry-After") == "" {
		return errors.Join(a.want(status, code), fmt.Errorf("the answer %d has no Retry-After", a.status))
	}
	return a.want(status, code)
}

// send makes a request. header alternates names and values. Routes for keys get
// the key.
func (v *visitor) send(ctx context.Context, method, path string, body io.Reader, header ...string) (answer, error) {
	r, err := http.NewRequestWithContext(ctx, method, v.url+path, body)
	if err != nil {
		return answer{}, err
	}
	if v.key != "" && strings.HasPrefix(path, "/api/v1/") {
		r.Header.Set("Authorization", "Bearer "+v.key)
	}
	for i := 0; i+1 < len(header); i += 2 {
		r.Header.Set(header[i], header[i+1])
	}
	got, err := v.http.Do(r)
	if err != nil {
		return answer{}, err
	}
	defer got.Body.Close()
	text, err := io.ReadAll(got.Body)
	return answer{got.StatusCode, got.Header, text}, err
}

func (v *visitor) get(ctx context.Context, path string, header ...string) (answer, error) {
	return v.send(ctx, http.MethodGet, path, nil, header...)
}

// json sends a value.
func (v *visitor) json(ctx context.Context, method, path string, value any, header ...string) (answer, error) {
	body, err := json.Marshal(value)
	if err != nil {
		return answer{}, err
	}
	return v.send(ctx, method, path, bytes.NewReader(body), append(header, "Content-Type", "application/json")...)
}

// post sends a form without files, as a browser does.
func (v *visitor) post(ctx context.Context, path, form string, header ...string) (answer, error) {
	return v.send(ctx, http.MethodPost, path, strings.NewReader(form), append(header, "Content-Type", "application/x-www-form-urlencoded")...)
}

// signIn tries a password.
func (v *visitor) signIn(ctx context.Context, email, password string) (answer, error) {
	return v.json(ctx, http.MethodPost, "/api/session", api.Credentials{Email: email, Password: password})
}

// The routes that accept files.
const (
	oneJob    = "/api/v1/jobs"
	manyJobs  = "/api/v1/batches"
	pagesJobs = "/api/jobs"
)

// submit sends files to a route, for method fast.
func (v *visitor) submit(ctx context.Context, path string, files []rig.File, header ...string) (answer, error) {
	form, err := rig.NewForm(files...)
	if err != nil {
		return answer{}, err
	}
	contentType, body := form.Body()
	return v.send(ctx, http.MethodPost, path, bytes.NewReader(body), append(header, "Content-Type", contentType)...)
}

// clip submits a small GIF with the key.
func (v *visitor) clip(ctx context.Context, header ...string) (answer, error) {
	files, err := smallGIF()
	if err != nil {
		return answer{}, err
	}
	return v.submit(ctx, oneJob, files, header...)
}

// order submits a small GIF with the key and returns its job.
func (v *visitor) order(ctx context.Context) (id string, err error) {
	got, err := v.clip(ctx)
	if err := errors.Join(err, got.want(http.StatusAccepted, "")); err != nil {
		return "", err
	}
	made, err := read[api.JobCreated](got)
	return made.ID, err
}

// smallGIF is a clip of the least price.
var smallGIF = sync.OnceValues(func() ([]rig.File, error) {
	content, err := rig.GIF(96, 80, 6)
	return []rig.File{{Name: "clip.gif", Content: content}}, err
})

// fields is a form with options only. pairs alternates names and values.
func fields(pairs ...string) (contentType string, body *bytes.Buffer, err error) {
	body = &bytes.Buffer{}
	w := multipart.NewWriter(body)
	for i := 0; i+1 < len(pairs); i += 2 {
		err = errors.Join(err, w.WriteField(pairs[i], pairs[i+1]))
	}
	return w.FormDataContentType(), body, errors.Join(err, w.Close())
}

// atOnce makes calls of do at the same time, and counts the statuses of the
// answers.
func atOnce(times int, do func(i int) (answer, error)) (statuses map[int]int, answers []answer, err error) {
	answers, errs := make([]answer, times), make([]error, times)
	var all sync.WaitGroup
	for i := range times {
		all.Go(func() { answers[i], errs[i] = do(i) })
	}
	all.Wait()
	statuses = make(map[int]int)
	for _, a := range answers {
		statuses[a.status]++
	}
	return statuses, answers, errors.Join(errs...)
}

// read reads a value from an answer.
func read[T any](a answer) (v T, err error) { return v, json.Unmarshal(a.body, &v) }
