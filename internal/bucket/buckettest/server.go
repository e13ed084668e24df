// Package buckettest serves buckets to tests.
package buckettest

import (
	"fmt"
	"io"
	"maps"
	"net/http"
	"net/http/httptest"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/johannesboyne/gofakes3"
	"github.com/johannesboyne/gofakes3/backend/s3mem"

	"github.com/bgremove/bgremove/internal/bucket"
)

// Name is the bucket that a server has.
const Name = "clips"

// Nowhere is where no server is. The port of a closed one is soon that of another test.
const Nowhere = "http://127.0.0.1:1"

// Server is an S3 server in this process, with one bucket.
type Server struct {
	http    *httptest.Server
	objects *s3mem.Backend
}

// Start starts a server. Requests with a method of refused get no permission.
func Start(refused ...string) (*Server, error) {
	s := &Server{objects: s3mem.New()}
	if err := s.objects.CreateBucket(Name); err != nil {
		return nil, err
	}
	all := gofakes3.New(s.objects).Server()
	s.http = httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		if slices.Contains(refused, r.Method) {
			w.WriteHeader(http.StatusForbidden)
			fmt.Fprint(w, "<Error><Code>AccessDenied</Code><Message>Access Denied</Message></Error>")
			return
		}
		all.ServeHTTP(w, r)
	}))
	return s, nil
}

// New starts a server for a test.
func New(t *testing.T, refused ...string) *Server {
	t.Helper()
	s, err := Start(refused...)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(s.Close)
	return s
}

// Close ends the server.
func (s *Server) Close() { s.http.Close() }

// Address is that of a folder of the bucket.
func (s *Server) Address(folder string) string {
	return "s3://" + Name + "/" + folder + s.Options()
}

// Options are those of addresses, from the question mark on.
func (s *Server) Options() string { return Options(s.http.URL) }

// Options are those of addresses at a server with a URL, from the question mark on.
func Options(server string) string {
	return "?anonymous=true&region=us-east-1&use_path_style=true&endpoint=" + server
}

// Put stores an object.
func (s *Server) Put(key, content string) error {
	now := map[string]string{"Last-Modified": time.Now().UTC().Format(http.TimeFormat)}
	_, err := s.objects.PutObject(Name, key, now, strings.NewReader(content), int64(len(content)), nil)
	return err
}

// Objects are the contents of all objects, by their keys.
func (s *Server) Objects() (map[string]string, error) {
	found := map[string]string{}
	list, err := s.objects.ListBucket(Name, nil, gofakes3.ListBucketPage{})
	if err != nil {
		return nil, err
	}
	for _, o := range list.Contents {
		object, err := s.objects.GetObject(Name, o.Key, nil)
		if err != nil {
			return nil, err
		}
		text, err := io.ReadAll(object.Contents)
		if err != nil {
			return nil, err
		}
		found[o.Key] = string(text)
	}
	return found, nil
}

// Keys are those of all objects, sorted.
func (s *Server) Keys() ([]string, error) {
	all, err := s.Objects()
	return slices.Sorted(maps.Keys(all)), err
}

// Open opens a folder for a test.
func Open(t testing.TB, address string) *bucket.Folder {
	t.Helper()
	f, err := bucket.Open(t.Context(), address)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { _ = f.Close() })
	return f
}
