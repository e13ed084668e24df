package store

import (
	"context"
	"database/sql"
	"fmt"
)

// Row is the result of a query for one row, or the current one of several. Scan of the first
// returns the query's error, too.
type Row interface{ Scan(dest ...any) error }

// QueryRowPrepared is QueryRowContext for the few queries that nearly every
// request asks: SQLite would parse them each time, which takes longer than
// they do.
func (db *DB) QueryRowPrepared(ctx context.Context, query string, args ...any) Row {
	s, err := db.prepare(ctx, query)
	if err != nil {
		return failedRow{err}
	}
	return s.QueryRowContext(ctx, args...)
}

// prepare keeps statements until the database is closed, which closes them.
func (db *DB) prepare(ctx context.Context, query string) (*sql.Stmt, error) {
	if s, ok := db.statements.Load(query); ok {
		return s.(*sql.Stmt), nil
	}
	s, err := db.PrepareContext(ctx, query)
	if err != nil {
		return nil, fmt.Errorf("prepare: %w", err)
	}
	if first, loaded := db.statements.LoadOrStore(query, s); loaded {
		_ = s.Close()
		return first.(*sql.Stmt), nil
	}
	return s, nil
}

// failedRow is the row of a query that could not be asked.
type failedRow struct{ err error }

func (r failedRow) Scan(...any) error { return r.err }
