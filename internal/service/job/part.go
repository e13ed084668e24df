package job

import (
	"context"
	"database/sql"
	"encoding/json"
	"errors"
	"fmt"
	"maps"
	"slices"
	"strings"
	"time"

	"github.com/bgremove/bgremove/internal/service/store"
)

// A long clip is done in parts. The worker that has claimed the job adds a row for each
// part, does parts itself, and joins them when all are done. Workers for whom no job waits
// claim parts meanwhile. A part's claim is a lease like a job's. It ends with the job's claim.

// Part is a part of a clip, from its start. An End of 0 is the clip's.
type Part struct {
	Start time.Duration `json:"start"`
	End   time.Duration `json:"end"`
}

// Splitter is a Processor that can do a clip in parts. The mattes of all parts come first,
// for each part's video depends on where the subject is in the others.
type Splitter interface {
	Processor
	// Split divides a clip into parts of at most a length. There are none where it must be
	// done as a whole.
	Split(ctx context.Context, t Task, length time.Duration) ([]Part, error)
	// MattePart writes the mattes of a part to a file, and returns where the subject is.
	MattePart(ctx context.Context, t Task, p Part, file string) (Box, error)
	// RenderPart writes the video of a part to a file. The box is around those of all parts.
	RenderPart(ctx context.Context, t Task, p Part, mattes, file string, box Box) (report json.RawMessage, err error)
	// JoinParts makes the output of the parts' videos.
	JoinParts(ctx context.Context, t Task, parts []RenderedPart) (Product, error)
}

// RenderedPart is a video that RenderPart has written.
type RenderedPart struct {
	Path   string
	Report json.RawMessage
}

// partStep is what is done with a part.
type partStep string

const (
	matteStep  partStep = "matte"
	renderStep partStep = "render"
)

// partTask is what a step is given.
type partTask struct {
	Part
	Box    Box    `json:"box,omitzero"`     // to render: around all parts
	Mattes string `json:"mattes,omitempty"` // to render: their object
}

// partResult is what a step has found.
type partResult struct {
	Box    Box             `json:"box,omitzero"`
	Report json.RawMessage `json:"report,omitempty"`
}

// part is a row of job_parts.
type part struct {
	jobID   string
	step    partStep
	n       int
	task    partTask
	attempt int64
	done    bool
	failed  bool // it was lost too often
	result  partResult
	key     string
}

// partsTopic wakes those that wait for parts to be done.
const partsTopic = "job_parts"

// partClaims is more than a part's claims while a job has one attempt. Parts of the next attempt
// begin that much higher. So no two claims of a place have the same number, even where parts were
// replaced.
const partClaims = 1 << 20

// openParts adds the parts of a step. If an earlier attempt at the job has added the same ones,
// these stay; other ones go.
func (s *Service) openParts(ctx context.Context, j Job, step partStep, tasks []partTask) error {
	texts := make([]string, len(tasks))
	for i, task := range tasks {
		text, err := json.Marshal(task)
		if err != nil {
			return err
		}
		texts[i] = string(text)
	}
	return s.transition(ctx, "open parts", func(tx *store.Tx) error {
		if _, _, err := updateClaimed(ctx, tx, j, "state = state"); err != nil {
			return err
		}
		there, err := tasksOf(ctx, tx, j.ID, step)
		if err != nil || slices.Equal(there, texts) {
			return err
		}
		if _, err := tx.ExecContext(ctx, "DELETE FROM job_parts WHERE job_id = $1 AND ($2 = 'matte' OR step = $2)", j.ID, string(step)); err != nil {
			return err
		}
		for n, text := range texts {
			if _, err := tx.ExecContext(ctx, `INSERT INTO job_parts (job_id, step, n, task, state, attempt, lost)
				VALUES ($1, $2, $3, $4, 'waiting', $5, 0)`, j.ID, string(step), n, text, j.Attempt*partClaims); err != nil {
				return err
			}
		}
		tx.Notify(jobsTopic)
		return nil
	})
}

// tasksOf are the tasks of a step, as JSON, in order.
func tasksOf(ctx context.Context, tx *store.Tx, jobID string, step partStep) (all []string, err error) {
	rows, err := tx.QueryContext(ctx, "SELECT task FROM job_parts WHERE job_id = $1 AND step = $2 ORDER BY n", jobID, string(step))
	if err != nil {
		return nil, err
	}
	defer rows.Close()
	for rows.Next() {
		var text string
		if err := rows.Scan(&text); err != nil {
			return nil, err
		}
		all = append(all, text)
	}
	return all, rows.Err()
}

// claimableParts is the condition on a row of job_parts that may be claimed, $1 being how
// often it may fail.
const claimableParts = `state <> 'done' AND (lease_until IS NULL OR lease_until < now_ms()) AND lost < CAST($1 AS BIGINT)
	AND EXISTS (SELECT 1 FROM jobs WHERE id = job_id AND state = 'processing')`

// partColumns are what scanPart reads.
const partColumns = `job_id, step, n, task, attempt, state = 'done', lost >= CAST($1 AS BIGINT) AND state <> 'done' AND
	(lease_until IS NULL OR lease_until < now_ms()), COALESCE(result, '{}'), COALESCE(object_key, '')`

func scanPart(row store.Row) (p part, err error) {
	var task, result string
	if err := row.Scan(&p.jobID, &p.step, &p.n, &task, &p.attempt, &p.done, &p.failed, &result, &p.key); err != nil {
		return part{}, err
	}
	return p, errors.Join(json.Unmarshal([]byte(task), &p.task), json.Unmarshal([]byte(result), &p.result))
}

// anyPart reports whether claimPart would find a part of any job.
func (s *Service) anyPart(ctx context.Context) (yes bool, err error) {
	err = s.db.QueryRowContext(ctx, "SELECT EXISTS (SELECT 1 FROM job_parts WHERE "+claimableParts+")", s.config.MaxAttempts).Scan(&yes)
	return yes, wrap("look for parts", err)
}

// claimPart takes the next part of a job, or of the oldest job if jobID is empty. A claim
// whose lease has run out counts as lost.
func (s *Service) claimPart(ctx context.Context, jobID string) (p part, found bool, err error) {
	err = s.transition(ctx, "claim a part", func(tx *store.Tx) error {
		var err error
		p, err = scanPart(tx.QueryRowContext(ctx, `UPDATE job_parts SET attempt = attempt + 1, lost = lost + CASE WHEN state = 'running' THEN 1 ELSE 0 END,
				state = 'running', lease_until = now_ms() + CAST($2 AS BIGINT)
			WHERE (job_id, step, n) = (SELECT job_id, step, n FROM job_parts WHERE `+claimableParts+` AND ($3 = '' OR job_id = $3)
				ORDER BY job_id, step, n LIMIT 1`+s.db.SkipLocked()+`) RETURNING `+partColumns,
			s.config.MaxAttempts, store.Millis(s.config.Lease), jobID))
		found = err == nil
		if errors.Is(err, sql.ErrNoRows) {
			return nil
		}
		return err
	})
	return p, found, err
}

// updatePart sets columns of a claimed part, by values from $4 on, while its job is processed.
func (s *Service) updatePart(ctx context.Context, what string, p part, set string, values ...any) error {
	return s.transition(ctx, what, func(tx *store.Tx) error {
		done, err := tx.ExecContext(ctx, "UPDATE job_parts SET "+set+` WHERE job_id = $1 AND step = $2 AND n = $3 AND attempt = $4 AND state = 'running'
			AND EXISTS (SELECT 1 FROM jobs WHERE id = job_id AND state = 'processing')`, append([]any{p.jobID, string(p.step), p.n, p.attempt}, values...)...)
		if err != nil {
			return err
		}
		if n, err := done.RowsAffected(); err != nil || n == 0 {
			return errors.Join(errLost, err)
		}
		tx.Notify(partsTopic)
		return nil
	})
}

// renewPart extends the lease of a claim.
func (s *Service) renewPart(ctx context.Context, p part) error {
	return s.updatePart(ctx, "renew the lease", p, "lease_until = now_ms() + CAST($5 AS BIGINT)", store.Millis(s.config.Lease))
}

// finishPart makes a part done. Its file is the object.
func (s *Service) finishPart(ctx context.Context, p part, r partResult, key string) error {
	text, err := json.Marshal(r)
	if err != nil {
		return err
	}
	return s.updatePart(ctx, "finish a part", p, "state = 'done', lease_until = NULL, result = $5, object_key = $6", string(text), key)
}

// returnPart gives a part back, which counts as lost if it has failed.
func (s *Service) returnPart(ctx context.Context, p part, failed bool) error {
	lost := 0
	if failed {
		lost = 1
	}
	return s.updatePart(ctx, "give a part back", p, "state = 'waiting', lease_until = NULL, lost = lost + CAST($5 AS BIGINT)", lost)
}

// partsOf are the parts of a step, in order.
func (s *Service) partsOf(ctx context.Context, jobID string, step partStep) (all []part, err error) {
	rows, err := s.db.QueryContext(ctx, "SELECT "+partColumns+" FROM job_parts WHERE job_id = $2 AND step = $3 ORDER BY n", s.config.MaxAttempts, jobID, string(step))
	if err != nil {
		return nil, wrap("parts", err)
	}
	defer rows.Close()
	for rows.Next() {
		p, err := scanPart(rows)
		if err != nil {
			return nil, wrap("parts", err)
		}
		all = append(all, p)
	}
	return all, wrap("parts", rows.Err())
}

// dropParts forgets the parts of a job and removes their files.
func (s *Service) dropParts(ctx context.Context, jobID string) (n int, err error) {
	for info, err := range s.blobs.List(ctx, partPrefix+jobID+"/") {
		if err == nil {
			err = s.blobs.Delete(ctx, info.Key)
		}
		if err != nil {
			return n, fmt.Errorf("parts: %w", err)
		}
		n++
	}
	_, err = s.db.ExecContext(ctx, "DELETE FROM job_parts WHERE job_id = $1", jobID)
	return n, wrap("parts", err)
}

// sweepParts drops the parts of jobs that have ended.
func (s *Service) sweepParts(ctx context.Context) (n int, err error) {
	if _, err := s.db.ExecContext(ctx, "DELETE FROM job_parts WHERE job_id IN (SELECT id FROM jobs WHERE ended_at IS NOT NULL)"); err != nil {
		return 0, wrap("parts", err)
	}
	ids := make(map[string]bool)
	for info, err := range s.blobs.List(ctx, partPrefix) {
		if err != nil {
			return 0, err
		}
		id, _, _ := strings.Cut(strings.TrimPrefix(info.Key, partPrefix), "/")
		ids[id] = true
	}
	err = s.eachRow(ctx, "SELECT id, '', '', '' FROM jobs WHERE ended_at IS NULL AND id IN (%s)", slices.Collect(maps.Keys(ids)), func(row [4]string) { delete(ids, row[0]) })
	if err != nil {
		return 0, wrap("parts", err)
	}
	failures := failures{blobs: s.blobs}
	for id := range ids {
		some, err := s.dropParts(ctx, id)
		n += some
		if failures.record(ctx, err) {
			break
		}
	}
	return n, failures.err("parts")
}
