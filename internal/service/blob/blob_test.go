package blob_test

import (
	"bytes"
	"context"
	"crypto/sha256"
	"encoding/hex"
	"errors"
	"io"
	"math/rand/v2"
	"net/http/httptest"
	"os"
	"path/filepath"
	"testing"
	"testing/iotest"
	"time"

	"github.com/google/go-cmp/cmp"
	"github.com/johannesboyne/gofakes3"
	"github.com/johannesboyne/gofakes3/backend/s3mem"

	"github.com/bgremove/bgremove/internal/service/blob"
)

// each runs a test on every kind of storage.
func each(t *testing.T, o blob.Options, f func(t *testing.T, s *blob.Store)) {
	t.Run("files", func(t *testing.T) { f(t, open(t, "file://"+t.TempDir(), o)) })
	t.Run("s3", func(t *testing.T) { f(t, open(t, fakeS3(t), o)) })
}

func open(t *testing.T, url string, o blob.Options) *blob.Store {
	t.Helper()
	if o.TempDir == "" {
		o.TempDir = t.TempDir()
	}
	s, err := blob.Open(t.Context(), url, o)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() {
		if err := s.Close(); err != nil {
			t.Error(err)
		}
		if left, err := os.ReadDir(o.TempDir); len(left) > 0 || err != nil {
			t.Errorf("temporary files are left: %v %v", left, err)
		}
	})
	return s
}

// fakeS3 is the URL of a bucket on a server in this process.
func fakeS3(t *testing.T) string {
	t.Helper()
	t.Setenv("AWS_ACCESS_KEY_ID", "test")
	t.Setenv("AWS_SECRET_ACCESS_KEY", "test")
	backend := s3mem.New()
	if err := backend.CreateBucket("objects"); err != nil {
		t.Fatal(err)
	}
	server := httptest.NewServer(gofakes3.New(backend).Server())
	t.Cleanup(server.Close)
	return "s3://objects?region=us-east-1&use_path_style=true&endpoint=" + server.URL
}

// content is n incompressible bytes.
func content(n int) []byte {
	b := make([]byte, n)
	_, _ = rand.NewChaCha8([32]byte{}).Read(b) // it never fails
	return b
}

func object(b []byte) blob.Object {
	sum := sha256.Sum256(b)
	return blob.Object{Size: int64(len(b)), SHA256: hex.EncodeToString(sum[:])}
}

func keys(t *testing.T, s *blob.Store, prefix string) []string {
	t.Helper()
	var found []string
	for info, err := range s.List(t.Context(), prefix) {
		if err != nil {
			t.Fatal(err)
		}
		found = append(found, info.Key)
	}
	return found
}

func TestReceive(t *testing.T) {
	each(t, blob.Options{}, func(t *testing.T, s *blob.Store) {
		for name, size := range map[string]int{"inputs/empty": 0, "inputs/small": 1000, "inputs/large": 12<<20 + 1} {
			want := content(size)
			u, err := s.Receive(t.Context(), name, iotest.HalfReader(bytes.NewReader(want)), int64(size))
			if err != nil {
				t.Fatal(err)
			}
			if diff := cmp.Diff(object(want), u.Object); diff != "" {
				t.Errorf("%s: %s", name, diff)
			}
			if got, err := os.ReadFile(u.Path); err != nil || !bytes.Equal(got, want) {
				t.Errorf("%s: %d bytes lie at its path, %v", name, len(got), err)
			}
			u.Release()
			u.Release()
			read(t, s, name, 0, -1, want)
			if info, err := s.Stat(t.Context(), name); err != nil || info.Size != int64(size) || time.Since(info.ModTime).Abs() > time.Hour {
				t.Errorf("%s: %+v, %v", name, info, err)
			}
		}
		if diff := cmp.Diff([]string{"inputs/empty", "inputs/large", "inputs/small"}, keys(t, s, "inputs/")); diff != "" {
			t.Error(diff)
		}
	})
}

func read(t *testing.T, s *blob.Store, key string, offset, length int64, want []byte) {
	t.Helper()
	r, err := s.Open(t.Context(), key, offset, length)
	if err != nil {
		t.Fatal(err)
	}
	defer r.Close()
	if got, err := io.ReadAll(r); err != nil || !bytes.Equal(got, want) {
		t.Errorf("%s from %d: %d bytes, %v", key, offset, len(got), err)
	}
}

func TestOpen(t *testing.T) {
	each(t, blob.Options{}, func(t *testing.T, s *blob.Store) {
		path := filepath.Join(t.TempDir(), "f")
		all := content(100_000)
		if err := os.WriteFile(path, all, 0o600); err != nil {
			t.Fatal(err)
		}
		got, err := s.PutFile(t.Context(), "jobs/1/out-1.gif", path)
		if diff := cmp.Diff(object(all), got); diff != "" || err != nil {
			t.Fatalf("%v %s", err, diff)
		}
		read(t, s, "jobs/1/out-1.gif", 0, -1, all)
		read(t, s, "jobs/1/out-1.gif", 99_990, -1, all[99_990:])
		read(t, s, "jobs/1/out-1.gif", 10, 20, all[10:30])
		read(t, s, "jobs/1/out-1.gif", 10, 0, nil)
	})
}

// A stream that is too long, ends early, or has a failing reader leaves
// nothing.
func TestReceiveNothing(t *testing.T) {
	broken := errors.New("the client is gone")
	for name, c := range map[string]struct {
		reader func(cancel func()) io.Reader
		is     error
	}{
		"too large": {func(func()) io.Reader { return bytes.NewReader(content(6<<20 + 1)) }, blob.ErrTooLarge},
		"a little":  {func(func()) io.Reader { return iotest.OneByteReader(bytes.NewReader(content(3))) }, nil},
		"broken": {func(func()) io.Reader {
			return io.MultiReader(bytes.NewReader(content(6<<20)), iotest.ErrReader(broken))
		}, broken},
		"broken early": {func(func()) io.Reader { return iotest.ErrReader(broken) }, broken},
		"given up":     {func(cancel func()) io.Reader { cancel(); return bytes.NewReader(content(6 << 20)) }, context.Canceled},
		"times out": {func(func()) io.Reader {
			return iotest.DataErrReader(iotest.TimeoutReader(bytes.NewReader(content(1 << 20))))
		}, iotest.ErrTimeout},
	} {
		t.Run(name, func(t *testing.T) {
			each(t, blob.Options{}, func(t *testing.T, s *blob.Store) {
				ctx, cancel := context.WithCancel(t.Context())
				defer cancel()
				_, err := s.Receive(ctx, "inputs/1", c.reader(cancel), 6<<20)
				if c.is == nil {
					if err != nil {
						t.Error(err)
					}
					return
				}
				if !errors.Is(err, c.is) {
					t.Errorf("the error is %v", err)
				}
				if found := keys(t, s, ""); len(found) > 0 {
					t.Errorf("left: %v", found)
				}
				if n, err := s.Sweep(t.Context(), time.Now().Add(time.Hour)); n != 0 || err != nil {
					t.Errorf("%d leftovers, %v", n, err)
				}
			})
		})
	}
}

func TestLocal(t *testing.T) {
	each(t, blob.Options{}, func(t *testing.T, s *blob.Store) {
		want := content(1 << 20)
		u, err := s.Receive(t.Context(), "inputs/1", bytes.NewReader(want), 1<<20)
		if err != nil {
			t.Fatal(err)
		}
		u.Release()
		path, release, err := s.Local(t.Context(), "inputs/1")
		if err != nil {
			t.Fatal(err)
		}
		if got, err := os.ReadFile(path); err != nil || !bytes.Equal(got, want) {
			t.Errorf("%d bytes, %v", len(got), err)
		}
		release()
		read(t, s, "inputs/1", 0, -1, want)
	})
}

func TestDelete(t *testing.T) {
	each(t, blob.Options{}, func(t *testing.T, s *blob.Store) {
		for range 2 {
			if u, err := s.Receive(t.Context(), "jobs/1/out-1.gif", bytes.NewReader(nil), 1); err != nil {
				t.Fatal(err)
			} else {
				u.Release()
			}
			for range 2 {
				if err := s.Delete(t.Context(), "jobs/1/out-1.gif"); err != nil {
					t.Error(err)
				}
			}
		}
		if _, err := s.Stat(t.Context(), "jobs/1/out-1.gif"); !errors.Is(err, blob.ErrNotFound) {
			t.Errorf("stat: %v", err)
		}
		if _, err := s.Open(t.Context(), "jobs/1/out-1.gif", 0, -1); !errors.Is(err, blob.ErrNotFound) {
			t.Errorf("open: %v", err)
		}
		if _, _, err := s.Local(t.Context(), "jobs/1/out-1.gif"); !errors.Is(err, blob.ErrNotFound) {
			t.Errorf("local: %v", err)
		}
		if err := s.Ping(t.Context()); err != nil {
			t.Error(err)
		}
	})
}

func TestOpenRefuses(t *testing.T) {
	t.Parallel()
	for _, url := range []string{"", "/var/objects", "file://relative/x", "ftp://x", "file:///dev/null/x"} {
		if s, err := blob.Open(t.Context(), url, blob.Options{}); err == nil {
			t.Errorf("%q is open: %v", url, s.Close())
		}
	}
}
