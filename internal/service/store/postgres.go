package store

import (
	"cmp"
	"context"
	"database/sql"
	"errors"
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
type postgresDialect struct {
	config   *pgx.ConnConfig
	patience time.Duration
}

func openPostgres(url string, patience time.Duration) (*DB, error) {
	config, err := pgx.ParseConfig(url)
	if err != nil {
		return nil, fmt.Errorf("database: %w", err)
	}
	// A node that dies in a transaction must not hold its rows for longer than
	// others wait for them.
	if config.RuntimeParams["idle_in_transaction_session_timeout"] == "" {
		config.RuntimeParams["idle_in_transaction_session_timeout"] = "15s"
	}
	if config.ConnectTimeout == 0 {
		config.ConnectTimeout = 5 * time.Second
	}
	d := postgresDialect{config, patience}
	hasty := config.Copy()
	hasty.DialFunc = withDeadlines(config.DialFunc, patience)
	raw := stdlib.OpenDB(*hasty)
	raw.SetMaxOpenConns(postgresConnections)
	raw.SetMaxIdleConns(postgresConnections)
	raw.SetConnMaxIdleTime(5 * time.Minute)
	return &DB{DB: raw, dialect: d}, nil
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

// migrate has a connection of its own, since an index may take its time.
func (d postgresDialect) migrate(ctx context.Context, _ *sql.DB) error {
	// Every second, for five minutes: as long as another node may need.
	locker, err := lock.NewPostgresSessionLocker(lock.WithLockTimeout(1, 300))
	if err != nil {
		return err
	}
	db := stdlib.OpenDB(*d.config)
	return errors.Join(migrate(ctx, db, goose.DialectPostgres, goose.WithSessionLocker(locker)), db.Close())
}

// listen holds a connection of its own: one of the pool would be handed to
// others.
func (d postgresDialect) listen(ctx context.Context, topic string, wake func()) error {
	for wait := time.Duration(0); ; wait = min(wait+100*time.Millisecond, 5*time.Second) {
		if err := sleep(ctx, wait); err != nil {
			return err
		}
		if heard := d.listenOnce(ctx, topic, wake); heard {
			wait = 0
		}
	}
}

// listenOnce listens until the connection breaks, and reports whether it stood.
func (d postgresDialect) listenOnce(ctx context.Context, topic string, wake func()) bool {
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
	wake() // for notifications missed before
	for {
		heard, err := d.waitForNotification(ctx, conn)
		if err != nil {
			return true
		}
		if heard {
			wake()
		}
	}
}

// waitForNotification waits for a notification, and looks now and then whether the server is
// still there.
func (d postgresDialect) waitForNotification(ctx context.Context, conn *pgx.Conn) (heard bool, err error) {
	patience := cmp.Or(d.patience, time.Minute)
	wait, cancel := context.WithTimeout(ctx, patience)
	defer cancel()
	if _, err := conn.WaitForNotification(wait); err == nil || wait.Err() == nil || ctx.Err() != nil {
		return err == nil, err
	}
	alive, cancel := context.WithTimeout(ctx, patience)
	defer cancel()
	return false, conn.Ping(alive)
}
