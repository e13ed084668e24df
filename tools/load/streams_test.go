//go:build linux

package main

import (
	"errors"
	"net/http"
	"net/http/httptest"
	"testing"

	"github.com/bgremove/bgremove/internal/service/session"
	"github.com/bgremove/bgremove/tools/internal/rig"
	"github.com/bgremove/bgremove/tools/internal/rig/rigtest"
)

// TestRound checks that a refused submission is an error, and that the streams do not wait for it.
func TestRound(t *testing.T) {
	t.Parallel()
	mux := http.NewServeMux()
	mux.HandleFunc("POST /api/session", func(w http.ResponseWriter, _ *http.Request) {
		http.SetCookie(w, &http.Cookie{Name: session.CookieName, Value: "x"})
	})
	mux.HandleFunc("GET /api/jobs/events", func(w http.ResponseWriter, r *http.Request) {
		_, _ = w.Write([]byte("event: ready\ndata: {}\n\n"))
		_ = http.NewResponseController(w).Flush()
		<-r.Context().Done()
	})
	mux.HandleFunc("POST /api/v1/jobs", func(w http.ResponseWriter, _ *http.Request) { w.WriteHeader(http.StatusBadRequest) })
	server := httptest.NewServer(mux)
	t.Cleanup(server.Close)
	_, p := rigtest.New(t, "echo password")
	browser, err := p.Browser(t.Context(), server.URL, customer)
	if err != nil {
		t.Fatal(err)
	}
	form, err := smallForm()
	if err != nil {
		t.Fatal(err)
	}
	w := &watchers{node: &rig.Node{URL: server.URL}, form: form, keys: []*rig.Client{rig.NewClient("key", 1)}, browsers: []*rig.Browser{browser}}
	var status *rig.StatusError
	if err := w.round(t.Context(), 2); !errors.As(err, &status) || status.Code != http.StatusBadRequest {
		t.Errorf("error %v", err)
	}
}
