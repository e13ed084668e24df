package server_test

import (
	"bytes"
	"context"
	"image/gif"
	"image/png"
	"net"
	"net/http"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"github.com/bgremove/bgremove/internal/service/server"
	"github.com/bgremove/bgremove/internal/service/store/storetest"
	"github.com/bgremove/bgremove/pkg/api"
)

// TestService follows a clip through a node with all roles.
func TestService(t *testing.T) {
	t.Parallel()
	each(t, func(t *testing.T, c server.Config) {
		n := start(t, c)
		ada := newCustomer(t, c.Database, 10)
		id := ada.submitted(n, clip(t), "method", "fast")
		done := ada.ended(n, id)
		if done.Status != api.JobStatusDone || done.PreviewURL == nil || done.DownloadURL == nil || done.Metadata.FrameCount != 4 {
			t.Fatalf("the job is %+v", done)
		}
		preview := ada.get(n.url + *done.PreviewURL)
		if _, err := png.Decode(strings.NewReader(preview.body)); err != nil || preview.status != http.StatusOK {
			t.Errorf("the preview is %d: %v", preview.status, err)
		}
		output := ada.get(n.url + *done.DownloadURL)
		g, err := gif.DecodeAll(bytes.NewReader([]byte(output.body)))
		if err != nil || len(g.Image) != 4 || output.header.Get("Content-Disposition") != `attachment; filename="clip-nobg.gif"` {
			t.Errorf("the output is %d %v: %v", output.status, output.header, err)
		}
		if left := ada.credits(); left != 7 {
			t.Errorf("%d credits are left", left)
		}
		for path, want := range map[string]string{
			"/healthz": `{"status":"ok"}`, "/readyz": `{"status":"ok"}`, "/openapi.json": `"openapi": "3`, "/docs": "<html",
		} {
			if got := ada.get(n.url + path); got.status != http.StatusOK || !strings.Contains(got.body, want) {
				t.Errorf("%s: %d %.200s", path, got.status, got.body)
			}
		}
		if got := ada.get(n.url + "/docs/none"); got.status != http.StatusNotFound || got.body != `{"error":"not_found"}` {
			t.Errorf("no page of the documentation: %d %s", got.status, got.body)
		}
		n.stopped()
		if !strings.Contains(n.log.String(), "job="+id) {
			t.Errorf("the log does not name the job:\n%s", n.log)
		}
	})
}

// TestRoles checks that an API node and a worker need to share only a database
// and a folder.
func TestRoles(t *testing.T) {
	t.Parallel()
	each(t, func(t *testing.T, c server.Config) {
		front, worker := c, c
		front.Role, worker.Role = server.API, server.Worker
		worker.MetricsAddr = "127.0.0.1:0"
		n := start(t, front)
		ada := newCustomer(t, c.Database, 100)
		waiting := ada.submitted(n, clip(t), "method", "fast")
		w := start(t, worker)
		for _, id := range []string{waiting, ada.submitted(n, clip(t))} {
			if done := ada.ended(n, id); done.Status != api.JobStatusDone {
				t.Errorf("the job is %+v", done)
			}
		}
		ada.metrics(w.metrics, `bgremove_job_run_seconds_count{outcome="done"} 2`)
		ada.get(w.metrics+"/readyz").is(t, http.StatusOK, `{"status":"ok"}`)
		ada.get(w.metrics+"/healthz").is(t, http.StatusOK, `{"status":"ok"}`)
		if got := ada.get(w.metrics + "/api/v1/jobs/" + waiting); got.status != http.StatusNotFound {
			t.Errorf("the worker answers the API: %d", got.status)
		}
		w.stopped()
		n.stopped()
	})
}

// TestWithoutNetwork checks a node without a neural network: it says so at the
// start, refuses requests that need one, and takes auto for fast.
func TestWithoutNetwork(t *testing.T) {
	t.Parallel()
	c := configuration(t, storetest.SQLite(t))
	c.Engine.Library = filepath.Join(t.TempDir(), "absent")
	n := start(t, c)
	if log := n.log.String(); !strings.Contains(log, "level=WARN msg=\"neural network unavailable") {
		t.Errorf("no warning:\n%s", log)
	}
	ada := newCustomer(t, c.Database, 10)
	ada.submit(n, clip(t), "method", "rembg").
		is(t, http.StatusBadRequest, `{"error":"bad_request","field":"method","message":"method rembg is not available on this service"}`)
	if left := ada.credits(); left != 10 {
		t.Errorf("%d credits are left", left)
	}
	if done := ada.ended(n, ada.submitted(n, clip(t))); done.Status != api.JobStatusDone {
		t.Errorf("the job is %+v", done)
	}
	n.stopped()
	if log := n.log.String(); !strings.Contains(log, "method:fast") {
		t.Errorf("auto was not fast:\n%s", log)
	}
}

// TestStartRefused checks that a node that cannot start says why, and leaves
// nothing behind.
func TestStartRefused(t *testing.T) {
	t.Parallel()
	taken, err := (&net.ListenConfig{}).Listen(t.Context(), "tcp", "127.0.0.1:0")
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { _ = taken.Close() })
	for name, test := range map[string]struct {
		change func(*server.Config)
		want   string
	}{
		"database":  {func(c *server.Config) { c.Database = "mysql://localhost" }, "database: "},
		"folder":    {func(c *server.Config) { c.Database = "sqlite:/dev/null/bgremove.db" }, "database: "},
		"storage":   {func(c *server.Config) { c.Storage = "ftp://localhost" }, "storage: "},
		"address":   {func(c *server.Config) { c.Addr = taken.Addr().String() }, "the address is in use"},
		"metrics":   {func(c *server.Config) { c.MetricsAddr = taken.Addr().String() }, "the address is in use"},
		"temporary": {func(c *server.Config) { c.TempDir = "/dev/null/tmp" }, "scratch folder: "},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			c := configuration(t, storetest.SQLite(t))
			listened := ""
			c.Listening = func(at net.Addr) { listened = at.String() }
			test.change(&c)
			ctx, cancel := context.WithTimeout(t.Context(), 10*time.Second) // needed only if it does start
			defer cancel()
			if err := server.Run(ctx, c); err == nil || !strings.Contains(err.Error(), test.want) {
				t.Errorf("the error is %v, want one of %s", err, test.want)
			}
			if listened == "" {
				return
			}
			if conn, err := (&net.Dialer{}).DialContext(t.Context(), "tcp", listened); err == nil {
				_ = conn.Close()
				t.Error("it still listens")
			}
		})
	}
}

// TestStopWhileStarting tells a node to stop before it listens.
func TestStopWhileStarting(t *testing.T) {
	t.Parallel()
	ctx, cancel := context.WithCancel(t.Context())
	cancel()
	if err := server.Run(ctx, configuration(t, storetest.SQLite(t))); err != nil {
		t.Errorf("got %v", err)
	}
}
