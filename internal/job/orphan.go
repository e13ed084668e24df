package job

import (
	"context"
	"fmt"
	"slices"
	"strings"
)

// orphanInputs are those of keys that no job has as its input.
func (s *Service) orphanInputs(ctx context.Context, keys []string) ([]string, error) {
	named := make(map[string]bool)
	err := s.each(ctx, "SELECT input_key, '', '', '' FROM jobs WHERE input_key IN (%s)", keys, func(row [4]string) { named[row[0]] = true })
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
	err := s.each(ctx, "SELECT id, state, COALESCE(output_key, ''), COALESCE(preview_key, '') FROM jobs WHERE id IN (%s)",
		slices.Compact(ids), func(row [4]string) { jobs[row[0]] = row })
	return slices.DeleteFunc(slices.Clone(keys), func(key string) bool {
		row, known := jobs[jobOf(key)]
		running := row[1] == string(Queued) || row[1] == string(Processing)
		return known && (running || key == row[2] || key == row[3])
	}), err
}

// jobOf is the job whose folder a key lies in.
func jobOf(key string) string {
	id, _, _ := strings.Cut(strings.TrimPrefix(key, outputs), "/")
	return id
}

// each reads rows of four texts, for a query with a list of values in it.
func (s *Service) each(ctx context.Context, query string, values []string, f func(row [4]string)) error {
	if len(values) == 0 {
		return nil
	}
	var (
		args   []any
		places []string
	)
	for i, v := range values {
		args, places = append(args, v), append(places, fmt.Sprint("$", i+1))
	}
	rows, err := s.db.QueryContext(ctx, fmt.Sprintf(query, strings.Join(places, ", ")), args...)
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
