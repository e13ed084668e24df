package bucket_test

import (
	"errors"
	"net/http"
	"net/http/httptest"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/bgremove/bgremove/internal/bucket"
	"github.com/bgremove/bgremove/internal/bucket/buckettest"
	"github.com/bgremove/bgremove/pkg/bgremove"
)

// file is a file with a text.
func file(t *testing.T, text string) string {
	t.Helper()
	path := filepath.Join(t.TempDir(), "file")
	if err := os.WriteFile(path, []byte(text), 0o600); err != nil {
		t.Fatal(err)
	}
	return path
}

func TestAddresses(t *testing.T) {
	t.Parallel()
	for arg, want := range map[string]bool{
		"s3://b/k": true, "azblob://c": true, "gs://b": true, "http://h": true,
		"a/b.gif": false, `C:\a://b`: false, "/a://b": false, "://": false, "a.b://c": false,
	} {
		if bucket.IsAddress(arg) != want {
			t.Errorf("%s: %t", arg, !want)
		}
	}
	for arg, want := range map[string]string{
		"file:///a/b": "/a/b", "file:///C:/a": "C:/a", "file://host/a": "file://host/a", "s3://b": "s3://b", "a": "a",
	} {
		if got := bucket.LocalPath(arg); got != want {
			t.Errorf("%s: %s", arg, got)
		}
	}
}

// Addresses that cannot be right are refused before anything is asked.
func TestOpenRefuses(t *testing.T) {
	t.Parallel()
	for address, want := range map[string]bgremove.Cause{
		"swift://clips/in/":         bucket.UnknownScheme,
		"file://host/in":            bucket.UnknownScheme,
		"s3://":                     bucket.BadAddress,
		"s3:///in":                  bucket.BadAddress,
		"s3://clips/in?regoin=x":    bucket.BadAddress,
		"s3://clips/in?prefix=out":  bucket.BadAddress,
		"azblob://clips?protocol=x": bucket.BadAddress,
	} {
		_, err := bucket.Open(t.Context(), address)
		if e := (*bgremove.Error)(nil); !errors.As(err, &e) || e.Cause != want || e.Kind != bgremove.Invalid || e.Path == "" {
			t.Errorf("%s: %v", address, err)
		}
	}
}

func TestListAndCopy(t *testing.T) {
	t.Parallel()
	s := buckettest.New(t)
	for _, key := range []string{"in/a.gif", "in/sub/b c.gif", "in/ü%20.gif", "in2/x.gif"} {
		if err := s.Put(key, "of "+key); err != nil {
			t.Fatal(err)
		}
	}
	f := buckettest.Open(t, s.Address("in"))
	for recursive, want := range map[bool][]string{false: {"a.gif", "ü%20.gif"}, true: {"a.gif", "sub/b c.gif", "ü%20.gif"}} {
		var got []string
		for name, err := range f.List(t.Context(), recursive) {
			if err != nil {
				t.Fatal(err)
			}
			got = append(got, name)
		}
		if diff := cmp.Diff(want, got); diff != "" {
			t.Error(diff)
		}
		for _, name := range got {
			to := filepath.Join(t.TempDir(), "copy")
			err := f.Download(t.Context(), name, to)
			if text, _ := os.ReadFile(to); err != nil || string(text) != "of in/"+name {
				t.Errorf("%s: %q, %v", name, text, err)
			}
		}
	}
	err := f.Download(t.Context(), "none.gif", filepath.Join(t.TempDir(), "copy"))
	if e := (*bgremove.Error)(nil); !errors.As(err, &e) || e.Kind != bgremove.NotFound || e.Path != "s3://clips/in/none.gif" {
		t.Error(err)
	}
	if at, err := f.Modified(t.Context(), "none.gif"); !at.IsZero() || err != nil {
		t.Errorf("%v, %v", at, err)
	}
}

// An object is replaced only if that is wanted.
func TestUpload(t *testing.T) {
	t.Parallel()
	s := buckettest.New(t)
	f := buckettest.Open(t, s.Address("out/"))
	if err := f.Upload(t.Context(), "a.gif", file(t, "first"), false); err != nil {
		t.Fatal(err)
	}
	if at, err := f.Modified(t.Context(), "a.gif"); at.IsZero() || err != nil {
		t.Errorf("%v, %v", at, err)
	}
	err := f.Upload(t.Context(), "a.gif", file(t, "second"), false)
	if e := (*bgremove.Error)(nil); !errors.As(err, &e) || e.Kind != bgremove.Exists {
		t.Error(err)
	}
	check := func(want string) {
		if got, err := s.Objects(); err != nil || !cmp.Equal(got, map[string]string{"out/a.gif": want}) {
			t.Errorf("%v, %v", got, err)
		}
	}
	check("first")
	if err := f.Upload(t.Context(), "a.gif", file(t, "third"), true); err != nil {
		t.Error(err)
	}
	check("third")
}

// Errors name the place and the cause.
func TestErrors(t *testing.T) {
	t.Parallel()
	none := "s3://none/in/" + buckettest.New(t).Options()
	listRefused := buckettest.Open(t, buckettest.New(t, http.MethodGet, http.MethodHead).Address("in/"))
	putRefused := buckettest.Open(t, buckettest.New(t, http.MethodPut).Address("out/"))
	list := func(f *bucket.Folder) error {
		for _, err := range f.List(t.Context(), true) {
			return err
		}
		return nil
	}
	_, modified := listRefused.Modified(t.Context(), "a.gif")
	for name, c := range map[string]struct {
		err   error
		path  string
		cause bgremove.Cause
	}{
		"no bucket":       {buckettest.Open(t, none).Check(t.Context()), "s3://none/", bucket.NoBucket},
		"no bucket, list": {list(buckettest.Open(t, none)), "s3://none/", bucket.NoBucket},
		"list refused":    {list(listRefused), "s3://clips/in/", bucket.Refused},
		"check refused":   {listRefused.Check(t.Context()), "s3://clips/in/", bucket.Refused},
		"head refused":    {modified, "s3://clips/in/a.gif", bucket.Refused},
		"write refused":   {putRefused.Upload(t.Context(), "a.gif", file(t, "x"), false), "s3://clips/out/a.gif", bucket.WriteRefused},
		"unreachable":     {list(buckettest.Open(t, "s3://clips/in/"+buckettest.Options(buckettest.Nowhere))), "s3://clips/in/", bucket.StorageFailed},
	} {
		if e := (*bgremove.Error)(nil); !errors.As(c.err, &e) || e.Cause != c.cause || e.Path != c.path {
			t.Errorf("%s: %v", name, c.err)
		}
	}
}

// Azure's refusals are told from other errors, too.
func TestAzureRefuses(t *testing.T) {
	t.Setenv("AZURE_STORAGE_ACCOUNT", "test")
	t.Setenv("AZURE_STORAGE_KEY", "dGVzdA==")
	server := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, _ *http.Request) {
		w.Header().Set("X-Ms-Error-Code", "AuthorizationFailure")
		w.WriteHeader(http.StatusForbidden)
	}))
	t.Cleanup(server.Close)
	f := buckettest.Open(t, "azblob://clips/out/?protocol=http&localemu=true&domain="+strings.TrimPrefix(server.URL, "http://"))
	for want, err := range map[bgremove.Cause]error{
		bucket.Refused:      f.Check(t.Context()),
		bucket.WriteRefused: f.Write(t.Context(), "a.json", []byte("{}")),
	} {
		if e := (*bgremove.Error)(nil); !errors.As(err, &e) || e.Cause != want || !strings.HasPrefix(e.Path, "azblob://clips/out/") {
			t.Errorf("%v, want %s", err, want)
		}
	}
}
