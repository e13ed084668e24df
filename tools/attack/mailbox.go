package main

import (
	"context"
	"io"
	"log"
	"mime/quotedprintable"
	"net"
	"net/mail"

	"github.com/emersion/go-smtp"
)

// mailbox is a mail server on this machine that keeps the text of its mails.
type mailbox struct {
	*smtp.Server
	address string
	texts   chan string
}

// receiveMails starts a mailbox. The caller must close it.
func receiveMails() (*mailbox, error) {
	l, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		return nil, err
	}
	m := &mailbox{address: l.Addr().String(), texts: make(chan string, 16)}
	m.Server = smtp.NewServer(smtp.BackendFunc(func(*smtp.Conn) (smtp.Session, error) { return letters{m.texts}, nil }))
	m.Domain, m.ErrorLog = "localhost", log.New(io.Discard, "", 0)
	go func() { _ = m.Serve(l) }() // Close ends it
	return m, nil
}

// next waits for a mail.
func (m *mailbox) next(ctx context.Context) (string, error) {
	select {
	case text := <-m.texts:
		return text, nil
	case <-ctx.Done():
		return "", context.Cause(ctx)
	}
}

// letters accepts every mail.
type letters struct{ texts chan<- string }

func (letters) Mail(string, *smtp.MailOptions) error { return nil }
func (letters) Rcpt(string, *smtp.RcptOptions) error { return nil }
func (letters) Reset()                               {}
func (letters) Logout() error                        { return nil }

func (l letters) Data(r io.Reader) error {
	m, err := mail.ReadMessage(r)
	if err != nil {
		return err
	}
	text, err := io.ReadAll(quotedprintable.NewReader(m.Body))
	if err == nil {
		l.texts <- string(text)
	}
	return err
}
