package store

import (
	"context"
	"database/sql"
	"errors"
	"fmt"

	"github.com/pressly/goose/v3"
)

// The check of the states of jobs before jobs could be cancelled, and after.
const (
	statesBefore = `CHECK (state IN ('queued', 'processing', 'done', 'failed'))`
	statesAfter  = `CHECK (state IN ('queued', 'processing', 'done', 'failed', 'cancelled'))`
)

// cancelledIndex is for pages of one state, as there is one for failed jobs.
const cancelledIndex = "CREATE INDEX jobs_cancelled ON jobs (account_id, state, id) WHERE state = 'cancelled'"

// allowCancelled lets jobs have the state cancelled. It is Go, since SQLite cannot
// alter a check.
func allowCancelled(d goose.Dialect) *goose.GoFunc {
	return &goose.GoFunc{RunTx: func(ctx context.Context, tx *sql.Tx) error {
		var err error
		if d == goose.DialectPostgres {
			_, err = tx.ExecContext(ctx, "ALTER TABLE jobs DROP CONSTRAINT jobs_state_check, ADD CONSTRAINT jobs_state_check "+statesAfter)
		} else {
			err = replaceInSQLite(ctx, tx, "jobs", statesBefore, statesAfter)
		}
		if err == nil {
			_, err = tx.ExecContext(ctx, cancelledIndex)
		}
		return err
	}}
}

// replaceInSQLite changes the text of a table in a way that leaves its content
// valid. It does not copy the table, see https://sqlite.org/lang_altertable.html,
// section 7.
func replaceInSQLite(ctx context.Context, tx *sql.Tx, table, before, after string) error {
	var version int64
	if err := tx.QueryRowContext(ctx, "PRAGMA schema_version").Scan(&version); err != nil {
		return err
	}
	if _, err := tx.ExecContext(ctx, "PRAGMA writable_schema = ON"); err != nil {
		return err
	}
	changed, err := tx.ExecContext(ctx, "UPDATE sqlite_schema SET sql = replace(sql, $1, $2) WHERE type = 'table' AND name = $3 AND instr(sql, $1) > 0",
		before, after, table)
	if err == nil {
		_, err = tx.ExecContext(ctx, fmt.Sprintf("PRAGMA schema_version = %d", version+1)) // all connections read it again
	}
	_, off := tx.ExecContext(ctx, "PRAGMA writable_schema = RESET")
	if err := errors.Join(err, off); err != nil {
		return err
	}
	if n, err := changed.RowsAffected(); err != nil || n != 1 {
		return errors.Join(err, fmt.Errorf("table %s is not as the earlier versions made it", table))
	}
	return nil
}
