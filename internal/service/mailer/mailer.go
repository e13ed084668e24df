// Package mailer sends plain text mails over SMTP.
package mailer

import (
	"cmp"
	"context"
	"crypto/tls"
	"crypto/x509"
	"errors"
	"fmt"
	"net"
	netmail "net/mail"
	"net/url"
	"strconv"
	"strings"
	"time"

	"github.com/wneessen/go-mail"
)

// Message is a mail to one person.
type Message struct {
	To      string // an address, without a name
	Subject string // one line
	Text    string
	// Unsent, if set, undoes the mail's preparation if certainly no server has
	// accepted it.
	Unsent func(context.Context) error
}

// Config says by which server mails are sent. Server and From are needed.
type Config struct {
	// Server is smtp:// (port 587) or smtps:// (port 465), with user and
	// password if they are needed. With smtp the connection is encrypted by
	// STARTTLS or not used, but to this machine, where it is as it is.
	Server *url.URL
	// From is the sender: an address, with or without a name.
	From string
	// Timeout bounds the sending of a mail; 0 is that of DefaultConfig.
	Timeout time.Duration
	// RootCAs are whom to believe; nil are the system's.
	RootCAs *x509.CertPool
	// Dial reaches a server of smtp://; nil is the network.
	Dial func(ctx context.Context, network, address string) (net.Conn, error)
}

// DefaultConfig has the default time, and nothing else.
func DefaultConfig() Config { return Config{Timeout: 20 * time.Second} }

// Mailer sends mails, each over a connection of its own. It is safe for
// concurrent use.
type Mailer struct{ Config }

// New makes a Mailer. The error is of From; ParseServer has checked Server.
func New(c Config) (*Mailer, error) {
	if err := CheckFrom(c.From); err != nil {
		return nil, err
	}
	c.Timeout = cmp.Or(c.Timeout, DefaultConfig().Timeout)
	return &Mailer{c}, nil
}

// CheckFrom checks a sender.
func CheckFrom(from string) error {
	if _, err := netmail.ParseAddress(from); err != nil {
		return fmt.Errorf("%q is not an address such as name@example.com", from)
	}
	return nil
}

// ParseServer reads the URL of a server. The error does not repeat it: it may
// hold a password.
func ParseServer(text string) (*url.URL, error) {
	u, err := url.Parse(text)
	if err != nil || u.Scheme != "smtp" && u.Scheme != "smtps" || u.Hostname() == "" || strings.Trim(u.Path, "/") != "" || u.RawQuery != "" {
		return nil, errors.New("must be smtp:// or smtps://, USER:PASSWORD@ if needed, HOST and :PORT (special characters in a password need %XX)")
	}
	if port := u.Port(); port != "" {
		if n, err := strconv.Atoi(port); err != nil || n < 1 || n > 65535 {
			return nil, errors.New("has no valid port")
		}
	}
	return u, nil
}

// Send sends a mail and waits until the server has taken it.
func (m *Mailer) Send(ctx context.Context, msg Message) error {
	maybe, err := m.send(ctx, msg)
	if err == nil || maybe || msg.Unsent == nil {
		return err
	}
	rest, cancel := context.WithTimeout(context.WithoutCancel(ctx), m.Timeout)
	defer cancel()
	return errors.Join(err, msg.Unsent(rest))
}

// send reports, as maybe, that the server may have accepted the mail in spite of
// an error: it received all of it and did not answer.
func (m *Mailer) send(ctx context.Context, msg Message) (maybe bool, err error) {
	ctx, cancel := context.WithTimeout(ctx, m.Timeout)
	defer cancel()
	letter, err := m.compose(msg)
	if err != nil {
		return false, fmt.Errorf("write a mail: %w", err)
	}
	client, err := m.client()
	if err == nil {
		err = client.DialAndSendWithContext(ctx, letter)
	}
	if err == nil || letter.IsDelivered() { // only the goodbye can fail after that
		return false, nil
	}
	var failed *mail.SendError
	maybe = errors.As(err, &failed) && failed.Reason == mail.ErrSMTPDataClose && failed.ErrorCode() == 0
	return maybe, fmt.Errorf("send a mail: %w", err)
}

func (m *Mailer) compose(msg Message) (*mail.Msg, error) {
	if strings.ContainsAny(msg.To+msg.Subject, "\r\n\x00") {
		return nil, errors.New("a header has one line")
	}
	letter := mail.NewMsg()
	if err := letter.From(m.From); err != nil {
		return nil, err
	}
	// Not as a list, which a comma would make of it.
	letter.ToMailAddress(&netmail.Address{Address: msg.To})
	letter.Subject(msg.Subject)
	letter.SetGenHeader("Auto-Submitted", "auto-generated") // RFC 3834: no answers by programs
	letter.SetBodyString(mail.TypeTextPlain, msg.Text)
	return letter, nil
}

func (m *Mailer) client() (*mail.Client, error) {
	host := m.Server.Hostname()
	settings := &tls.Config{ServerName: host, RootCAs: m.RootCAs, MinVersion: tls.VersionTLS12}
	options := []mail.Option{mail.WithTimeout(m.Timeout), mail.WithTLSConfig(settings)}
	port := 587
	switch {
	case m.Server.Scheme == "smtps":
		port = 465
		options = append(options, mail.WithSSL())
	case isLoopback(host):
		options = append(options, mail.WithTLSPolicy(mail.NoTLS))
	default:
		options = append(options, mail.WithTLSPolicy(mail.TLSMandatory))
	}
	if m.Dial != nil && m.Server.Scheme == "smtp" {
		options = append(options, mail.WithDialContextFunc(m.Dial))
	}
	if given, err := strconv.Atoi(m.Server.Port()); err == nil {
		port = given
	}
	options = append(options, mail.WithPort(port))
	if user := m.Server.User; user != nil {
		password, _ := user.Password()
		options = append(options, mail.WithSMTPAuth(mail.SMTPAuthAutoDiscover), mail.WithUsername(user.Username()), mail.WithPassword(password))
	}
	return mail.NewClient(host, options...)
}

// isLoopback reports whether a host is this machine.
func isLoopback(host string) bool {
	ip := net.ParseIP(host)
	return host == "localhost" || ip != nil && ip.IsLoopback()
}
