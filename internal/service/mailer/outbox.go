package mailer

import (
	"context"
	"log/slog"
	"sync"
	"time"
)

// An Outbox's capacity, the number of mails it sends at once, and its time to
// finish when it is told to stop.
const (
	outboxPlaces  = 256
	outboxSenders = 2
	outboxDrain   = 10 * time.Second
)

// Letter writes a mail when its turn comes. With an empty To no mail is sent.
type Letter func(context.Context) (Message, error)

// Outbox sends mails in the background. An answer waits for no server, and its
// time reveals nothing. Waiting mails are lost with the process. It is safe for
// concurrent use.
type Outbox struct {
	sender interface {
		Send(context.Context, Message) error
	}
	log     *slog.Logger
	letters chan Letter
}

// NewOutbox makes an Outbox, which sends while Run runs. log gets what fails;
// nil discards it.
func NewOutbox(m *Mailer, log *slog.Logger) *Outbox {
	if log == nil {
		log = slog.New(slog.DiscardHandler)
	}
	return &Outbox{sender: m, log: log, letters: make(chan Letter, outboxPlaces)}
}

// Add leaves a letter to be sent, or reports false where there are too many.
func (o *Outbox) Add(l Letter) bool {
	select {
	case o.letters <- l:
		return true
	default:
		return false
	}
}

// Run sends letters until ctx ends, and then for some seconds those that are
// left.
func (o *Outbox) Run(ctx context.Context) {
	var senders sync.WaitGroup
	for range outboxSenders {
		senders.Go(func() { o.work(ctx) })
	}
	senders.Wait()
	rest, cancel := context.WithTimeout(context.WithoutCancel(ctx), outboxDrain)
	defer cancel()
	for {
		select {
		case l := <-o.letters:
			o.send(rest, l)
		default:
			return
		}
	}
}

// work sends until ctx ends. It finishes a started mail, within the mailer's
// own time.
func (o *Outbox) work(ctx context.Context) {
	for ctx.Err() == nil {
		select {
		case l := <-o.letters:
			o.send(context.WithoutCancel(ctx), l)
		case <-ctx.Done():
		}
	}
}

func (o *Outbox) send(ctx context.Context, l Letter) {
	msg, err := l(ctx)
	if err == nil && msg.To != "" {
		err = o.sender.Send(ctx, msg)
	}
	if err != nil {
		o.log.ErrorContext(ctx, "mail not sent", "error", err)
	}
}
