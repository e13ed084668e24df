package store

import (
	"context"
	"database/sql"
	"errors"
	"fmt"
	"strconv"
	"time"
)

// Fact is the database's value of a name about the whole deployment; empty
// means none.
func (db *DB) Fact(ctx context.Context, name string) (value string, err error) {
	err = db.QueryRowContext(ctx, "SELECT value FROM deployment WHERE name = $1", name).Scan(&value)
	if errors.Is(err, sql.ErrNoRows) {
		return "", nil
	}
	return value, factError(name, err)
}

// SetFact keeps a value under a name.
func (db *DB) SetFact(ctx context.Context, name, value string) error {
	_, err := db.ExecContext(ctx, `INSERT INTO deployment (name, value) VALUES ($1, $2)
		ON CONFLICT (name) DO UPDATE SET value = excluded.value`, name, value)
	return factError(name, err)
}

// TimeFact is a moment that SetTimeFact has kept; without one it is zero.
func (db *DB) TimeFact(ctx context.Context, name string) (time.Time, error) {
	value, err := db.Fact(ctx, name)
	if value == "" || err != nil {
		return time.Time{}, err
	}
	ms, err := strconv.ParseInt(value, 10, 64)
	return Time(ms), factError(name, err)
}

// SetTimeFact keeps a moment, in milliseconds.
func (db *DB) SetTimeFact(ctx context.Context, name string, at time.Time) error {
	return db.SetFact(ctx, name, strconv.FormatInt(at.UnixMilli(), 10))
}

// FirstFact stores a value for a name without one, and returns the stored
// value.
func (db *DB) FirstFact(ctx context.Context, name, value string) (kept string, err error) {
	err = db.QueryRowContext(ctx, `INSERT INTO deployment (name, value) VALUES ($1, $2)
		ON CONFLICT (name) DO UPDATE SET name = excluded.name RETURNING value`, name, value).Scan(&kept)
	return kept, factError(name, err)
}

func factError(name string, err error) error {
	if err != nil {
		return fmt.Errorf("fact %s: %w", name, err)
	}
	return nil
}
