package store

import (
	"context"
	"net"
	"sync"
	"time"

	"github.com/jackc/pgx/v5/pgconn"
)

// withDeadlines makes connections by dial that never wait for ever. A server that
// does not answer, or a network that drops packets, is an error like a broken
// connection, os.ErrDeadlineExceeded.
func withDeadlines(dial pgconn.DialFunc, patience time.Duration) pgconn.DialFunc {
	if patience == 0 {
		return dial
	}
	return func(ctx context.Context, network, addr string) (net.Conn, error) {
		conn, err := dial(ctx, network, addr)
		if err != nil {
			return nil, err
		}
		return &deadlineConn{Conn: conn, patience: patience}, nil
	}
}

// deadlineConn gives each read and write some time, or less if its user has set
// a deadline: pgx does so to end a query whose context has ended.
type deadlineConn struct {
	net.Conn
	patience time.Duration

	mu       sync.Mutex
	deadline time.Time // the user's; zero: none
}

func (c *deadlineConn) SetDeadline(t time.Time) error {
	c.mu.Lock()
	defer c.mu.Unlock()
	c.deadline = t
	return c.Conn.SetDeadline(t)
}

func (c *deadlineConn) Read(p []byte) (int, error) {
	if err := c.setNext(c.SetReadDeadline); err != nil {
		return 0, err
	}
	return c.Conn.Read(p)
}

func (c *deadlineConn) Write(p []byte) (int, error) {
	if err := c.setNext(c.SetWriteDeadline); err != nil {
		return 0, err
	}
	return c.Conn.Write(p)
}

// setNext sets a deadline for the next operation. A deadline that the user sets
// at the same time comes before or after, and is not lost.
func (c *deadlineConn) setNext(set func(time.Time) error) error {
	c.mu.Lock()
	defer c.mu.Unlock()
	until := time.Now().Add(c.patience)
	if !c.deadline.IsZero() && c.deadline.Before(until) {
		until = c.deadline
	}
	return set(until)
}
