package httpapi_test

import (
	"bytes"
	"context"
	"fmt"
	"image/gif"
	"image/png"
	"net/http"
	"strconv"
	"testing"
	"time"

	"github.com/bgremove/bgremove/internal/service/account"
	"github.com/bgremove/bgremove/internal/service/job"
	"github.com/bgremove/bgremove/pkg/api"
	"github.com/bgremove/bgremove/pkg/option"
)

// ends reports jobs that have ended.
type ends chan string

func (ends) Claimed(time.Duration)                   {}
func (ends) Stage(string, time.Duration)             {}
func (e ends) Ended(outcome string, _ time.Duration) { e <- outcome }
func (ends) Credits(account.Kind, int64)             {}
func (ends) Swept(job.Swept, error)                  {}

// work runs a worker until the test ends.
func (s *service) work() {
	s.Helper()
	ctx, stop := context.WithCancel(context.Background())
	w := &job.Worker{Service: s.jobs, Processor: s.remover, TempDir: s.TempDir()}
	ended := make(chan error)
	go func() { ended <- w.Run(ctx) }()
	s.Cleanup(func() {
		stop()
		if err := <-ended; err != nil {
			s.Error(err)
		}
	})
}

// finished is a service with finished jobs, and their owner.
func finished(t *testing.T, fields ...[]field) (*client, []api.Job) {
	t.Helper()
	observed := make(ends, len(fields))
	s := startWith(t, job.Config{Observer: observed}, nil)
	c := s.client(s.key(s.user("ada@example.com", 100)))
	var made []api.JobCreated
	for _, f := range fields {
		made = append(made, decode[api.JobCreated](t, c.submit(jobs, f), http.StatusAccepted))
	}
	s.work()
	for range fields {
		if outcome := <-observed; outcome != string(job.Done) {
			t.Fatalf("a job is %s: %s", outcome, s.log)
		}
	}
	var done []api.Job
	for _, m := range made {
		done = append(done, decode[api.Job](t, c.get(m.Links.Self), http.StatusOK))
	}
	return c, done
}

func TestDownload(t *testing.T) {
	t.Parallel()
	c, done := finished(t, []field{fileField("wäve.GIF", clip(t, 12, 10)), {name: "method", value: "fast"}, {name: "crop", value: "false"}})
	j := done[0]
	download, preview := jobs+"/"+j.ID+"/download", jobs+"/"+j.ID+"/preview"
	if j.Status != api.JobStatusDone || j.DownloadURL == nil || *j.DownloadURL != download || j.PreviewURL == nil || *j.PreviewURL != preview || j.Error != nil {
		t.Fatalf("the job is %+v", j)
	}
	got := c.get(download)
	if got.status != http.StatusOK {
		t.Fatalf("got %d %s", got.status, got.body)
	}
	for name, want := range map[string]string{
		"Content-Type": "image/gif", "Content-Length": strconv.Itoa(len(got.body)), "Accept-Ranges": "bytes", "X-Content-Type-Options": "nosniff",
		"Content-Disposition": `attachment; filename="w_ve-nobg.gif"; filename*=UTF-8''w%C3%A4ve-nobg.gif`, "Cache-Control": "private, no-cache",
	} {
		if v := got.header.Get(name); v != want {
			t.Errorf("%s is %q, want %q", name, v, want)
		}
	}
	if j.Metadata.OutputSize == nil || *j.Metadata.OutputSize != int64(len(got.body)) {
		t.Errorf("outputSize is %v of %d bytes", j.Metadata.OutputSize, len(got.body))
	}
	clip, err := gif.DecodeAll(bytes.NewReader([]byte(got.body)))
	if err != nil || len(clip.Image) != 12 {
		t.Errorf("the output has %d frames (%v)", len(clip.Image), err)
	}
	shown := c.get(preview)
	if _, err := png.Decode(bytes.NewReader([]byte(shown.body))); err != nil || shown.header.Get("Content-Type") != "image/png" {
		t.Errorf("the preview is no PNG: %v, %s", err, shown.header.Get("Content-Type"))
	}
	if v, want := shown.header.Get("Content-Disposition"), `inline; filename="w_ve-nobg.png"; filename*=UTF-8''w%C3%A4ve-nobg.png`; v != want {
		t.Errorf("Content-Disposition is %q, want %q", v, want)
	}
	testHead(t, c, download, got)
	testHead(t, c, preview, shown)
	testParts(t, c, download, got)
	testParts(t, c, preview, shown)
}

// testHead checks that HEAD matches GET for the whole file.
func testHead(t *testing.T, c *client, path string, whole answer) {
	t.Helper()
	got := c.do(http.MethodHead, path, nil, "Range", "bytes=0-1")
	got.want(t, http.StatusOK, "")
	c.do(http.MethodHead, path, nil, "If-None-Match", whole.header.Get("ETag")).want(t, http.StatusNotModified, "")
	for _, name := range []string{"Content-Type", "Content-Length", "Content-Disposition", "ETag", "Accept-Ranges"} {
		if v, want := got.header.Get(name), whole.header.Get(name); v != want {
			t.Errorf("HEAD: %s is %q, GET says %q", name, v, want)
		}
	}
}

func testParts(t *testing.T, c *client, path string, whole answer) {
	t.Helper()
	etag, size := whole.header.Get("ETag"), len(whole.body)
	for name, test := range map[string]struct {
		header   []string
		status   int
		from, to int
	}{
		"first":           {[]string{"Range", "bytes=0-9"}, http.StatusPartialContent, 0, 10},
		"rest":            {[]string{"Range", "bytes=10-"}, http.StatusPartialContent, 10, size},
		"last":            {[]string{"Range", "bytes=-5"}, http.StatusPartialContent, size - 5, size},
		"several":         {[]string{"Range", "bytes=0-1,4-5"}, http.StatusOK, 0, size},
		"if the same":     {[]string{"Range", "bytes=0-9", "If-Range", etag}, http.StatusPartialContent, 0, 10},
		"if another":      {[]string{"Range", "bytes=0-9", "If-Range", `"x"`}, http.StatusOK, 0, size},
		"unchanged":       {[]string{"If-None-Match", `"x", ` + etag}, http.StatusNotModified, 0, 0},
		"changed":         {[]string{"If-None-Match", `"x"`}, http.StatusOK, 0, size},
		"unchanged part":  {[]string{"If-None-Match", etag, "Range", "bytes=0-9"}, http.StatusNotModified, 0, 0},
		"nonsense, whole": {[]string{"Range", "bytes=x"}, http.StatusOK, 0, size},
	} {
		got := c.get(path, test.header...)
		if got.status != test.status || got.body != whole.body[test.from:test.to] {
			t.Errorf("%s: got %d and %d bytes", name, got.status, len(got.body))
		}
		want := ""
		if test.status == http.StatusPartialContent {
			want = fmt.Sprintf("bytes %d-%d/%d", test.from, test.to-1, size)
		}
		if v := got.header.Get("Content-Range"); v != want {
			t.Errorf("%s: Content-Range is %q, want %q", name, v, want)
		}
		if v := got.header.Get("ETag"); v != etag {
			t.Errorf("%s: ETag is %q", name, v)
		}
	}
	got := c.get(path, "Range", fmt.Sprintf("bytes=%d-", size))
	got.want(t, http.StatusRequestedRangeNotSatisfiable, `{"error":"range_not_satisfiable"}`)
	if v, want := got.header.Get("Content-Range"), fmt.Sprintf("bytes */%d", size); v != want {
		t.Errorf("Content-Range is %q, want %q", v, want)
	}
}

// TestMediaTypes checks that each format has its own type and name.
func TestMediaTypes(t *testing.T) {
	t.Parallel()
	types := map[string]string{}
	for _, f := range option.ServiceFormats() {
		types[string(f)] = f.MediaType()
	}
	var all [][]field
	for format := range types {
		all = append(all, []field{fileField("a.gif", clip(t, 2, 10)), {name: "outputFormat", value: format}, {name: "bgColor", value: "#FFFFFF"}})
	}
	c, done := finished(t, all...)
	for _, j := range done {
		got := c.do(http.MethodHead, *j.DownloadURL, nil)
		if v := got.header.Get("Content-Type"); v != types[string(j.OutputFormat)] {
			t.Errorf("%s comes as %s", j.OutputFormat, v)
		}
		if v, want := got.header.Get("Content-Disposition"), fmt.Sprintf(`attachment; filename=%q`, option.Format(j.OutputFormat).OutputName("a")); v != want {
			t.Errorf("Content-Disposition is %q, want %q", v, want)
		}
		delete(types, string(j.OutputFormat))
	}
	if len(types) > 0 {
		t.Errorf("not made: %v", types)
	}
}

// TestObjectGone checks for 404 if a job's output was removed.
func TestObjectGone(t *testing.T) {
	t.Parallel()
	c, done := finished(t, []field{fileField("a.gif", clip(t, 2, 10))})
	for info, err := range c.blobs.List(t.Context(), "") {
		if err != nil {
			t.Fatal(err)
		}
		if err := c.blobs.Delete(t.Context(), info.Key); err != nil {
			t.Fatal(err)
		}
	}
	c.get(*done[0].DownloadURL).want(t, http.StatusNotFound, `{"error":"not_found"}`)
}
