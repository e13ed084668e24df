package deployment

import (
	"context"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"

	"github.com/bgremove/bgremove/internal/service/blob"
	"github.com/bgremove/bgremove/internal/service/job"
	"github.com/bgremove/bgremove/internal/service/store"
)

// The parts of a backup: the database, and the objects as files.
const (
	databaseName = "bgremove.db"
	objectsName  = "objects"
)

// Copied counts the objects of a backup.
type Copied struct {
	Objects int
	Bytes   int64
}

// ExistsError is an existing destination of a backup or a restore.
type ExistsError struct{ What string }

func (e *ExistsError) Error() string { return e.What + " exists already" }

// DamagedError is an object that differs from the stored one.
type DamagedError struct{ Key string }

func (e *DamagedError) Error() string {
	return "object " + e.Key + " is " + damaged
}

// damaged is the result of a hash.
const damaged = "damaged: its SHA-256 is another"

// Backup copies a SQLite database, and the files of its jobs, into a new folder
// while a service uses them. The database is that of one moment. Objects never
// change; the copied database does not know objects that expire meanwhile. Each
// object is checked against its SHA-256. After an error there is no folder,
// unless the database cannot record that it has a backup. The error is
// store.ErrNoSnapshot with PostgreSQL, *ExistsError or *DamagedError.
func Backup(ctx context.Context, db *store.DB, blobs *blob.Store, dir string) (copied Copied, err error) {
	dir = filepath.Clean(dir)
	if err := checkAbsent(dir); err != nil {
		return Copied{}, err
	}
	part := dir + ".part"
	if err := errors.Join(os.RemoveAll(part), os.MkdirAll(part, 0o700)); err != nil {
		return Copied{}, fmt.Errorf("backup: %w", err)
	}
	defer os.RemoveAll(part)
	if err := db.Snapshot(ctx, filepath.Join(part, databaseName)); err != nil {
		return Copied{}, err
	}
	to, err := openFolder(ctx, filepath.Join(part, objectsName))
	if err != nil {
		return Copied{}, err
	}
	live := job.New(db, blobs, job.Config{})
	var kept, gone []string
	err = copyAll(ctx, part, blobs, to, func(f job.File, err error) error {
		if errors.Is(err, blob.ErrNotFound) {
			unknown, failure := live.Unknown(ctx, []string{f.Key})
			if gone = append(gone, unknown...); failure != nil || len(unknown) > 0 {
				return failure
			}
		}
		kept = append(kept, f.Key)
		copied.Objects++
		copied.Bytes += f.Size
		return err
	})
	if err := errors.Join(err, to.Close(), forget(ctx, part, gone)); err != nil {
		return Copied{}, err
	}
	if err := os.Rename(part, dir); err != nil {
		return Copied{}, fmt.Errorf("backup: %w", err)
	}
	return copied, live.NoteBackup(ctx, kept)
}

// forget takes files from the jobs of a backup's database.
func forget(ctx context.Context, dir string, keys []string) error {
	if len(keys) == 0 {
		return nil
	}
	path := filepath.Join(dir, databaseName)
	db, err := store.Open(ctx, "sqlite:"+path)
	if err != nil {
		return err
	}
	err = job.New(db, nil, job.Config{}).Forget(ctx, keys)
	return errors.Join(err, db.Close(), os.RemoveAll(path+".lock"))
}

// sqliteLogs are the endings of SQLite's logs. SQLite writes a log that it finds beside a
// database into it, even if it is another database's.
var sqliteLogs = []string{"-wal", "-journal"}

// Restore puts a backup back: into a database file that does not exist yet, without logs
// beside it, and a storage without objects. The database comes last, so that there is none
// until all is there. The error is *ExistsError or *DamagedError, among others.
func Restore(ctx context.Context, dir, database string, blobs *blob.Store) (copied Copied, err error) {
	found := errors.Join(checkAbsent(database), checkEmpty(ctx, blobs))
	for _, log := range sqliteLogs {
		found = errors.Join(found, checkAbsent(database+log))
	}
	if found != nil {
		return Copied{}, found
	}
	if _, err := os.Stat(filepath.Join(dir, databaseName)); err != nil {
		return Copied{}, fmt.Errorf("no backup: %w", err)
	}
	from, err := openFolder(ctx, filepath.Join(dir, objectsName))
	if err != nil {
		return Copied{}, err
	}
	err = copyAll(ctx, dir, from, blobs, func(f job.File, err error) error {
		copied.Objects++
		copied.Bytes += f.Size
		return err
	})
	if err := errors.Join(err, from.Close()); err != nil {
		return Copied{}, err
	}
	return copied, restoreDatabase(ctx, dir, database)
}

func restoreDatabase(ctx context.Context, dir, database string) error {
	part := database + ".part"
	if err := errors.Join(os.MkdirAll(filepath.Dir(database), 0o700), os.RemoveAll(part)); err != nil {
		return err
	}
	db, err := store.OpenCopy(filepath.Join(dir, databaseName))
	if err != nil {
		return err
	}
	if err := errors.Join(db.Snapshot(ctx, part), db.Close()); err != nil {
		return err
	}
	return os.Rename(part, database)
}

// copyAll copies all objects of the jobs in a backup's database, and the mark
// of its owner. did gets each result and decides whether to continue.
func copyAll(ctx context.Context, dir string, from, to *blob.Store, did func(job.File, error) error) (err error) {
	db, err := store.OpenCopy(filepath.Join(dir, databaseName))
	if err != nil {
		return err
	}
	defer func() { err = errors.Join(err, db.Close()) }()
	own, err := db.Fact(ctx, Mark)
	if err != nil {
		return err
	}
	for f, err := range job.New(db, from, job.Config{}).Files(ctx) {
		if err != nil {
			return err
		}
		if err := did(f.File, copyObject(ctx, from, to, f.File)); err != nil {
			return fmt.Errorf("%s: %w", f.JobID, err)
		}
	}
	return to.SetMark(ctx, Mark, own)
}

// copyObject copies an object and checks the copy.
func copyObject(ctx context.Context, from, to *blob.Store, f job.File) error {
	r, err := from.Open(ctx, f.Key, 0, -1)
	if err != nil {
		return err
	}
	defer r.Close()
	made, err := to.Receive(ctx, f.Key, r, f.Size)
	if errors.Is(err, blob.ErrTooLarge) {
		return &DamagedError{f.Key}
	}
	if err != nil {
		return err
	}
	made.Release()
	if made.Size != f.Size || made.SHA256 != f.SHA256 {
		return errors.Join(&DamagedError{f.Key}, to.Delete(ctx, f.Key))
	}
	return nil
}

func checkAbsent(path string) error {
	_, err := os.Lstat(path)
	if errors.Is(err, fs.ErrNotExist) {
		return nil
	}
	if err == nil {
		err = &ExistsError{path}
	}
	return err
}

func checkEmpty(ctx context.Context, blobs *blob.Store) error {
	for info, err := range blobs.List(ctx, "") {
		if err == nil {
			err = &ExistsError{"object " + info.Key + " of the storage"}
		}
		return err
	}
	return nil
}

// openFolder opens the objects of a backup.
func openFolder(ctx context.Context, path string) (*blob.Store, error) {
	path, err := filepath.Abs(path)
	if err != nil {
		return nil, err
	}
	return blob.Open(ctx, blob.FolderURL(path), blob.Options{})
}
