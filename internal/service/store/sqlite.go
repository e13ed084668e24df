package store

import (
	"context"
	"database/sql"
	"database/sql/driver"
	"errors"
	"fmt"
	"io/fs"
	"net/url"
	"os"
	"path/filepath"
	"sync"
	"time"

	"github.com/pressly/goose/v3"
	"golang.org/x/sync/semaphore"
	"modernc.org/sqlite"

	"github.com/bgremove/bgremove/internal/system/filelock"
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
type sqliteDialect struct {
	path  string
	watch *writeWatcher
}

func openSQLite(path string) (*DB, error) {
	path, err := filepath.Abs(path)
	if err != nil {
		return nil, fmt.Errorf("database: %w", err)
	}
	if err := os.MkdirAll(filepath.Dir(path), 0o700); err != nil {
		return nil, fmt.Errorf("database: %w", err)
	}
	if err := createFile(path); err != nil {
		return nil, fmt.Errorf("database: %w", err)
	}
	if err := registerClock(); err != nil {
		return nil, fmt.Errorf("database: %w", err)
	}
	settings := url.Values{
		"_txlock": {"immediate"}, // or a transaction that reads first fails when it writes
		"_pragma": {"busy_timeout(5000)", "journal_mode(WAL)", "synchronous(FULL)", "foreign_keys(1)"},
	}
	d := sqliteDialect{path: path}
	d.watch = &writeWatcher{path: path, open: func() (*sql.DB, error) { return sql.Open("sqlite", d.url(nil)) }}
	raw, err := sql.Open("sqlite", d.url(settings))
	if err != nil {
		return nil, fmt.Errorf("database: %w", err)
	}
	raw.SetMaxOpenConns(sqliteConnections)
	raw.SetMaxIdleConns(sqliteConnections)
	return &DB{DB: raw, dialect: d, turn: semaphore.NewWeighted(1)}, nil
}

// createFile creates the file if it does not exist, readable only by this user.
// SQLite would let everybody read it who may enter the folder, and it gives its
// other files the same rights. An existing file is not opened: closing it would
// release all locks that this process holds on it.
func createFile(path string) error {
	f, err := os.OpenFile(path, os.O_RDWR|os.O_CREATE|os.O_EXCL, 0o600)
	if errors.Is(err, fs.ErrExist) {
		return nil
	}
	if err != nil {
		return err
	}
	return f.Close()
}

// url names the file as the driver takes it.
func (d sqliteDialect) url(settings url.Values) string {
	return "file:" + (&url.URL{Path: filepath.ToSlash(d.path)}).EscapedPath() + "?" + settings.Encode()
}

func (sqliteDialect) skipLocked() string { return "" }

func (sqliteDialect) shared() bool { return false }

// snapshot writes a file as VACUUM does, which is one transaction of a reader.
func (sqliteDialect) snapshot(ctx context.Context, db *sql.DB, path string) error {
	f, err := os.OpenFile(path, os.O_WRONLY|os.O_CREATE|os.O_EXCL, 0o600) // it may be there if it is empty
	if err != nil {
		return err
	}
	_, err = db.ExecContext(ctx, "VACUUM INTO $1", path)
	return errors.Join(err, f.Sync(), f.Close())
}

// OpenCopy opens a file that Snapshot wrote, to be read, and leaves it as it is,
// of whatever schema.
func OpenCopy(path string) (*DB, error) {
	if _, err := os.Stat(path); err != nil {
		return nil, fmt.Errorf("database: %w", err)
	}
	if err := registerClock(); err != nil {
		return nil, fmt.Errorf("database: %w", err)
	}
	d := sqliteDialect{path: path}
	raw, err := sql.Open("sqlite", d.url(url.Values{"mode": {"ro"}, "immutable": {"1"}}))
	if err != nil {
		return nil, fmt.Errorf("database: %w", err)
	}
	return &DB{DB: raw, dialect: d}, nil
}

func (sqliteDialect) notify(context.Context, *sql.Tx, []string) error { return nil }

func (d sqliteDialect) listen(ctx context.Context, _ string, wake func()) error {
	return d.watch.listen(ctx, wake)
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
