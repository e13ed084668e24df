package job

import (
	"context"
	"database/sql"
	"encoding/json"
	"fmt"
	"slices"
	"strings"
	"time"

	"github.com/bgremove/bgremove/internal/service/id"
	"github.com/bgremove/bgremove/internal/service/store"
)

// columns are what scan reads.
const columns = `id, account_id, key_id, batch_id, request_id, state, error, options, output_format, original_name,
	input_key, input_size, input_sha, input_type, frame_count, width, height, duration_ms, cost, charged, attempt,
	preview_key, preview_size, preview_sha, output_key, output_size, output_sha, placement, quality, created_at, started_at, ended_at`

// shownColumns are the columns that scan reads for all but workers and the
// sweeper. They hide expired files, removed or not.
func shownColumns(c Config) string {
	until := func(key string, keep time.Duration) string {
		return fmt.Sprintf("CASE WHEN ended_at < now_ms() - %d THEN NULL ELSE %s END", store.Millis(keep), key)
	}
	return strings.NewReplacer("input_key", until("input_key", c.KeepInputs),
		"preview_key", until("preview_key", c.KeepOutputs), "output_key", until("output_key", c.KeepOutputs)).Replace(columns)
}

func scanJob(row store.Row) (Job, error) {
	var (
		j                      Job
		key, batch, code       sql.NullString
		place, quality         sql.NullString
		options                string
		input, preview, output nullFile
		durationMS, created    int64
		started, ended         sql.NullInt64
	)
	err := row.Scan(&j.ID, &j.AccountID, &key, &batch, &j.RequestID, &j.State, &code, &options, &j.OutputFormat, &j.OriginalName,
		&input.key, &input.size, &input.sha, &j.Media.Type, &j.Media.FrameCount, &j.Media.Width, &j.Media.Height, &durationMS, &j.Cost, &j.Charged, &j.Attempt,
		&preview.key, &preview.size, &preview.sha, &output.key, &output.size, &output.sha, &place, &quality, &created, &started, &ended)
	if err != nil {
		return Job{}, err
	}
	j.KeyID, j.BatchID, j.Error = key.String, batch.String, Code(code.String)
	j.Media.Duration = time.Duration(durationMS) * time.Millisecond
	j.Input, j.Preview, j.Output = input.file(), preview.file(), output.file()
	j.InputSize, j.OutputSize = input.size.Int64, output.size.Int64
	j.CreatedAt, j.StartedAt, j.EndedAt = store.Time(created), store.OptionalTime(started), store.OptionalTime(ended)
	if j.Placement, err = fromColumn[Placement](place); err != nil {
		return Job{}, fmt.Errorf("placement of %s: %w", j.ID, err)
	}
	if j.Quality, err = fromColumn[Quality](quality); err != nil {
		return Job{}, fmt.Errorf("quality of %s: %w", j.ID, err)
	}
	if err := json.Unmarshal([]byte(options), &j.Options); err != nil {
		return Job{}, fmt.Errorf("options of %s: %w", j.ID, err)
	}
	return j, nil
}

// nullFile is the three columns of a file.
type nullFile struct {
	key, sha sql.NullString
	size     sql.NullInt64
}

func (f nullFile) file() *File {
	if !f.key.Valid {
		return nil
	}
	return &File{Key: f.key.String, Size: f.size.Int64, SHA256: f.sha.String}
}

// scanJobs reads all rows.
func scanJobs(rows *sql.Rows, err error) ([]Job, error) {
	if err != nil {
		return nil, err
	}
	defer rows.Close()
	var jobs []Job
	for rows.Next() {
		j, err := scanJob(rows)
		if err != nil {
			return nil, err
		}
		jobs = append(jobs, j)
	}
	return jobs, rows.Err()
}

// wrap names the failed operation. A missing row becomes ErrNotFound.
func wrap(what string, err error) error { return store.Wrap(what, err, ErrNotFound) }

// Get is a job that owner may see, or ErrNotFound.
func (s *Service) Get(ctx context.Context, owner Owner, id string) (Job, error) {
	j, err := scanJob(s.db.QueryRowPrepared(ctx, "SELECT "+s.shown+" FROM jobs WHERE id = $1 AND account_id = $2 AND ($3 = '' OR key_id = $3)",
		id, owner.AccountID, owner.KeyID))
	return j, wrap("job", err)
}

// Page says which jobs List returns.
type Page struct {
	State  State     // only those in it; empty: all
	Since  time.Time // only those made then or later; zero: all
	Before string    // only those made before this job; empty: from the newest
	Limit  int
}

// clockSkew is how far a node's clock, which is in ids, may be from the database's.
const clockSkew = time.Hour

// List is the jobs that owner may see, the newest first.
func (s *Service) List(ctx context.Context, owner Owner, p Page) ([]Job, error) {
	if p.Before == "" {
		p.Before = id.AfterAll
	}
	where, args := "account_id = $1 AND id < $2", []any{owner.AccountID, p.Before, p.Limit}
	and := func(condition string, value any) {
		args = append(args, value)
		where += fmt.Sprintf(" AND %s $%d", condition, len(args))
	}
	switch {
	case slices.Contains(States(), p.State):
		where += " AND state = '" + string(p.State) + "'" // no placeholder, or partial indexes are not seen
	case p.State != "":
		return nil, nil
	}
	if owner.KeyID != "" {
		and("key_id =", owner.KeyID)
	}
	if !p.Since.IsZero() {
		and("created_at >=", p.Since.UnixMilli())
		and("id >=", id.Least(jobPrefix, p.Since.Add(-clockSkew))) // so that older jobs are not even looked at
	}
	jobs, err := scanJobs(s.db.QueryContext(ctx, "SELECT "+s.shown+" FROM jobs WHERE "+where+" ORDER BY id DESC LIMIT $3", args...))
	return jobs, wrap("jobs", err)
}

// Batch is a batch that owner may see, with its jobs, or ErrNotFound.
func (s *Service) Batch(ctx context.Context, owner Owner, id string) (Batch, error) {
	jobs, err := scanJobs(s.db.QueryContext(ctx, "SELECT "+s.shown+` FROM jobs
		WHERE batch_id = $1 AND account_id = $2 AND ($3 = '' OR key_id = $3) ORDER BY id`, id, owner.AccountID, owner.KeyID))
	if err != nil {
		return Batch{}, wrap("batch", err)
	}
	if len(jobs) == 0 {
		return Batch{}, ErrNotFound
	}
	return Batch{ID: id, State: summary(jobs), Jobs: jobs}, nil
}

func summary(jobs []Job) BatchState {
	state := BatchDone
	for _, j := range jobs {
		switch {
		case !j.State.Ended():
			return BatchProcessing
		case j.State != Done:
			state = BatchPartial
		}
	}
	return state
}

// Counts are the jobs of an account, by their state.
func (s *Service) Counts(ctx context.Context, accountID string) (map[State]int64, error) {
	rows, err := s.db.QueryContext(ctx, "SELECT state, COUNT(*) FROM jobs WHERE account_id = $1 GROUP BY state", accountID)
	if err != nil {
		return nil, wrap("jobs", err)
	}
	defer rows.Close()
	counts := make(map[State]int64)
	for rows.Next() {
		var (
			state State
			n     int64
		)
		if err := rows.Scan(&state, &n); err != nil {
			return nil, wrap("jobs", err)
		}
		counts[state] = n
	}
	return counts, wrap("jobs", rows.Err())
}

// Stats are the queue's, of all nodes.
type Stats struct {
	Queued, Running int64
	OldestWait      time.Duration // of queued jobs, without suspended accounts
}

// Stats counts.
func (s *Service) Stats(ctx context.Context) (Stats, error) {
	var (
		stats  Stats
		oldest int64
	)
	err := s.db.QueryRowContext(ctx, `SELECT CAST(COALESCE(SUM(queued), 0) AS BIGINT), CAST(COALESCE(SUM(running), 0) AS BIGINT),
		COALESCE(now_ms() - (SELECT MIN(created_at) FROM jobs WHERE state = 'queued'
			AND NOT EXISTS (`+suspended+` jobs.account_id)), 0) FROM queues`).
		Scan(&stats.Queued, &stats.Running, &oldest)
	stats.OldestWait = time.Duration(max(0, oldest)) * time.Millisecond
	return stats, wrap("queue", err)
}
