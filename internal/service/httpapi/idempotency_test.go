package httpapi_test

import (
	"net/http"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/bgremove/bgremove/internal/service/job"
	"github.com/bgremove/bgremove/internal/service/price"
	"github.com/bgremove/bgremove/pkg/api"
)

func TestIdempotency(t *testing.T) {
	t.Parallel()
	s := start(t, nil)
	who := s.user("ada@example.com", 50)
	c := s.client(s.key(who))
	content := clip(t, 2, 10)
	one, option := fileField("a.gif", content), field{name: "pad", value: "3"}
	again := []string{"Idempotency-Key", "order 1"}

	first := decode[api.JobCreated](t, c.submit(jobs, []field{one, option}, again...), http.StatusAccepted)
	// Another boundary and another order of fields are the same submission.
	second := decode[api.JobCreated](t, c.submit(jobs, []field{option, one}, again...), http.StatusAccepted)
	if diff := cmp.Diff(first, second); diff != "" {
		t.Errorf("(-first +second):\n%s", diff)
	}
	if left, kept := s.balance(who), s.objects(); left != 50-price.Least || kept != 1 {
		t.Errorf("%d credits are left and %d objects are kept", left, kept)
	}
	for name, fields := range map[string][]field{
		"other option": {one, {name: "pad", value: "4"}},
		"other name":   {fileField("b.gif", content), option},
		"other file":   {fileField("a.gif", clip(t, 3, 10)), option},
	} {
		got := c.submit(jobs, fields, again...)
		got.want(t, http.StatusConflict, `{"error":"idempotency_conflict"}`)
		if got.header.Get("Retry-After") != "" {
			t.Errorf("%s: asked to try again", name)
		}
	}
	c.submit(batches, []field{one, option}, again...).want(t, http.StatusConflict, `{"error":"idempotency_conflict"}`)
	other := decode[api.JobCreated](t, s.client(s.key(who)).submit(jobs, []field{one, option}, again...), http.StatusAccepted)
	if other.ID == first.ID {
		t.Error("another key got the same job")
	}
	if left, kept := s.balance(who), s.objects(); left != 50-2*price.Least || kept != 2 {
		t.Errorf("%d credits are left and %d objects are kept", left, kept)
	}
}

// TestIdempotencyOfBatches checks for the same answer, with an unreadable file
// and with the earlier balance.
func TestIdempotencyOfBatches(t *testing.T) {
	t.Parallel()
	s := start(t, nil)
	who := s.user("ada@example.com", 50)
	c := s.client(s.key(who))
	fields := []field{fileField("a.gif", clip(t, 2, 10)), fileField("bad.gif", []byte("no"))}
	first := decode[api.BatchCreated](t, c.submit(batches, fields, "Idempotency-Key", "b"), http.StatusAccepted)
	second := decode[api.BatchCreated](t, c.submit(batches, fields, "Idempotency-Key", "b"), http.StatusAccepted)
	if diff := cmp.Diff(first, second); diff != "" {
		t.Errorf("(-first +second):\n%s", diff)
	}
	if left := s.balance(who); left != 50-price.Least {
		t.Errorf("%d credits are left", left)
	}
}

// TestIdempotencyOfRefusals checks that a refusal is not remembered.
func TestIdempotencyOfRefusals(t *testing.T) {
	t.Parallel()
	s := start(t, nil)
	who := s.user("ada@example.com", 0)
	c := s.client(s.key(who))
	fields := []field{fileField("a.gif", clip(t, 2, 10))}
	c.submit(jobs, fields, "Idempotency-Key", "k").want(t, http.StatusPaymentRequired, poor(0))
	if _, err := s.ledger.Grant(t.Context(), who.ID, price.Least, "test"); err != nil {
		t.Fatal(err)
	}
	decode[api.JobCreated](t, c.submit(jobs, fields, "Idempotency-Key", "k"), http.StatusAccepted)
}

func TestIdempotencyKeys(t *testing.T) {
	t.Parallel()
	s := start(t, nil)
	c := s.client(s.key(s.user("ada@example.com", 50)))
	for name, test := range map[string]struct {
		header []string
		field  bool
	}{
		"empty": {[]string{"Idempotency-Key", ""}, true},
		"long":  {[]string{"Idempotency-Key", strings.Repeat("x", 256)}, true},
		"twice": {[]string{"Idempotency-Key", "a", "Idempotency-Key", "b"}, false},
	} {
		got := decode[api.Error](t, c.submit(jobs, []field{fileField("a.gif", clip(t, 2, 10))}, test.header...), http.StatusBadRequest)
		if got.Message == nil || (got.Field != nil) != test.field {
			t.Errorf("%s: got %+v", name, got)
		}
	}
	longest := strings.Repeat("ä", 255) // the limit is of characters
	decode[api.JobCreated](t, c.submit(jobs, []field{fileField("a.gif", clip(t, 2, 10))}, "Idempotency-Key", longest), http.StatusAccepted)
	s.client("").submit(jobs, nil, "Idempotency-Key", "a", "Idempotency-Key", "b").want(t, http.StatusUnauthorized, `{"error":"unauthorized"}`)
}

// TestIdempotencyWhileRunning sends requests during the upload of the first
// one.
func TestIdempotencyWhileRunning(t *testing.T) {
	t.Parallel()
	s := start(t, nil)
	who := s.user("ada@example.com", 50)
	c := s.client(s.key(who))
	reservation, err := s.jobs.Reserve(t.Context(), s.owner(c), "k")
	if err != nil {
		t.Fatal(err)
	}
	defer reservation.Close()
	one := fileField("a.gif", clip(t, 2, 10))
	got := c.submit(jobs, []field{one}, "Idempotency-Key", "k")
	got.want(t, http.StatusConflict, `{"error":"idempotency_conflict"}`)
	if got.header.Get("Retry-After") != "1" {
		t.Errorf("Retry-After is %q", got.header.Get("Retry-After"))
	}
	wrong := c.submit(jobs, []field{one, {name: "pad", value: "x"}}, "Idempotency-Key", "k")
	if wrong.status != http.StatusBadRequest || wrong.header.Get("Retry-After") != "" {
		t.Errorf("a wrong form gets %d %v", wrong.status, wrong.header)
	}
	if kept := s.objects(); kept != 0 {
		t.Errorf("%d objects are kept", kept)
	}
	reservation.Close()
	decode[api.JobCreated](t, c.submit(jobs, []field{one}, "Idempotency-Key", "k"), http.StatusAccepted)
}

// owner is a client's identity for the job service.
func (s *service) owner(c *client) job.Owner {
	s.Helper()
	key, err := s.keys.Identify(s.Context(), strings.TrimPrefix(c.header.Get("Authorization"), "Bearer "))
	if err != nil {
		s.Fatal(err)
	}
	return job.Owner{AccountID: key.AccountID, KeyID: key.ID}
}
