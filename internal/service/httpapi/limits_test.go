package httpapi_test

import (
	"bytes"
	"io"
	"math"
	"net/http"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/bgremove/bgremove/internal/service/httpapi"
	"github.com/bgremove/bgremove/internal/service/job"
	"github.com/bgremove/bgremove/pkg/api"
)

func TestLimits(t *testing.T) {
	t.Parallel()
	s := start(t, func(c *httpapi.Config) { c.Limits = job.Limits{MaxDuration: 2 * time.Second} })
	who := s.user("ada@example.com", 20)
	c := s.client(s.key(who))
	short, long := fileField("short.gif", clip(t, 2, 10)), fileField("long.gif", clip(t, 2, 101))
	for path, fields := range map[string][]field{jobs: {long}, batches: {short, long}} {
		got := decode[api.Error](t, c.submit(path, fields), http.StatusBadRequest)
		if got.Message == nil || !strings.HasPrefix(*got.Message, "long.gif: ") {
			t.Errorf("%s: got %+v", path, got)
		}
	}
	if left, kept := s.balance(who), s.objects(); left != 20 || kept != 0 {
		t.Errorf("%d credits are left and %d objects are kept", left, kept)
	}
}

// TestTooLarge checks for 413 however the size is announced, and before 400.
func TestTooLarge(t *testing.T) {
	t.Parallel()
	s := start(t, func(c *httpapi.Config) { c.MaxFile = 50_000 })
	who := s.user("ada@example.com", 20)
	c := s.client(s.key(who))
	large := func(n int) field { return fileField("a.gif", bytes.Repeat([]byte("x"), n)) }
	for name, test := range map[string]struct {
		path   string
		fields []field
	}{
		"a little":         {jobs, []field{large(50_001)}},
		"by far":           {jobs, []field{large(5_000_000)}},
		"and wrong before": {jobs, []field{{name: "pad", value: "99"}, large(50_001)}},
		"one of a batch":   {batches, []field{fileField("b.gif", clip(t, 2, 10)), large(50_001)}},
	} {
		body, contentType := form(t, test.fields...)
		t.Run(name, func(t *testing.T) {
			c.do(http.MethodPost, test.path, bytes.NewReader(body), "Content-Type", contentType).
				want(t, http.StatusRequestEntityTooLarge, `{"error":"payload_too_large"}`)
		})
		t.Run(name+" without a length", func(t *testing.T) {
			streamed := *c
			streamed.http = http.DefaultClient
			streamed.do(http.MethodPost, test.path, io.MultiReader(bytes.NewReader(body)), "Content-Type", contentType).
				want(t, http.StatusRequestEntityTooLarge, `{"error":"payload_too_large"}`)
		})
	}
	if left, kept := s.balance(who), s.objects(); left != 20 || kept != 0 {
		t.Errorf("%d credits are left and %d objects are kept", left, kept)
	}
	decode[api.BatchCreated](t, c.submit(batches, slices.Repeat([]field{fileField("b.gif", clip(t, 2, 10))}, 2)), http.StatusAccepted)
}

// TestHugeLimit checks that a limit of files that means none does not overflow.
func TestHugeLimit(t *testing.T) {
	t.Parallel()
	s := start(t, func(c *httpapi.Config) { c.MaxFile = math.MaxInt64 })
	c := s.client(s.key(s.user("ada@example.com", 20)))
	for _, path := range []string{jobs, batches} {
		c.submit(path, []field{fileField("a.gif", clip(t, 2, 10))}).wantStatus(t, http.StatusAccepted)
	}
}
