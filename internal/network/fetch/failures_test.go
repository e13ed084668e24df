package fetch_test

import (
	"bytes"
	"errors"
	"fmt"
	"io"
	"net/http"
	"net/http/httptest"
	"os"
	"path/filepath"
	"strings"
	"syscall"
	"testing"

	"github.com/bgremove/bgremove/internal/network/fetch"
)

// Each failure has its type and leaves no files behind.
func TestFailures(t *testing.T) {
	t.Parallel()
	other := bytes.Repeat([]byte("x"), len(content))
	page := func(kind string) http.HandlerFunc {
		return func(w http.ResponseWriter, _ *http.Request) {
			w.Header().Set("Content-Type", kind)
			_, _ = io.WriteString(w, "\n<!DOCTYPE html><title>Sign in</title>")
		}
	}
	send := func(b []byte) http.HandlerFunc {
		return func(w http.ResponseWriter, _ *http.Request) {
			w.Header().Set("Content-Type", "application/octet-stream")
			_, _ = w.Write(b)
		}
	}
	tests := map[string]struct {
		handler http.HandlerFunc
		size    int64
		is      func(error) bool
	}{
		"404":            {http.NotFound, 0, is[*fetch.StatusError]},
		"500":            {func(w http.ResponseWriter, _ *http.Request) { w.WriteHeader(500) }, 0, is[*fetch.StatusError]},
		"page":           {page("text/html; charset=utf-8"), 0, is[*fetch.PageError]},
		"page, untyped":  {page("application/octet-stream"), 0, is[*fetch.PageError]},
		"wrong content":  {send(other), 0, is[*fetch.DigestError]},
		"wrong length":   {send(other[:100]), int64(len(content)), is[*fetch.SizeError]},
		"endless stream": {endless, int64(len(content)), is[*fetch.SizeError]},
		"empty":          {send(nil), 0, is[*fetch.DigestError]},
		"cut at once":    {cut(0), int64(len(content)), is[*fetch.TruncatedError]},
		"to another scheme": {func(w http.ResponseWriter, r *http.Request) {
			http.Redirect(w, r, "ftp://127.0.0.1/", http.StatusFound)
		}, 0, func(err error) bool { return err != nil }},
		"redirect loop": {func(w http.ResponseWriter, r *http.Request) { http.Redirect(w, r, "/", http.StatusFound) }, 0,
			func(err error) bool { return errors.Is(err, fetch.ErrRedirect) }},
		"too large for any disk": {func(w http.ResponseWriter, _ *http.Request) {
			w.Header().Set("Content-Length", fmt.Sprint(int64(1)<<60))
		}, 1 << 60, func(err error) bool { return is[*fetch.SpaceError](err) && errors.Is(err, syscall.ENOSPC) }},
	}
	for name, test := range tests {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			s := serve(t, test.handler)
			dir := t.TempDir()
			var c fetch.Client
			err := c.Get(t.Context(), fetch.File{From: s.URL, Size: test.size, SHA256: digest(content)}, filepath.Join(dir, "file"))
			if !test.is(err) {
				t.Errorf("%T: %v", err, err)
			}
			checkOnly(t, dir)
		})
	}
}

func is[T error](err error) bool { var e T; return errors.As(err, &e) }

// endless sends without a length until the client hangs up.
func endless(w http.ResponseWriter, r *http.Request) {
	for r.Context().Err() == nil {
		if _, err := w.Write(content); err != nil {
			return
		}
	}
}

func TestLocalFailures(t *testing.T) {
	t.Parallel()
	dir := t.TempDir()
	short := filepath.Join(dir, "short")
	if err := os.WriteFile(short, content[:100], 0o600); err != nil {
		t.Fatal(err)
	}
	tests := map[string]struct {
		from string
		size int64
		is   func(error) bool
	}{
		"absent":       {filepath.Join(dir, "absent"), 0, func(err error) bool { return errors.Is(err, os.ErrNotExist) }},
		"folder":       {dir, 0, func(err error) bool { return err != nil }},
		"wrong length": {short, int64(len(content)), is[*fetch.SizeError]},
		"wrong digest": {short, 100, is[*fetch.DigestError]},
	}
	for name, test := range tests {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			into := t.TempDir()
			var c fetch.Client
			if err := c.Get(t.Context(), fetch.File{From: test.from, Size: test.size, SHA256: digest(content)}, filepath.Join(into, "file")); !test.is(err) {
				t.Errorf("%T: %v", err, err)
			}
			checkOnly(t, into)
		})
	}
	var c fetch.Client
	if err := c.Get(t.Context(), fetch.File{From: short}, filepath.Join(dir, "file")); !errors.Is(err, fetch.ErrNoDigest) {
		t.Errorf("%v, want ErrNoDigest", err)
	}
}

// An unreachable server is an error of its own.
func TestUnreachable(t *testing.T) {
	t.Parallel()
	dir := t.TempDir()
	var c fetch.Client
	for _, from := range []string{"http://127.0.0.1:1/", "http://127.0.0.1:bad/"} {
		if err := c.Get(t.Context(), wanted(from), filepath.Join(dir, "file")); !is[*fetch.UnreachableError](err) {
			t.Errorf("%T: %v", err, err)
		}
	}
	checkOnly(t, dir)
}

// Errors name the requested place without its secrets.
func TestSecretsStayOut(t *testing.T) {
	t.Parallel()
	s := serve(t, func(w http.ResponseWriter, r *http.Request) {
		if r.URL.Path == "/" {
			http.Redirect(w, r, "/blob?signature=hush", http.StatusFound)
			return
		}
		panic(http.ErrAbortHandler)
	})
	from := strings.Replace(s.URL, "http://", "http://me:hush@", 1) + "/?token=hush"
	var c fetch.Client
	err := c.Get(t.Context(), fetch.File{From: from, SHA256: digest(content)}, filepath.Join(t.TempDir(), "file"))
	if err == nil || strings.Contains(err.Error(), "hush") {
		t.Error(err)
	}
}

// A redirect never leads from https to http.
func TestDowngrade(t *testing.T) {
	t.Parallel()
	open := serve(t, whole)
	safe := httptest.NewTLSServer(http.RedirectHandler(open.URL, http.StatusFound))
	defer safe.Close()
	c := fetch.Client{HTTP: safe.Client()}
	if err := c.Get(t.Context(), wanted(safe.URL), filepath.Join(t.TempDir(), "file")); !errors.Is(err, fetch.ErrRedirect) {
		t.Errorf("%v, want ErrRedirect", err)
	}
	if len(open.ranges) > 0 {
		t.Error("the open server was asked")
	}
}
