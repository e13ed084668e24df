package server_test

import (
	"bufio"
	"fmt"
	"net/http"
	"net/url"
	"strings"
	"testing"

	"github.com/bgremove/bgremove/internal/service/mailer"
	"github.com/bgremove/bgremove/internal/service/mailer/mailertest"
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

// TestStopMail checks that a request that ends while the node stops still has its mail sent.
func TestStopMail(t *testing.T) {
	t.Parallel()
	post := mailertest.Start(t, mailertest.Config{})
	c := configuration(t, storetest.SQLite(t))
	c.PublicURL = &url.URL{Scheme: "http", Host: "clips.example"}
	c.Mail = mailer.Config{Server: &url.URL{Scheme: "smtp", Host: mailertest.Host}, From: "noreply@clips.example", RootCAs: post.RootCAs, Dial: post.Dial}
	n := start(t, c)
	newCustomer(t, c.Database, 0)
	conn, err := n.dial()
	if err != nil {
		t.Fatal(err)
	}
	defer conn.Close()
	answers := bufio.NewReader(conn)
	expect := func(status int) {
		t.Helper()
		got, err := http.ReadResponse(answers, nil)
		if err != nil {
			t.Fatal(err)
		}
		_ = got.Body.Close()
		if got.StatusCode != status {
			t.Fatalf("got %s, want %d", got.Status, status)
		}
	}
	const body = `{"email":"ada@example.com"}`
	fmt.Fprintf(conn, "POST /api/password-resets HTTP/1.1\r\nHost: clips.example\r\nExpect: 100-continue\r\nContent-Length: %d\r\n\r\n", len(body))
	expect(http.StatusContinue) // it is under way
	stopped := make(chan error)
	go func() { stopped <- n.stop() }()
	n.refuses()
	fmt.Fprint(conn, body)
	expect(http.StatusAccepted)
	if err := <-stopped; err != nil {
		t.Error(err)
	}
	if m := post.Next(t); m.Link("http://clips.example/reset/") == "" {
		t.Errorf("arrived: %+v", m)
	}
}
