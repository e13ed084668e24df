package store

import (
	"context"
	"database/sql"
	"database/sql/driver"
	"fmt"
	"net/url"
	"os"
	"path/filepath"
	"sync"
	"time"

	"github.com/pressly/goose/v3"
	"golang.org/x/sync/semaphore"
	"modernc.org/sqlite"

	"github.com/bgremove/bgremove/internal/filelock"
)

// sqliteConnections is more than one so that a query beside an open
// transaction does not wait for itself.
const sqliteConnections = 4

// registerClock gives SQLite the function that PostgreSQL gets by a migration.
// All processes on a file are on one machine, so its clock is the database's.
var registerClock = sync.OnceValue(func() error {
	return sqlite.RegisterScalarFunction("now_ms", 0, func(*sqlite.FunctionContext, []driver.Value) (driver.Value, error) {
		return time.Now().UnixMilli(), nil
	})
})

// sqliteDialect is the file at path.
type sqliteDialect struct{ path string }

func openSQLite(path string) (*DB, error) {
	path, err := filepath.Abs(path)
	if err != nil {
		return nil, fmt.Errorf("database: %w", err)
	}
	if err := os.MkdirAll(filepath.Dir(path), 0o700); err != nil {
		return nil, fmt.Errorf("database: %w", err)
	}
	if err := registerClock(); err != nil {
		return nil, fmt.Errorf("database: %w", err)
	}
	settings := url.Values{
		"_txlock": {"immediate"}, // or a transaction that reads first fails when it writes
		"_pragma": {"busy_timeout(5000)", "journal_mode(WAL)", "synchronous(FULL)", "foreign_keys(1)"},
	}
	raw, err := sql.Open("sqlite", "file:"+(&url.URL{Path: filepath.ToSlash(path)}).EscapedPath()+"?"+settings.Encode())
	if err != nil {
		return nil, fmt.Errorf("database: %w", err)
	}
	raw.SetMaxOpenConns(sqliteConnections)
	raw.SetMaxIdleConns(sqliteConnections)
	return &DB{DB: raw, dialect: sqliteDialect{path}, turn: semaphore.NewWeighted(1)}, nil
}

func (sqliteDialect) skipLocked() string { return "" }

func (sqliteDialect) shared() bool { return false }

func (sqliteDialect) notify(context.Context, *sql.Tx, string) error { return nil }

func (sqliteDialect) listen(ctx context.Context, _ string, _ func()) error {
	<-ctx.Done()
	return context.Cause(ctx)
}

// migrate keeps other processes away by a lock on a file of its own, which
// stays: goose knows no lock for SQLite.
func (d sqliteDialect) migrate(ctx context.Context, db *sql.DB) error {
	f, err := os.OpenFile(d.path+".lock", os.O_CREATE|os.O_RDWR, 0o600)
	if err != nil {
		return err
	}
	defer f.Close() // unlocks
	if err := filelock.Lock(f); err != nil {
		return fmt.Errorf("lock %s: %w", f.Name(), err)
	}
	return migrate(ctx, db, goose.DialectSQLite3)
}
