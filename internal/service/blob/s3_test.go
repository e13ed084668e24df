package blob_test

import (
	"bytes"
	"context"
	"errors"
	"io"
	"net/url"
	"os"
	"path/filepath"
	"runtime"
	"runtime/debug"
	"strings"
	"testing"
	"time"

	"github.com/aws/aws-sdk-go-v2/aws"
	"github.com/aws/aws-sdk-go-v2/config"
	"github.com/aws/aws-sdk-go-v2/service/s3"

	"github.com/bgremove/bgremove/internal/service/blob"
)

// A write to a bucket that is gone is a failure of the storage, and no missing object.
func TestBucketGone(t *testing.T) {
	s := open(t, strings.Replace(fakeS3(t), "//objects?", "//gone?", 1), blob.Options{})
	file := filepath.Join(t.TempDir(), "file")
	if err := os.WriteFile(file, content(10), 0o600); err != nil {
		t.Fatal(err)
	}
	_, received := s.Receive(t.Context(), "inputs/1", bytes.NewReader(content(10)), 10)
	_, put := s.PutFile(t.Context(), "jobs/1/out", file)
	for _, err := range []error{received, put} {
		if e := (*blob.Error)(nil); !errors.As(err, &e) || errors.Is(err, blob.ErrNotFound) {
			t.Errorf("the error is %v", err)
		}
	}
}

// The parts of a killed process are removed once they are old.
func TestSweepParts(t *testing.T) {
	at := fakeS3(t)
	s := open(t, at, blob.Options{})
	beginUpload(t, at, "inputs/1")
	for _, c := range []struct {
		before time.Time
		want   int
	}{{time.Now().Add(-time.Hour), 0}, {time.Now().Add(time.Hour), 1}, {time.Now().Add(time.Hour), 0}} {
		if n, err := s.Sweep(t.Context(), c.before); n != c.want || err != nil {
			t.Errorf("%d swept, not %d: %v", n, c.want, err)
		}
	}
}

// An upload that another node has aborted meanwhile does not end the sweep.
func TestSweepPartsTogether(t *testing.T) {
	s := open(t, sweptS3(t), blob.Options{})
	if n, err := s.Sweep(t.Context(), time.Now()); n != 1 || err != nil {
		t.Errorf("%d swept, not 1: %v", n, err)
	}
}

// beginUpload begins a multipart upload and leaves it unfinished.
func beginUpload(t *testing.T, at, key string) {
	t.Helper()
	u, err := url.Parse(at)
	if err != nil {
		t.Fatal(err)
	}
	c, err := config.LoadDefaultConfig(t.Context(), config.WithRegion("us-east-1"))
	if err != nil {
		t.Fatal(err)
	}
	client := s3.NewFromConfig(c, func(o *s3.Options) {
		o.BaseEndpoint, o.UsePathStyle = aws.String(u.Query().Get("endpoint")), true
	})
	if _, err := client.CreateMultipartUpload(t.Context(), &s3.CreateMultipartUploadInput{Bucket: &u.Host, Key: &key}); err != nil {
		t.Fatal(err)
	}
}

// Temporary copies are bounded: an upload that does not fit fails, and a
// download waits for its turn.
func TestTempSpace(t *testing.T) {
	s := open(t, fakeS3(t), blob.Options{TempSpace: 1 << 20})
	receive := func(key string, size int) (*blob.Upload, error) {
		return s.Receive(t.Context(), key, bytes.NewReader(content(size)), 2<<20)
	}
	_, err := receive("inputs/1", 1<<20+1)
	if e := (*blob.Error)(nil); !errors.As(err, &e) {
		t.Errorf("more than there is room for: %v", err)
	}
	if found := keys(t, s, ""); len(found) > 0 {
		t.Errorf("left: %v", found)
	}
	u, err := receive("inputs/2", 600<<10)
	if err != nil {
		t.Fatal(err)
	}
	if _, err := receive("inputs/3", 600<<10); err == nil {
		t.Error("two copies have room for one")
	}
	short, cancel := context.WithCancel(t.Context())
	cancel()
	if _, _, err := s.Local(short, "inputs/2"); !errors.Is(err, context.Canceled) {
		t.Errorf("a download did not wait: %v", err)
	}
	if _, _, err := s.LocalNow(t.Context(), "inputs/2"); !errors.Is(err, blob.ErrNoTempSpace) {
		t.Errorf("a download that must not wait: %v", err)
	}
	u.Release()
	_, release, err := s.Local(t.Context(), "inputs/2")
	if err != nil {
		t.Fatal(err)
	}
	release()
}

// Receiving on S3 takes memory for parts, not for the whole. The usual server
// in this process keeps everything, so this one drops its input.
func TestReceiveMemory(t *testing.T) {
	if testing.Short() {
		t.Skip("200 MB")
	}
	s := open(t, droppingS3(t), blob.Options{})
	defer debug.SetGCPercent(debug.SetGCPercent(20))
	const size = 200_000_000
	var peak uint64
	var before runtime.MemStats
	runtime.GC()
	runtime.ReadMemStats(&before)
	watch := &watcher{r: io.LimitReader(zeros{}, size), every: 10_000_000, f: func() {
		var now runtime.MemStats
		runtime.ReadMemStats(&now)
		peak = max(peak, now.HeapAlloc)
	}}
	u, err := s.Receive(t.Context(), "inputs/1", watch, size)
	if err != nil {
		t.Fatal(err)
	}
	u.Release()
	if grown := int64(peak) - int64(before.HeapAlloc); grown > 40_000_000 {
		t.Errorf("%.1f MB for an upload of 200 MB", float64(grown)/1e6)
	} else {
		t.Logf("%.1f MB", float64(grown)/1e6)
	}
}

// watcher calls f during each read.
type watcher struct {
	r           io.Reader
	every, read int
	f           func()
}

func (w *watcher) Read(p []byte) (int, error) {
	n, err := w.r.Read(p)
	if (w.read+n)/w.every > w.read/w.every {
		w.f()
	}
	w.read += n
	return n, err
}

type zeros struct{}

func (zeros) Read(p []byte) (int, error) { clear(p); return len(p), nil }
