package cli_test

import (
	"encoding/json"
	"io"
	"net/http"
	"net/http/cookiejar"
	"net/url"
	"os"
	"strings"
	"time"

	"github.com/rogpeppe/go-internal/testscript"
)

// finish FILE does what a browser does with the address in a file that edit prints: it
// opens the page, waits for the result and is done. With -not it stops before that.
func finish(ts *testscript.TestScript, _ bool, args []string) {
	jar, err := cookiejar.New(nil)
	ts.Check(err)
	b := http.Client{Jar: jar, Timeout: time.Minute}
	fetch := func(method, address string) (at *url.URL, status int, text string) {
		r, err := http.NewRequest(method, address, nil)
		ts.Check(err)
		resp, err := b.Do(r)
		ts.Check(err)
		defer resp.Body.Close()
		body, err := io.ReadAll(resp.Body)
		ts.Check(err)
		return resp.Request.URL, resp.StatusCode, string(body)
	}
	path, address := ts.MkAbs(args[0]), ""
	defer os.Remove(path)
	limit := time.After(time.Minute)
	for tick := time.NewTicker(20 * time.Millisecond); !strings.HasSuffix(address, "\n"); {
		select {
		case <-tick.C:
			text, _ := os.ReadFile(path)
			address = string(text)
		case <-limit:
			ts.Fatalf("no address is printed")
		}
	}
	first, _, _ := fetch(http.MethodGet, strings.TrimSpace(address))
	page := *first
	if !strings.HasPrefix(page.Path, "/jobs/job_") {
		ts.Fatalf("the address leads to %v", page.Path)
	}
	state := page
	state.Path = "/api" + page.Path
	for tick := time.NewTicker(150 * time.Millisecond); ; <-tick.C {
		var j struct{ Status string }
		_, _, body := fetch(http.MethodGet, state.String())
		ts.Check(json.Unmarshal([]byte(body), &j))
		if j.Status == "failed" {
			ts.Fatalf("the job failed: %s", body)
		}
		if j.Status == "done" {
			break
		}
	}
	_, _, shown := fetch(http.MethodGet, page.String())
	if !strings.Contains(shown, "Done: write ") || !strings.Contains(shown, `<details class="subject script" open`) {
		ts.Fatalf("the page is not an editor's:\n%s", shown)
	}
	if len(args) > 1 {
		return
	}
	page.Path += "/finish"
	if _, status, body := fetch(http.MethodPost, page.String()); status != http.StatusOK || !strings.Contains(body, "is written. You can close this page.") {
		ts.Fatalf("%d\n%s", status, body)
	}
}
