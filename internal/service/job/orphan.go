package job

import (
	"context"
	"fmt"
	"slices"
	"strings"
	"time"

	"github.com/bgremove/bgremove/internal/service/store"
)

// Orphans are so few that many of them are a mistake: a database that has lost
// rows, or is that of another service. More than orphansMost, and than one in
// orphansShare objects, are left alone.
const (
	orphansMost  = 50
	orphansShare = 20
)

// OrphansError is a sweep that would have removed too much, and removed none of
// it.
type OrphansError struct {
	Orphans, Objects int
	BackedUp         bool // some of them are in the last backup
}

func (e *OrphansError) Error() string {
	why := "too many to be right"
	if e.BackedUp {
		why = "and the last backup has some of them"
	}
	return fmt.Sprintf("no job names %d of %d objects, %s: nothing is removed", e.Orphans, e.Objects, why)
}

// sweepOrphans removes objects that no job refers to and that are older than
// any running upload or attempt. They come from requests that were refused when
// the process died, and from attempts that lost their lease. The error is an
// *OrphansError if there are too many.
func (s *Service) sweepOrphans(ctx context.Context) (n int, err error) {
	found, objects, err := s.findOrphans(ctx, time.Now().Add(-s.config.KeepOrphans))
	if err == nil {
		err = s.checkOrphans(ctx, found, objects)
	}
	if err != nil {
		return 0, err
	}
	failures := failures{blobs: s.blobs}
	for _, key := range found {
		err := s.blobs.Delete(ctx, key)
		if err == nil {
			n++
		}
		if failures.record(ctx, err) {
			break
		}
	}
	return n, failures.err("orphans")
}

// findOrphans looks at all objects, and counts them.
func (s *Service) findOrphans(ctx context.Context, before time.Time) (found []string, objects int, err error) {
	for _, place := range []struct {
		prefix  string
		orphans func(context.Context, []string) ([]string, error)
	}{{inputPrefix, s.orphanInputs}, {outputPrefix, s.orphanOutputs}} {
		var keys []string
		check := func() error {
			some, err := place.orphans(ctx, keys)
			found, keys = append(found, some...), keys[:0]
			return wrap("orphans", err)
		}
		for info, err := range s.blobs.List(ctx, place.prefix) {
			if err != nil {
				return nil, 0, err
			}
			objects++
			if info.ModTime.Before(before) {
				keys = append(keys, info.Key)
			}
			if len(keys) == sweepAtOnce {
				if err := check(); err != nil {
					return nil, 0, err
				}
			}
		}
		if err := check(); err != nil {
			return nil, 0, err
		}
	}
	return found, objects, nil
}

// orphansAllowed is the fact of until when any number of orphans may go: somebody
// has said that the storage is this database's.
const orphansAllowed = "orphans_allowed_until"

// AllowOrphans lets the sweeps of a time remove any number of orphans.
func (s *Service) AllowOrphans(ctx context.Context, within time.Duration) error {
	return s.db.SetTimeFact(ctx, orphansAllowed, time.Now().Add(within))
}

func (s *Service) checkOrphans(ctx context.Context, found []string, objects int) error {
	until, err := s.db.TimeFact(ctx, orphansAllowed)
	if err != nil || time.Now().Before(until) {
		return err
	}
	if len(found) > orphansMost && len(found) > objects/orphansShare {
		return &OrphansError{Orphans: len(found), Objects: objects}
	}
	for some := range slices.Chunk(found, sweepAtOnce) {
		saved, err := s.backedUp(ctx, some)
		if err != nil {
			return wrap("orphans", err)
		}
		if saved {
			return &OrphansError{Orphans: len(found), Objects: objects, BackedUp: true}
		}
	}
	return nil
}

// backedUp reports whether the last backup has one of these orphans. Orphans of
// known jobs do not count: a job that ran again refers to newer objects.
func (s *Service) backedUp(ctx context.Context, orphans []string) (bool, error) {
	saved := make(map[string][]string) // by job
	var jobs []string
	err := s.eachRow(ctx, "SELECT key, '', '', '' FROM backup_objects WHERE key IN (%s)", orphans, func(row [4]string) {
		id := jobOf(row[0])
		jobs, saved[id] = append(jobs, id), append(saved[id], row[0])
	})
	if err != nil {
		return false, err
	}
	err = s.eachRow(ctx, "SELECT id, '', '', '' FROM jobs WHERE id IN (%s)", jobs, func(row [4]string) { delete(saved, row[0]) })
	return len(saved) > 0, err
}

// orphanInputs are those of keys that no job has as its input.
func (s *Service) orphanInputs(ctx context.Context, keys []string) ([]string, error) {
	named := make(map[string]bool)
	err := s.eachRow(ctx, "SELECT input_key, '', '', '' FROM jobs WHERE input_key IN (%s)", keys, func(row [4]string) { named[row[0]] = true })
	return slices.DeleteFunc(slices.Clone(keys), func(key string) bool { return named[key] }), err
}

// orphanOutputs are those of keys that lie in the folder of no job, or of one
// that has ended and names others.
func (s *Service) orphanOutputs(ctx context.Context, keys []string) ([]string, error) {
	var ids []string
	for _, key := range keys {
		ids = append(ids, jobOf(key))
	}
	slices.Sort(ids)
	jobs := make(map[string][4]string)
	err := s.eachRow(ctx, "SELECT id, state, COALESCE(output_key, ''), COALESCE(preview_key, '') FROM jobs WHERE id IN (%s)",
		slices.Compact(ids), func(row [4]string) { jobs[row[0]] = row })
	return slices.DeleteFunc(slices.Clone(keys), func(key string) bool {
		row, known := jobs[jobOf(key)]
		return known && (!State(row[1]).Ended() || key == row[2] || key == row[3])
	}), err
}

// jobOf returns the job of a key's folder.
func jobOf(key string) string {
	id, _, _ := strings.Cut(strings.TrimPrefix(key, outputPrefix), "/")
	return id
}

// eachRow reads rows of four texts, for a query with a list of values in it.
func (s *Service) eachRow(ctx context.Context, query string, values []string, f func(row [4]string)) error {
	if len(values) == 0 {
		return nil
	}
	places, args := store.List(values)
	rows, err := s.db.QueryContext(ctx, fmt.Sprintf(query, places), args...)
	if err != nil {
		return err
	}
	defer rows.Close()
	for rows.Next() {
		var row [4]string
		if err := rows.Scan(&row[0], &row[1], &row[2], &row[3]); err != nil {
			return err
		}
		f(row)
	}
	return rows.Err()
}
