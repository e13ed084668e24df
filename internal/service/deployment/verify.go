package deployment

import (
	"context"
	"crypto/sha256"
	"encoding/hex"
	"errors"
	"fmt"
	"io"

	"github.com/bgremove/bgremove/internal/service/blob"
	"github.com/bgremove/bgremove/internal/service/job"
	"github.com/bgremove/bgremove/internal/service/store"
)

// Problem is a file of a job that is not as it was stored.
type Problem struct {
	JobID, Key string
	What       string
}

// Verify looks for every file that a job has: whether it is there, how large it is
// and, with read, whether its SHA-256 is right.
func Verify(ctx context.Context, db *store.DB, blobs *blob.Store, read bool) (checked Copied, problems []Problem, err error) {
	jobs := job.New(db, blobs, job.Config{})
	for f, err := range jobs.Files(ctx) {
		var what string
		if err == nil {
			what, err = compare(ctx, blobs, f.File, read)
		}
		if err == nil && what != "" { // unless it has expired meanwhile
			var unknown []string
			if unknown, err = jobs.Unknown(ctx, []string{f.Key}); len(unknown) == 0 {
				problems = append(problems, Problem{f.JobID, f.Key, what})
			}
		}
		if err != nil {
			return checked, problems, err
		}
		checked.Objects++
		checked.Bytes += f.Size
	}
	return checked, problems, nil
}

// compare describes the fault of an object, if there is one.
func compare(ctx context.Context, blobs *blob.Store, f job.File, read bool) (what string, err error) {
	info, err := blobs.Stat(ctx, f.Key)
	switch {
	case errors.Is(err, blob.ErrNotFound):
		return "missing", nil
	case err != nil:
		return "", err
	case info.Size != f.Size:
		return fmt.Sprintf("has %d bytes in place of %d", info.Size, f.Size), nil
	case !read:
		return "", nil
	}
	r, err := blobs.Open(ctx, f.Key, 0, -1)
	if err != nil {
		return "", err
	}
	defer r.Close()
	hash := sha256.New()
	if _, err := io.Copy(hash, r); err != nil {
		return "", err
	}
	if hex.EncodeToString(hash.Sum(nil)) != f.SHA256 {
		return damaged, nil
	}
	return "", nil
}
