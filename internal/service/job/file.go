package job

import (
	"context"
	"iter"
	"slices"
	"strings"
)

// Stored is a file that a job has in the storage.
type Stored struct {
	File
	JobID string
}

// files are those that the job has in the storage.
func (j Job) files() []*File {
	return slices.DeleteFunc([]*File{j.Input, j.Preview, j.Output}, func(f *File) bool { return f == nil })
}

// Files are all files of all jobs, each once. It ends after an error.
func (s *Service) Files(ctx context.Context) iter.Seq2[Stored, error] {
	return func(yield func(Stored, error) bool) {
		seen := make(map[string]bool) // inputs, which jobs may share
		for last := ""; ; {
			jobs, err := scanJobs(s.db.QueryContext(ctx, "SELECT "+columns+" FROM jobs WHERE id > $1 ORDER BY id LIMIT $2", last, sweepAtOnce))
			if err != nil {
				yield(Stored{}, wrap("files", err))
				return
			}
			for _, j := range jobs {
				last = j.ID
				for _, f := range j.files() {
					if seen[f.Key] {
						continue
					}
					if f == j.Input {
						seen[f.Key] = true
					}
					if !yield(Stored{*f, j.ID}, nil) {
						return
					}
				}
			}
			if len(jobs) < sweepAtOnce {
				return
			}
		}
	}
}

// Unknown are those of keys that no job names, and that no running job may be
// about to name.
func (s *Service) Unknown(ctx context.Context, keys []string) ([]string, error) {
	var uploads, others []string
	for _, key := range keys {
		if strings.HasPrefix(key, inputPrefix) {
			uploads = append(uploads, key)
		} else {
			others = append(others, key)
		}
	}
	unknown, err := s.orphanInputs(ctx, uploads)
	if err != nil {
		return nil, wrap("unknown objects", err)
	}
	more, err := s.orphanOutputs(ctx, others)
	return append(unknown, more...), wrap("unknown objects", err)
}

// storageSample is the number of objects that decide which database a storage
// belongs to.
const storageSample = 1000

// KnowsStorage reports whether jobs name any of the objects in the storage, or
// there is none.
func (s *Service) KnowsStorage(ctx context.Context) (bool, error) {
	objects := 0
	for _, prefix := range []string{inputPrefix, outputPrefix} {
		var keys []string
		for info, err := range s.blobs.List(ctx, prefix) {
			if err != nil {
				return false, err
			}
			if keys = append(keys, info.Key); len(keys) == storageSample {
				break
			}
		}
		unknown, err := s.Unknown(ctx, keys)
		if err != nil || len(unknown) < len(keys) {
			return err == nil, err
		}
		objects += len(keys)
	}
	return objects == 0, nil
}

// Forget takes files from jobs, whatever has become of them.
func (s *Service) Forget(ctx context.Context, keys []string) error {
	for _, key := range keys {
		for _, column := range []string{"input_key", "preview_key", "output_key"} {
			if _, err := s.db.ExecContext(ctx, "UPDATE jobs SET "+column+" = NULL WHERE "+column+" = $1", key); err != nil {
				return wrap("forget files", err)
			}
		}
	}
	return nil
}
