package main

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"io"
	"mime"
	"net/http"
	"strconv"
	"strings"
	"sync"
	"time"

	"github.com/bgremove/bgremove/pkg/api"
	"github.com/bgremove/bgremove/tools/internal/rig"
)

var uploadAttacks = []attack{
	{name: "uploads without credits", what: "60 uploads of endless MP4s by accounts without credits", run: poorUploads},
	{name: "part headers", what: "60 forms at once with a part header of 10 MB each", flags: withoutWork, run: partHeaders},
	{name: "form fields", what: "an option of 2 kB, an option given twice, 101 fields", run: formFields},
	{name: "stalled uploads", what: "an upload that takes all of --upload-space and stalls", flags: []string{"--max-file", "1000000", "--upload-space", "20000000"}, run: stalledUploads},
	{name: "slow upload", what: "an upload of two bytes a second", long: true, run: slowUpload},
	{name: "names of files", what: "uploads named ../../../../etc/passwd.gif and the like", run: fileNames},
}

func poorUploads(ctx context.Context, t *target) (string, error) {
	poor, err := t.customers(ctx, 3, 2)
	if err != nil {
		return "", err
	}
	files := []rig.File{{Name: "endless.mp4", Content: endless()}}
	var statuses map[int]int
	others, err := t.meanwhile(ctx, func() (err error) {
		statuses, _, err = atOnce(60, func(i int) (answer, error) { return poor[i%len(poor)].submit(ctx, oneJob, files) })
		return err
	})
	if statuses[http.StatusPaymentRequired] != 60 {
		err = errors.Join(err, fmt.Errorf("statuses %v", statuses))
	}
	return fmt.Sprintf("%d times 402; meanwhile another account: %v", statuses[http.StatusPaymentRequired], others), err
}

func partHeaders(ctx context.Context, t *target) (string, error) {
	senders, err := t.customers(ctx, 3, credits)
	if err != nil {
		return "", err
	}
	long := bytes.Repeat([]byte{'x'}, 10<<20)
	var statuses map[int]int
	took, err := t.lightPeak(mostMemory, func() (err error) {
		statuses, _, err = atOnce(60, func(i int) (answer, error) {
			body := io.MultiReader(strings.NewReader("--b\r\nContent-Disposition: form-data; name=\"pad\"\r\nX-Long: "),
				bytes.NewReader(long), strings.NewReader("\r\n\r\n3\r\n--b--\r\n"))
			return senders[i%len(senders)].send(ctx, http.MethodPost, oneJob, body, "Content-Type", "multipart/form-data; boundary=b")
		})
		return err
	})
	if statuses[http.StatusBadRequest] != 60 {
		err = errors.Join(err, fmt.Errorf("statuses %v", statuses))
	}
	return fmt.Sprintf("%d times 400, %s", statuses[http.StatusBadRequest], took), err
}

func formFields(ctx context.Context, t *target) (string, error) {
	v, err := t.customer(ctx, credits)
	if err != nil {
		return "", err
	}
	many := make([]string, 2*101)
	for i := range many {
		many[i] = "x"
	}
	var said []string
	for _, pairs := range [][]string{{"pad", strings.Repeat("0", 2000)}, {"pad", "3", "pad", "3"}, many} {
		contentType, body, err := fields(pairs...)
		if err != nil {
			return "", err
		}
		got, err := v.send(ctx, http.MethodPost, oneJob, body, "Content-Type", contentType)
		if err := errors.Join(err, got.want(http.StatusBadRequest, api.ErrorCodeBadRequest)); err != nil {
			return "", err
		}
		said = append(said, got.message())
	}
	return "400: " + strings.Join(said, "; "), t.hasCredits(ctx, v, credits)
}

// stalledUploads takes up all the space, checks the refusals, and ends the
// uploads.
func stalledUploads(ctx context.Context, t *target) (string, error) {
	holder, err := t.customer(ctx, credits)
	if err != nil {
		return "", err
	}
	other, err := t.customer(ctx, credits)
	if err != nil {
		return "", err
	}
	r, w := io.Pipe()
	var sending sync.WaitGroup
	sending.Go(func() { _ = stall(w, 20, 1_000_000, 5_000) }) // it ends with the pipe
	sending.Go(func() {
		_, _ = holder.send(ctx, http.MethodPost, manyJobs, r, "Content-Type", "multipart/form-data; boundary=b") // the form is never complete
	})
	defer sending.Wait()
	letGo := func() { _ = w.CloseWithError(io.ErrClosedPipe) }
	defer letGo()
	if err := t.uploading(ctx, func(n float64) bool { return n >= 19_990_000 }); err != nil {
		return "", err
	}
	own, err := holder.clip(ctx)
	if err := errors.Join(err, own.wantLater(http.StatusTooManyRequests, api.ErrorCodeRateLimited)); err != nil {
		return "", fmt.Errorf("the same account: %w", err)
	}
	others, err := other.clip(ctx)
	if err := errors.Join(err, others.wantLater(http.StatusServiceUnavailable, api.ErrorCodeUnavailable)); err != nil {
		return "", fmt.Errorf("another account: %w", err)
	}
	letGo()
	if err := t.uploading(ctx, func(n float64) bool { return n == 0 }); err != nil {
		return "", err
	}
	left, err := t.objects(ctx)
	if err == nil && left > 0 {
		err = fmt.Errorf("%d files are left in the storage", left)
	}
	_, again := other.order(ctx)
	return fmt.Sprintf("%v for the account, %v for others, 202 when it has gone", own, others), errors.Join(err, again)
}

// stall writes a form of files of a size. The last file lacks some bytes, and
// the form does not end.
func stall(w io.Writer, files, size, lacks int) error {
	for i := range files {
		if i == files-1 {
			size -= lacks
		}
		if _, err := fmt.Fprintf(w, "--b\r\nContent-Disposition: form-data; name=\"file\"; filename=\"%d.gif\"\r\n\r\n", i); err != nil {
			return err
		}
		if _, err := w.Write(make([]byte, size)); err != nil {
			return err
		}
		if _, err := io.WriteString(w, "\r\n"[:min(2, 2*(files-1-i))]); err != nil {
			return err
		}
	}
	return nil
}

// uploading waits until the metric of running uploads is right.
func (t *target) uploading(ctx context.Context, right func(bytes float64) bool) error {
	return t.until(ctx, "uploads on their way are counted", func() (bool, error) {
		got, err := newVisitor(t.URL, 0).get(ctx, "/metrics")
		if err := errors.Join(err, got.want(http.StatusOK, "")); err != nil {
			return false, err
		}
		_, rest, ok := strings.Cut(string(got.body), "\nbgremove_upload_bytes ")
		value, _, _ := strings.Cut(rest, "\n")
		n, err := strconv.ParseFloat(value, 64)
		if !ok || err != nil {
			return false, errors.New("there is no metric bgremove_upload_bytes")
		}
		return right(n), nil
	})
}

// slowUpload is cut off after its time limit of 30 s.
func slowUpload(ctx context.Context, t *target) (string, error) {
	v, err := t.customer(ctx, credits)
	if err != nil {
		return "", err
	}
	r, w := io.Pipe()
	var sending sync.WaitGroup
	sending.Go(func() {
		_, err := io.WriteString(w, "--b\r\nContent-Disposition: form-data; name=\"file\"; filename=\"a.gif\"\r\n\r\n")
		for err == nil {
			time.Sleep(time.Second / 2)
			_, err = io.WriteString(w, "x")
		}
	})
	defer sending.Wait()
	defer r.Close()
	ctx, cancel := context.WithTimeout(ctx, time.Minute)
	defer cancel()
	began := time.Now()
	got, err := v.send(ctx, http.MethodPost, oneJob, r, "Content-Type", "multipart/form-data; boundary=b")
	if ctx.Err() != nil {
		return "none", errors.New("it goes on for a minute")
	}
	if err != nil { // the connection ended before the answer could be read
		return fmt.Sprintf("cut after %.0f s", time.Since(began).Seconds()), t.hasJobs(ctx, v, 0)
	}
	return fmt.Sprintf("%v after %.0f s: %s", got, time.Since(began).Seconds(), got.message()), got.want(http.StatusBadRequest, api.ErrorCodeBadRequest)
}

// fileNames checks that returned names contain nothing of a path.
func fileNames(ctx context.Context, t *target) (string, error) {
	v, err := t.browser(ctx, credits)
	if err != nil {
		return "", err
	}
	clip, err := smallGIF()
	if err != nil {
		return "", err
	}
	var files []rig.File
	for _, name := range []string{"../../../../etc/passwd.gif", `..\..\..\boot.gif`, "/etc/cron.d/job.gif", "a\u202egif.gif"} {
		files = append(files, rig.File{Name: name, Content: clip[0].Content})
	}
	got, err := v.submit(ctx, pagesJobs, files)
	if err := errors.Join(err, got.want(http.StatusAccepted, "")); err != nil {
		return "", err
	}
	if err := t.done(ctx, v); err != nil {
		return "", err
	}
	made, err := read[api.JobsCreated](got)
	if err != nil {
		return "", err
	}
	var names []string
	for _, j := range made.Jobs {
		file, err := v.get(ctx, "/api/jobs/"+j.ID+"/download")
		if err := errors.Join(err, file.want(http.StatusOK, "")); err != nil {
			return "", err
		}
		_, params, err := mime.ParseMediaType(file.header.Get("Content-Disposition"))
		if err != nil {
			return "", err
		}
		for _, name := range []string{j.Filename, params["filename"]} {
			if strings.ContainsAny(name, "/\\\u202e") || strings.Contains(name, "..") {
				return "", fmt.Errorf("a name is given back as %q", name)
			}
		}
		names = append(names, params["filename"])
	}
	return "202, given back as " + strings.Join(names, ", "), nil
}
