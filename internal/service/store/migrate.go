package store

import (
	"context"
	"database/sql"
	"embed"
	"fmt"
	"io/fs"

	"github.com/pressly/goose/v3"
)

//go:embed migrations/*.sql
var migrations embed.FS

// migrate applies new migrations: those of migrations/, and those in Go where the
// two databases differ. The first one has the part that only PostgreSQL needs.
func migrate(ctx context.Context, db *sql.DB, d goose.Dialect, options ...goose.ProviderOption) error {
	dir, err := fs.Sub(migrations, "migrations")
	if err != nil {
		return err
	}
	first := goose.NewGoMigration(1, &goose.GoFunc{RunTx: func(ctx context.Context, tx *sql.Tx) error {
		if d != goose.DialectPostgres {
			return nil
		}
		_, err := tx.ExecContext(ctx, postgresOnly)
		return err
	}}, nil)
	cancelled := goose.NewGoMigration(5, allowCancelled(d), nil)
	options = append(options, goose.WithGoMigrations(first, cancelled), goose.WithDisableGlobalRegistry(true))
	p, err := goose.NewProvider(d, db, dir, options...)
	if err != nil {
		return err
	}
	have, known, err := p.GetVersions(ctx)
	if err == nil && have > known {
		return &NewerError{have, known}
	}
	if err == nil {
		_, err = p.Up(ctx)
	}
	if err != nil {
		return fmt.Errorf("schema: %w", err)
	}
	return nil
}

// NewerError is a database that a later version of this program has upgraded.
// Nothing was changed.
type NewerError struct{ Has, Known int64 } // versions of the schema

func (e *NewerError) Error() string {
	return fmt.Sprintf("its schema has version %d, and this program knows %d: use the newer program", e.Has, e.Known)
}
