package store

import (
	"context"
	"database/sql"
	"fmt"
	"time"

	"github.com/jackc/pgx/v5"
	"github.com/jackc/pgx/v5/stdlib"
	"github.com/pressly/goose/v3"
	"github.com/pressly/goose/v3/lock"
)

// postgresConnections bounds a node's share of the server's connections, 100
// by default.
const postgresConnections = 16

// postgresOnly is the clock, and the rate limiter's buckets, which SQLite's
// one process has in memory. They may be lost in a crash, so that a request
// waits for no disk.
const postgresOnly = `
CREATE FUNCTION now_ms() RETURNS BIGINT LANGUAGE sql VOLATILE AS
    'SELECT CAST(extract(epoch FROM clock_timestamp()) * 1000 AS BIGINT)';
CREATE UNLOGGED TABLE rates (
    name TEXT PRIMARY KEY,
    tat  BIGINT NOT NULL -- theoretical arrival time, microseconds since 1970
)`

// postgresDialect reaches the server that config names.
type postgresDialect struct{ config *pgx.ConnConfig }

func openPostgres(url string) (*DB, error) {
	config, err := pgx.ParseConfig(url)
	if err != nil {
		return nil, fmt.Errorf("database: %w", err)
	}
	// A node that dies in a transaction must not hold its rows for long.
	if config.RuntimeParams["idle_in_transaction_session_timeout"] == "" {
		config.RuntimeParams["idle_in_transaction_session_timeout"] = "30s"
	}
	if config.ConnectTimeout == 0 {
		config.ConnectTimeout = 5 * time.Second
	}
	raw := stdlib.OpenDB(*config)
	raw.SetMaxOpenConns(postgresConnections)
	raw.SetMaxIdleConns(postgresConnections)
	raw.SetConnMaxIdleTime(5 * time.Minute)
	return &DB{DB: raw, dialect: postgresDialect{config}}, nil
}

func (postgresDialect) skipLocked() string { return " FOR UPDATE SKIP LOCKED" }

func (postgresDialect) shared() bool { return true }

func (postgresDialect) snapshot(context.Context, *sql.DB, string) error { return ErrNoSnapshot }

func (postgresDialect) notify(ctx context.Context, tx *sql.Tx, topics []string) error {
	if _, err := tx.ExecContext(ctx, "SELECT pg_notify(topic, '') FROM unnest(CAST($1 AS TEXT[])) AS topic", topics); err != nil {
		return fmt.Errorf("notify: %w", err)
	}
	return nil
}

func (postgresDialect) migrate(ctx context.Context, db *sql.DB) error {
	// Every second, for five minutes: as long as another node may need.
	locker, err := lock.NewPostgresSessionLocker(lock.WithLockTimeout(1, 300))
	if err != nil {
		return err
	}
	return migrate(ctx, db, goose.DialectPostgres, goose.WithSessionLocker(locker))
}

// listen holds a connection of its own: one of the pool would be handed to
// others.
func (d postgresDialect) listen(ctx context.Context, topic string, ring func()) error {
	for wait := time.Duration(0); ; wait = min(wait+100*time.Millisecond, 5*time.Second) {
		if err := pause(ctx, wait); err != nil {
			return err
		}
		if heard := d.hear(ctx, topic, ring); heard {
			wait = 0
		}
	}
}

// hear listens until the connection breaks, and reports whether it stood.
func (d postgresDialect) hear(ctx context.Context, topic string, ring func()) bool {
	conn, err := pgx.ConnectConfig(ctx, d.config.Copy())
	if err != nil {
		return false
	}
	defer func() {
		ctx, cancel := context.WithTimeout(context.WithoutCancel(ctx), time.Second)
		defer cancel()
		_ = conn.Close(ctx) // it may be broken
	}()
	if _, err := conn.Exec(ctx, "LISTEN "+pgx.Identifier{topic}.Sanitize()); err != nil {
		return false
	}
	ring() // for what was missed before
	for {
		if _, err := conn.WaitForNotification(ctx); err != nil {
			return true
		}
		ring()
	}
}

// pause waits, or returns why ctx ended.
func pause(ctx context.Context, d time.Duration) error {
	timer := time.NewTimer(d)
	defer timer.Stop()
	select {
	case <-ctx.Done():
		return context.Cause(ctx)
	case <-timer.C:
		return ctx.Err()
	}
}
