//go:build gs

package bucket_test

import (
	"errors"
	"net/http/httptest"
	"os"
	"path/filepath"
	"slices"
	"testing"

	"github.com/fsouza/fake-gcs-server/fakestorage"

	"github.com/bgremove/bgremove/internal/bucket"
	"github.com/bgremove/bgremove/internal/bucket/buckettest"
	"github.com/bgremove/bgremove/pkg/bgremove"
)

// A folder on Google Cloud Storage is listed, read and written, and an output does not
// replace one that is there.
func TestGoogle(t *testing.T) {
	object := func(name, content string) fakestorage.Object {
		return fakestorage.Object{ObjectAttrs: fakestorage.ObjectAttrs{BucketName: "clips", Name: name}, Content: []byte(content)}
	}
	server := httptest.NewUnstartedServer(nil)
	address := server.Listener.Addr().String() // the storage must know it
	storage, err := fakestorage.NewServerWithOptions(fakestorage.Options{
		NoListener: true, PublicHost: address, InitialObjects: []fakestorage.Object{object("in/a.gif", "A"), object("in/day/b.gif", "B"), object("other.gif", "C")},
	})
	if err != nil {
		t.Fatal(err)
	}
	server.Config.Handler = storage.HTTPHandler()
	server.Start()
	t.Cleanup(server.Close)
	t.Setenv("STORAGE_EMULATOR_HOST", address)
	in, out := buckettest.Open(t, "gs://clips/in/"), buckettest.Open(t, "gs://clips/out/")
	if err := errors.Join(in.Check(t.Context()), out.Check(t.Context())); err != nil {
		t.Fatal(err)
	}
	var names []string
	for name, err := range in.List(t.Context(), true) {
		if err != nil {
			t.Fatal(err)
		}
		names = append(names, name)
	}
	if !slices.Equal(names, []string{"a.gif", "day/b.gif"}) {
		t.Errorf("listed %q", names)
	}
	path := filepath.Join(t.TempDir(), "b.gif")
	if err := in.Download(t.Context(), "day/b.gif", path); err != nil {
		t.Fatal(err)
	}
	if content, err := os.ReadFile(path); err != nil || string(content) != "B" {
		t.Errorf("downloaded %q, %v", content, err)
	}
	if err := out.Upload(t.Context(), "day/b-nobg.gif", path, false); err != nil {
		t.Fatal(err)
	}
	err = out.Upload(t.Context(), "day/b-nobg.gif", path, false)
	if e := (*bgremove.Error)(nil); !errors.As(err, &e) || e.Kind != bgremove.Exists || e.Path != "gs://clips/out/day/b-nobg.gif" {
		t.Errorf("a second time: %v", err)
	}
	if content, err := out.Read(t.Context(), "day/b-nobg.gif"); err != nil || string(content) != "B" {
		t.Errorf("read %q, %v", content, err)
	}
	if err := buckettest.Open(t, "gs://absent/in/").Check(t.Context()); err == nil {
		t.Error("a bucket that is missing is not refused")
	} else if e := (*bgremove.Error)(nil); !errors.As(err, &e) || e.Cause != bucket.NoBucket {
		t.Errorf("a bucket that is missing: %v", err)
	}
}
