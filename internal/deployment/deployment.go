// Package deployment knows which database and which storage are one service, and
// makes, restores and checks its backups.
package deployment

import (
	"context"
	"fmt"
	"time"

	"github.com/bgremove/bgremove/internal/blob"
	"github.com/bgremove/bgremove/internal/id"
	"github.com/bgremove/bgremove/internal/job"
	"github.com/bgremove/bgremove/internal/store"
)

// Mark names the fact of the database, and the object of the storage, by which both
// are known to belong together.
const Mark = "deployment"

// ID names the deployment of a database, for good.
func ID(ctx context.Context, db *store.DB) (string, error) {
	return db.FirstFact(ctx, Mark, id.New("dep_"))
}

// MismatchError is a storage that belongs to another database, or may. Everything
// in it would look like what no job names, and be removed.
type MismatchError struct {
	Storage  string // whose it is; empty: nobody has said so
	Database string
}

func (e *MismatchError) Error() string {
	if e.Storage == "" {
		return "the storage has objects, of which the database knows none"
	}
	return fmt.Sprintf("the storage belongs to deployment %s, the database to %s", e.Storage, e.Database)
}

// Bind makes sure that a storage is that of a database. Where neither is anybody's
// yet, it is from now on, and so where the storage is of a version that did not
// say so and the database knows what lies there. Otherwise the error is a
// *MismatchError.
func Bind(ctx context.Context, db *store.DB, blobs *blob.Store) error {
	own, err := ID(ctx, db)
	if err != nil {
		return err
	}
	mark, err := blobs.Mark(ctx, Mark)
	if err != nil || mark == own {
		return err
	}
	known := false
	if mark == "" {
		if known, err = job.New(db, blobs, job.Config{}).KnowsStorage(ctx); err != nil {
			return err
		}
	}
	if !known {
		return &MismatchError{Storage: mark, Database: own}
	}
	return blobs.SetMark(ctx, Mark, own)
}

// allowed is how long orphans may be removed after Adopt.
const allowed = 24 * time.Hour

// Adopt makes a storage that of a database, whatever it was: what no job of the
// database names may be removed within a day, however much it is.
func Adopt(ctx context.Context, db *store.DB, blobs *blob.Store) error {
	own, err := ID(ctx, db)
	if err != nil {
		return err
	}
	if err := blobs.SetMark(ctx, Mark, own); err != nil {
		return err
	}
	return job.New(db, blobs, job.Config{}).AllowOrphans(ctx, allowed)
}
