// Package deployment knows which database and which storage are one service, and
// makes, restores and checks its backups.
package deployment

import (
	"context"
	"fmt"
	"time"

	"github.com/bgremove/bgremove/internal/service/blob"
	"github.com/bgremove/bgremove/internal/service/id"
	"github.com/bgremove/bgremove/internal/service/job"
	"github.com/bgremove/bgremove/internal/service/store"
)

// Mark names the fact of the database, and the object of the storage, by which both
// are known to belong together.
const Mark = "deployment"

// ID names the deployment of a database, for good.
func ID(ctx context.Context, db *store.DB) (string, error) {
	return db.FirstFact(ctx, Mark, id.New("dep_"))
}

// MismatchError is a storage that belongs, or may belong, to another database.
// No job would refer to its objects, so a sweep would remove all of them.
type MismatchError struct {
	Storage  string // its owner; empty if unknown
	Database string
}

func (e *MismatchError) Error() string {
	if e.Storage == "" {
		return "the database knows none of the objects in the storage"
	}
	return fmt.Sprintf("the storage belongs to deployment %s, the database to %s", e.Storage, e.Database)
}

// Bind makes sure that a storage belongs to a database. If neither has a
// partner, it binds them. It also binds a storage of a version that recorded no
// owner, if the database knows its objects. Otherwise the error is a
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

// Adopt binds a storage to a database, whatever its owner was. Within a day,
// sweeps may then remove any number of objects that no job refers to.
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
