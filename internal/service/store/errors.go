package store

import (
	"database/sql"
	"database/sql/driver"
	"errors"
	"fmt"
	"io"
	"net"
	"strings"
	"time"

	"github.com/jackc/pgx/v5/pgconn"
	"modernc.org/sqlite"
	sqlite3 "modernc.org/sqlite/lib"
)

// IsUnique reports whether err is a row that is there already.
func IsUnique(err error) bool {
	if e := (*sqlite.Error)(nil); errors.As(err, &e) {
		return e.Code() == sqlite3.SQLITE_CONSTRAINT_UNIQUE || e.Code() == sqlite3.SQLITE_CONSTRAINT_PRIMARYKEY
	}
	return postgresCode(err) == "23505"
}

// RetryAfter is the waiting time after an Unavailable error.
const RetryAfter = 5 * time.Second

// Unavailable reports whether err means that the database is down, locked, full
// or out of connections: the same operation may succeed later. Nothing was
// changed, except that a commit has an unknown result if the connection broke
// during it.
func Unavailable(err error) bool {
	if err == nil {
		return false
	}
	if e := (*sqlite.Error)(nil); errors.As(err, &e) {
		switch e.Code() & 0xff {
		case sqlite3.SQLITE_BUSY, sqlite3.SQLITE_LOCKED, sqlite3.SQLITE_FULL, sqlite3.SQLITE_IOERR,
			sqlite3.SQLITE_CANTOPEN, sqlite3.SQLITE_READONLY, sqlite3.SQLITE_NOMEM:
			return true
		}
		return false
	}
	if code := postgresCode(err); code != "" {
		return strings.HasPrefix(code, "08") || // connection
			strings.HasPrefix(code, "53") || // out of resources: disk, memory, connections
			strings.HasPrefix(code, "57P") || // shutting down, starting, terminated
			strings.HasPrefix(code, "58") || // input and output
			code == "25006" || code == "55P03" || code == "25P03" // read only, lock, idle in transaction
	}
	return isDisconnected(err) || errors.Is(err, driver.ErrBadConn) || errors.Is(err, sql.ErrConnDone) || pgconn.SafeToRetry(err)
}

// isDisconnected reports whether err is a server that cannot be reached, has cut
// the connection, or does not answer. An error of a file is none, though it looks
// like a net.Error.
func isDisconnected(err error) bool {
	var (
		connect *pgconn.ConnectError
		name    *net.DNSError
		network *net.OpError
		slow    net.Error
	)
	return errors.As(err, &connect) || errors.As(err, &name) || errors.As(err, &network) ||
		errors.As(err, &slow) && slow.Timeout() || errors.Is(err, io.ErrUnexpectedEOF)
}

// isConflict reports whether a transaction only met another one.
func isConflict(err error) bool {
	code := postgresCode(err)
	return code == "40P01" || code == "40001"
}

func postgresCode(err error) string {
	if e := (*pgconn.PgError)(nil); errors.As(err, &e) {
		return e.Code
	}
	return ""
}

// Wrap says what failed. A row that is not there is absent.
func Wrap(what string, err, absent error) error {
	switch {
	case err == nil:
		return nil
	case errors.Is(err, sql.ErrNoRows):
		return absent
	}
	return fmt.Errorf("%s: %w", what, err)
}
