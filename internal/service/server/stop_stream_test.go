package server_test

import (
	"bufio"
	"net/http"
	"strings"
	"testing"

	"github.com/bgremove/bgremove/internal/service/store/storetest"
)

// TestStopStreams checks that a stream of events ends normally when the node is
// told to stop, and is not cut off after a timeout.
func TestStopStreams(t *testing.T) {
	t.Parallel()
	n, signIn := startLocal(t, configuration(t, storetest.SQLite(t)))
	v := newVisitor(t)
	v.get(signIn)
	r, err := http.NewRequestWithContext(t.Context(), http.MethodGet, n.url+"/api/jobs/events", nil)
	if err != nil {
		t.Fatal(err)
	}
	stream, err := v.http.Do(r)
	if err != nil {
		t.Fatal(err)
	}
	defer stream.Body.Close()
	lines := bufio.NewScanner(stream.Body)
	for lines.Scan() && !strings.HasPrefix(lines.Text(), "data: ") {
		continue // until it is ready
	}
	n.stopped()
	for lines.Scan() {
		continue // to its end
	}
	if err := lines.Err(); err != nil {
		t.Errorf("the stream was cut off: %v", err)
	}
}
