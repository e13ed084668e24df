// Package mailertest is an SMTP server for tests, which keeps what it is sent.
package mailertest

import (
	"context"
	"crypto/ecdsa"
	"crypto/elliptic"
	"crypto/rand"
	"crypto/tls"
	"crypto/x509"
	"errors"
	"io"
	"math/big"
	"net"
	"net/mail"
	"strings"
	"sync"
	"testing"
	"time"

	"mime/quotedprintable"

	"github.com/emersion/go-sasl"
	"github.com/emersion/go-smtp"
)

// Host is a name that the certificate of a Server is for. It is no loopback
// address: Dial leads to the server.
const Host = "mail.example"

// Mail is what has arrived.
type Mail struct {
	From    string // of the envelope
	To      []string
	Header  mail.Header
	Text    string
	User    string // who was signed in
	Private bool   // over TLS
}

// Config is how a server behaves.
type Config struct {
	NoStartTLS bool
	TLS        bool   // from the start
	Password   string // of the user ann; empty: nobody need sign in
	Refuse     error  // the answer to every recipient
}

// Server is a server that runs until the test ends.
type Server struct {
	Addr    string // on the loopback interface
	RootCAs *x509.CertPool
	Config  Config
	server  *smtp.Server
	socket  net.Listener
	mails   chan Mail
}

// Start runs a server.
func Start(t testing.TB, c Config) *Server {
	t.Helper()
	certificate, roots := certify(t)
	s := &Server{RootCAs: roots, Config: c, mails: make(chan Mail, 64)}
	s.server = smtp.NewServer(smtp.BackendFunc(func(conn *smtp.Conn) (smtp.Session, error) {
		_, private := conn.TLSConnectionState()
		return &session{server: s, mail: Mail{Private: private}}, nil
	}))
	s.server.Domain, s.server.AllowInsecureAuth = Host, true
	s.server.ErrorLog = discard{}
	settings := &tls.Config{Certificates: []tls.Certificate{certificate}, MinVersion: tls.VersionTLS12}
	if !c.NoStartTLS && !c.TLS {
		s.server.TLSConfig = settings
	}
	l, err := (&net.ListenConfig{}).Listen(context.Background(), "tcp", "127.0.0.1:0")
	if err != nil {
		t.Fatal(err)
	}
	s.Addr = l.Addr().String()
	if c.TLS {
		l = tls.NewListener(l, settings)
	}
	s.socket = l
	var served sync.WaitGroup
	served.Go(func() { _ = s.server.Serve(l) })
	t.Cleanup(func() { s.Stop(); served.Wait() })
	return s
}

// Stop ends the server before the test does.
func (s *Server) Stop() {
	_ = s.server.Close()
	_ = s.socket.Close() // the server may not have begun to listen
}

// Dial reaches the server under any name.
func (s *Server) Dial(ctx context.Context, network, _ string) (net.Conn, error) {
	return (&net.Dialer{}).DialContext(ctx, network, s.Addr)
}

// Next waits for the next mail.
func (s *Server) Next(t testing.TB) Mail {
	t.Helper()
	select {
	case m := <-s.mails:
		return m
	case <-time.After(time.Minute):
		t.Fatal("no mail has come")
		return Mail{}
	}
}

// None wants no mail to have come so far.
func (s *Server) None(t testing.TB) {
	t.Helper()
	select {
	case m := <-s.mails:
		t.Errorf("a mail has come: %+v", m)
	default:
	}
}

// Link is the one that begins with a prefix, in a line of its own.
func (m Mail) Link(prefix string) string {
	for line := range strings.Lines(m.Text) {
		if strings.HasPrefix(line, prefix) {
			return strings.TrimSpace(line)
		}
	}
	return ""
}

// session is one connection.
type session struct {
	server *Server
	mail   Mail
}

func (s *session) AuthMechanisms() []string {
	if s.server.Config.Password == "" {
		return nil
	}
	return []string{sasl.Plain}
}

func (s *session) Auth(string) (sasl.Server, error) {
	return sasl.NewPlainServer(func(_, user, password string) error {
		if user != "ann" || password != s.server.Config.Password {
			return smtp.ErrAuthFailed
		}
		s.mail.User = user
		return nil
	}), nil
}

func (s *session) Mail(from string, _ *smtp.MailOptions) error {
	if s.server.Config.Password != "" && s.mail.User == "" {
		return smtp.ErrAuthRequired
	}
	s.mail.From = from
	return nil
}

func (s *session) Rcpt(to string, _ *smtp.RcptOptions) error {
	s.mail.To = append(s.mail.To, to)
	return s.server.Config.Refuse
}

func (s *session) Data(r io.Reader) error {
	m, err := mail.ReadMessage(r)
	if err != nil {
		return err
	}
	if m.Header.Get("Content-Transfer-Encoding") != "quoted-printable" {
		return errors.New("not quoted-printable")
	}
	text, err := io.ReadAll(quotedprintable.NewReader(m.Body))
	if err != nil {
		return err
	}
	s.mail.Header, s.mail.Text = m.Header, strings.ReplaceAll(string(text), "\r\n", "\n")
	s.server.mails <- s.mail
	return nil
}

func (s *session) Reset()        { s.mail.From, s.mail.To = "", nil }
func (s *session) Logout() error { return nil }

// certify makes a certificate for Host and this machine, and who believes it.
func certify(t testing.TB) (tls.Certificate, *x509.CertPool) {
	t.Helper()
	key, err := ecdsa.GenerateKey(elliptic.P256(), rand.Reader)
	if err != nil {
		t.Fatal(err)
	}
	template := &x509.Certificate{
		SerialNumber: big.NewInt(1), DNSNames: []string{Host}, IPAddresses: []net.IP{net.IPv4(127, 0, 0, 1)},
		NotBefore: time.Now().Add(-time.Hour), NotAfter: time.Now().Add(24 * time.Hour),
	}
	der, err := x509.CreateCertificate(rand.Reader, template, template, &key.PublicKey, key)
	if err != nil {
		t.Fatal(err)
	}
	leaf, err := x509.ParseCertificate(der)
	if err != nil {
		t.Fatal(err)
	}
	roots := x509.NewCertPool()
	roots.AddCert(leaf)
	return tls.Certificate{Certificate: [][]byte{der}, PrivateKey: key}, roots
}

type discard struct{}

func (discard) Printf(string, ...any) {}
func (discard) Println(...any)        {}
