// Package store is the database: SQLite or PostgreSQL, one schema and one SQL
// text for both. It owns connections, migrations, transactions, wake-ups and
// the meaning of errors. The queries are in the packages that own the tables:
// internal/service/account, internal/service/billing, internal/service/job and
// internal/service/webhook.
//
// The SQL of both may use $n placeholders, RETURNING, ON CONFLICT, partial
// indexes, and now_ms(), the database's clock in milliseconds since 1970. Times
// are BIGINT milliseconds; arithmetic on placeholders needs CAST($1 AS BIGINT).
package store

import (
	"context"
	"database/sql"
	"errors"
	"fmt"
	"slices"
	"strings"
	"sync"
	"time"
	"unicode/utf8"

	"golang.org/x/sync/semaphore"
)

// DB is an open database. It is safe for concurrent use.
type DB struct {
	*sql.DB
	dialect   dialect
	listeners listeners
	// statements are those of QueryRowPrepared, *sql.Stmt by text.
	statements sync.Map
	// turn, on SQLite, lets the transactions of this process wait in line:
	// SQLite itself lets them sleep and try again, the unlucky ones for long.
	turn *semaphore.Weighted
}

// dialect is what differs between the two databases.
type dialect interface {
	// skipLocked ends a SELECT of rows that will be changed.
	skipLocked() string
	// shared reports whether several machines may use the database.
	shared() bool
	// notify wakes the listeners of other processes when tx commits.
	notify(ctx context.Context, tx *sql.Tx, topics []string) error
	// listen calls wake for notifications of other processes, until ctx ends.
	listen(ctx context.Context, topic string, wake func()) error
	// snapshot copies the database into a file.
	snapshot(ctx context.Context, db *sql.DB, path string) error
	// migrate brings the schema up to date, one process at a time.
	migrate(ctx context.Context, db *sql.DB) error
}

// Open connects to a database and brings its schema up to date; one that is
// ahead of this program is a *NewerError. url is
// sqlite:PATH, for a file that is made if it does not exist, or postgres://…
// as PostgreSQL's own tools take it. Any number of processes may open one
// database at once; those of SQLite must be on one machine.
func Open(ctx context.Context, url string) (*DB, error) {
	return OpenWith(ctx, url, Options{})
}

// Options say how to use a database. The zero value is ready to use.
type Options struct {
	// Patience is how long PostgreSQL may not answer before it counts as gone; 0
	// is for ever.
	Patience time.Duration
}

// DefaultOptions are those of a service, which must not hang with its database.
func DefaultOptions() Options { return Options{Patience: 20 * time.Second} }

// OpenWith is Open with options.
func OpenWith(ctx context.Context, url string, o Options) (*DB, error) {
	var (
		db  *DB
		err error
	)
	switch scheme, rest, _ := strings.Cut(url, ":"); {
	case scheme == "sqlite" && rest != "":
		db, err = openSQLite(rest)
	case scheme == "postgres", scheme == "postgresql":
		db, err = openPostgres(url, o.Patience)
	default:
		return nil, errors.New("a database is sqlite:PATH or postgres://…") // the URL may hold a password
	}
	if err != nil {
		return nil, err
	}
	if err := db.dialect.migrate(ctx, db.DB); err != nil {
		return nil, errors.Join(fmt.Errorf("migrate the database: %w", err), db.Close())
	}
	return db, nil
}

// ErrNoSnapshot is a database that has tools of its own for backups.
var ErrNoSnapshot = errors.New("only a SQLite database can be copied; use pg_dump for PostgreSQL")

// Snapshot copies a SQLite database, as it is at one moment, into a file that
// does not exist yet, for this user alone, while others work on it. The error is
// ErrNoSnapshot with PostgreSQL.
func (db *DB) Snapshot(ctx context.Context, path string) error {
	if err := db.dialect.snapshot(ctx, db.DB, path); err != nil {
		return fmt.Errorf("copy the database: %w", err)
	}
	return nil
}

// Shared reports whether processes on several machines may use the database.
// Shared state must then not be in the memory of one.
func (db *DB) Shared() bool { return db.dialect.shared() }

// SkipLocked ends a SELECT of rows that the transaction will change: it locks
// them and skips rows locked by others. SQLite needs nothing, because a
// transaction has the database to itself.
func (db *DB) SkipLocked() string { return db.dialect.skipLocked() }

// Tx is a transaction that can wake listeners.
type Tx struct {
	*sql.Tx
	dialect dialect
	topics  []string
	sent    int // of topics
}

// retries is how often a transaction is tried that others were in the way of.
const retries = 5

// Tx runs f in a transaction, which commits when f returns nil. After a
// deadlock or a serialization failure f is run again, so it must not change
// anything but the database. On SQLite the transaction holds the write lock
// from the start, so f must not start another one.
func (db *DB) Tx(ctx context.Context, f func(*Tx) error) error {
	for try := 1; ; try++ {
		err := db.tx(ctx, f)
		if try == retries || !isConflict(err) {
			return err
		}
	}
}

func (db *DB) tx(ctx context.Context, f func(*Tx) error) error {
	if db.turn != nil {
		if err := db.turn.Acquire(ctx, 1); err != nil {
			return fmt.Errorf("begin: %w", err)
		}
		defer db.turn.Release(1)
	}
	raw, err := db.BeginTx(ctx, nil)
	if err != nil {
		return fmt.Errorf("begin: %w", err)
	}
	defer func() { _ = raw.Rollback() }() // nothing after a commit
	tx := &Tx{Tx: raw, dialect: db.dialect}
	if err := f(tx); err != nil {
		return err
	}
	if err := tx.Send(ctx); err != nil {
		return err
	}
	if err := raw.Commit(); err != nil {
		return fmt.Errorf("commit: %w", err)
	}
	for _, topic := range tx.topics {
		db.listeners.wake(topic)
	}
	return nil
}

// Notify wakes the listeners of a topic when the transaction commits: in this
// process, and with PostgreSQL in all others. Wake-ups may be lost when a
// connection is, and come together; listeners poll as well.
func (tx *Tx) Notify(topic string) {
	if !slices.Contains(tx.topics, topic) {
		tx.topics = append(tx.topics, topic)
	}
}

// Send hands the notifications over, which happens before the commit by
// itself: for a transaction that is about to take locks that others wait for.
func (tx *Tx) Send(ctx context.Context) error {
	if tx.sent == len(tx.topics) {
		return nil
	}
	err := tx.dialect.notify(ctx, tx.Tx, tx.topics[tx.sent:])
	tx.sent = len(tx.topics)
	return err
}

// Millis is a duration in the unit of the database's times.
func Millis(d time.Duration) int64 { return d.Milliseconds() }

// Time is a time of the database.
func Time(ms int64) time.Time { return time.UnixMilli(ms).UTC() }

// OptionalTime is a time of the database that may be null, then the zero Time.
func OptionalTime(ms sql.NullInt64) time.Time {
	if !ms.Valid {
		return time.Time{}
	}
	return Time(ms.Int64)
}

// ValidText reports whether both databases take a text, to keep or to look for.
func ValidText(text string) bool { return utf8.ValidString(text) && !strings.ContainsRune(text, 0) }
