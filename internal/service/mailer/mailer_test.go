package mailer_test

import (
	"context"
	"crypto/x509"
	"errors"
	"log/slog"
	"net"
	"net/url"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/emersion/go-smtp"
	"github.com/google/go-cmp/cmp"

	"github.com/bgremove/bgremove/internal/service/mailer"
	"github.com/bgremove/bgremove/internal/service/mailer/mailertest"
	"github.com/bgremove/bgremove/internal/testlog"
)

var hello = mailer.Message{To: "bob@example.com", Subject: "Grüße", Text: "Hello, Bob.\n\nhttps://clips.example/reset/abc\n"}

// connect makes a mailer that uses the server at a URL.
func connect(t *testing.T, s *mailertest.Server, server string) *mailer.Mailer {
	t.Helper()
	u, err := mailer.ParseServer(server)
	if err != nil {
		t.Fatal(err)
	}
	m, err := mailer.New(mailer.Config{Server: u, From: "Clips <noreply@clips.example>", RootCAs: s.RootCAs, Dial: s.Dial})
	if err != nil {
		t.Fatal(err)
	}
	return m
}

func TestSend(t *testing.T) {
	t.Parallel()
	for name, test := range map[string]struct {
		server  mailertest.Config
		url     string
		private bool
		user    string
	}{
		"starttls":          {mailertest.Config{}, "smtp://" + mailertest.Host, true, ""},
		"starttls and user": {mailertest.Config{Password: "a@b:c"}, "smtp://ann:a%40b%3Ac@" + mailertest.Host + ":2525", true, "ann"},
		"tls":               {mailertest.Config{TLS: true, Password: "pw"}, "smtps://ann:pw@ADDRESS", true, "ann"},
		"this machine":      {mailertest.Config{NoStartTLS: true}, "smtp://localhost", false, ""},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			s := mailertest.Start(t, test.server)
			if err := connect(t, s, strings.Replace(test.url, "ADDRESS", s.Addr, 1)).Send(t.Context(), hello); err != nil {
				t.Fatal(err)
			}
			got := s.Next(t)
			if got.Private != test.private || got.User != test.user {
				t.Errorf("private %v, user %q", got.Private, got.User)
			}
			if got.From != "noreply@clips.example" || !cmp.Equal(got.To, []string{"bob@example.com"}) || got.Text != hello.Text {
				t.Errorf("arrived: %+v", got)
			}
			if from := got.Header.Get("From"); from != `"Clips" <noreply@clips.example>` {
				t.Errorf("from %s", from)
			}
			for name, want := range map[string]string{"Subject": "=?UTF-8?q?Gr=C3=BC=C3=9Fe?=", "To": "<bob@example.com>",
				"Content-Type": "text/plain; charset=UTF-8", "Auto-Submitted": "auto-generated"} {
				if v := got.Header.Get(name); v != want {
					t.Errorf("%s is %q, want %q", name, v, want)
				}
			}
			if got.Link("https://clips.example/reset/") != "https://clips.example/reset/abc" {
				t.Errorf("no link in %q", got.Text)
			}
		})
	}
}

// A mail that cannot be sent privately, or under the given name, is not sent.
func TestSendRefused(t *testing.T) {
	t.Parallel()
	for name, test := range map[string]struct {
		server mailertest.Config
		url    string
		change func(*mailer.Mailer)
		want   string
	}{
		"no starttls":       {mailertest.Config{NoStartTLS: true, Password: "pw"}, "smtp://ann:pw@" + mailertest.Host, nil, "STARTTLS"},
		"wrong certificate": {mailertest.Config{}, "smtp://" + mailertest.Host, func(m *mailer.Mailer) { m.RootCAs = x509.NewCertPool() }, "certificate"},
		"wrong name":        {mailertest.Config{}, "smtp://other.example", nil, "other.example"},
		"wrong password":    {mailertest.Config{Password: "pw"}, "smtp://ann:no@" + mailertest.Host, nil, "Authentication failed"},
		"no password":       {mailertest.Config{Password: "pw"}, "smtp://" + mailertest.Host, nil, "authenticate first"},
		"recipient": {mailertest.Config{Refuse: &smtp.SMTPError{Code: 550, EnhancedCode: smtp.EnhancedCode{5, 1, 1}, Message: "no such person"}},
			"smtp://" + mailertest.Host, nil, "no such person"},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			s := mailertest.Start(t, test.server)
			m := connect(t, s, test.url)
			if test.change != nil {
				test.change(m)
			}
			err := m.Send(t.Context(), hello)
			if err == nil || !strings.Contains(err.Error(), test.want) {
				t.Errorf("got %v, want %s", err, test.want)
			}
			if err != nil && strings.Contains(err.Error(), "ann:") {
				t.Errorf("the error tells the password: %v", err)
			}
			s.None(t)
		})
	}
}

// Nobody can inject headers or further recipients.
func TestSendInjection(t *testing.T) {
	t.Parallel()
	s := mailertest.Start(t, mailertest.Config{})
	m := connect(t, s, "smtp://"+mailertest.Host)
	for _, msg := range []mailer.Message{
		{To: "bob@example.com\r\nBcc: eve@example.com", Subject: "x"},
		{To: "bob@example.com", Subject: "x\r\nBcc: eve@example.com"},
		{To: "bob@example.com\nDATA", Subject: "x"},
		{To: "bob@example.com\x00", Subject: "x"},
		{To: "bob@example.com>\tSIZE=1", Subject: "x"},
	} {
		if err := m.Send(t.Context(), msg); err == nil {
			t.Errorf("to %q, %q was sent: %+v", msg.To, msg.Subject, s.Next(t))
		}
	}
	// A single dot and "From" in a body are plain text.
	odd := mailer.Message{To: "bob@example.com", Subject: "x", Text: ".\nQUIT\n.\nFrom me\n"}
	if err := m.Send(t.Context(), odd); err != nil {
		t.Fatal(err)
	}
	if got := s.Next(t); got.Text != odd.Text || len(got.To) != 1 {
		t.Errorf("arrived: %+v", got)
	}
	if err := m.Send(t.Context(), mailer.Message{To: "bob@example.com, eve@example.com", Subject: "x"}); err == nil {
		if got := s.Next(t); len(got.To) != 1 {
			t.Errorf("sent to %v", got.To)
		}
	}
}

func TestSendServerAway(t *testing.T) {
	t.Parallel()
	s := mailertest.Start(t, mailertest.Config{})
	m := connect(t, s, "smtp://"+mailertest.Host)
	s.Stop()
	if err := m.Send(t.Context(), hello); err == nil {
		t.Error("nobody was there")
	}
	silent, err := (&net.ListenConfig{}).Listen(t.Context(), "tcp", "127.0.0.1:0")
	if err != nil {
		t.Fatal(err)
	}
	defer silent.Close()
	m.Timeout = 50 * time.Millisecond
	m.Dial = func(ctx context.Context, network, _ string) (net.Conn, error) {
		return (&net.Dialer{}).DialContext(ctx, network, silent.Addr().String())
	}
	if err := m.Send(t.Context(), hello); err == nil {
		t.Error("nobody answered")
	}
}

func TestOutbox(t *testing.T) {
	t.Parallel()
	s := mailertest.Start(t, mailertest.Config{})
	var log testlog.Lines
	box := mailer.NewOutbox(connect(t, s, "smtp://"+mailertest.Host), slog.New(slog.NewTextHandler(&log, nil)))
	write := func(msg mailer.Message, err error) mailer.Letter {
		return func(context.Context) (mailer.Message, error) { return msg, err }
	}
	box.Add(write(mailer.Message{}, nil)) // none
	box.Add(write(mailer.Message{}, errors.New("no such page")))
	box.Add(write(hello, nil))
	ctx, stop := context.WithCancel(t.Context())
	var running sync.WaitGroup
	running.Go(func() { box.Run(ctx) })
	s.Next(t)
	// Waiting mails are sent when the mailer is told to stop.
	begun, release := make(chan struct{}, 2), make(chan struct{})
	for range 2 {
		box.Add(func(context.Context) (mailer.Message, error) { begun <- struct{}{}; <-release; return hello, nil })
		<-begun
	}
	box.Add(write(hello, nil))
	stop()
	close(release)
	running.Wait()
	for range 3 {
		s.Next(t)
	}
	s.None(t)
	if got := log.String(); !strings.Contains(got, "no such page") || strings.Count(got, "\n") != 1 {
		t.Errorf("the log says %s", got)
	}
}

func TestOutboxFull(t *testing.T) {
	t.Parallel()
	box := mailer.NewOutbox(nil, nil)
	for i := range 1000 {
		if !box.Add(func(context.Context) (mailer.Message, error) { return hello, nil }) {
			if i < 100 {
				t.Errorf("it is full at %d", i)
			}
			return
		}
	}
	t.Error("it holds everything")
}

func TestParseServer(t *testing.T) {
	t.Parallel()
	for _, good := range []string{"smtp://mail.example", "smtps://ann:p%40ss@mail.example:4650", "smtp://[::1]:25", "smtp://mail.example/"} {
		if _, err := mailer.ParseServer(good); err != nil {
			t.Errorf("%s: %v", good, err)
		}
	}
	for _, bad := range []string{"", "mail.example", "mail.example:25", "http://mail.example", "smtp://", "smtp://ann:secret@mail.example:port", "smtp://ann:secret@mail.example:0",
		"smtp://ann:secret@mail.example/x", "smtp://ann:sec%ret@mail.example", "smtp://ann:secret@mail.example?tls=no"} {
		_, err := mailer.ParseServer(bad)
		if err == nil || strings.Contains(err.Error(), "secret") || strings.Contains(err.Error(), "sec%ret") {
			t.Errorf("%s: %v", bad, err)
		}
	}
	if _, err := mailer.New(mailer.Config{Server: &url.URL{}, From: "clips"}); err == nil {
		t.Error("a sender without a place")
	}
}
