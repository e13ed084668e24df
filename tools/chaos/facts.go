package main

import (
	"context"
	"crypto/sha256"
	"database/sql"
	"encoding/hex"
	"errors"
	"fmt"
	"io"
	"maps"
	"slices"

	"github.com/bgremove/bgremove/internal/service/account"
	"github.com/bgremove/bgremove/internal/service/blob"
)

// facts is the final content of the database.
type facts struct {
	jobs   []row
	files  map[string]file // by key
	ledger map[string]map[account.Kind][]int64
	// waiting counts jobs that are still open for the queue.
	waiting int64
	// events is the last event number of each account. gaps are the numbers
	// with a missing predecessor. told is the last state of each job in its
	// events.
	events map[string]int64
	gaps   []string
	told   map[string]string
	// queued counts, by its events, how often each job was queued.
	queued map[string]int64
}

// row is a job.
type row struct {
	id, state, code     string
	cost, charged       int64
	attempt, lost       int64
	input, output, shot file
}

// file is an object that a job names; its hash may be unknown.
type file struct {
	key, sha sql.NullString
	size     sql.NullInt64
}

func (f *facts) addJob(rows *sql.Rows) error {
	var r row
	err := rows.Scan(&r.id, &r.state, &r.code, &r.cost, &r.charged, &r.attempt, &r.lost, &r.input.key, &r.input.size,
		&r.output.key, &r.output.size, &r.output.sha, &r.shot.key, &r.shot.size, &r.shot.sha)
	f.jobs = append(f.jobs, r)
	for _, o := range []file{r.input, r.output, r.shot} {
		if o.key.Valid {
			f.files[o.key.String] = o
		}
	}
	return err
}

func (f *facts) addEntry(rows *sql.Rows) error {
	var (
		job    string
		kind   account.Kind
		amount int64
	)
	err := rows.Scan(&job, &kind, &amount)
	if f.ledger[job] == nil {
		f.ledger[job] = make(map[account.Kind][]int64)
	}
	f.ledger[job][kind] = append(f.ledger[job][kind], amount)
	return err
}

func (f *facts) addQueue(rows *sql.Rows) error {
	var queued, running int64
	err := rows.Scan(&queued, &running)
	f.waiting += queued + running
	return err
}

func (f *facts) addEvent(rows *sql.Rows) error {
	var (
		account, job, state string
		seq                 int64
	)
	err := rows.Scan(&account, &seq, &job, &state)
	if last, known := f.events[account]; known && seq != last+1 {
		f.gaps = append(f.gaps, fmt.Sprint(account, " ", seq))
	}
	f.events[account], f.told[job] = seq, state
	if state == "queued" {
		f.queued[job]++
	}
	return err
}

func (f *facts) count(state string) (n int) {
	for _, r := range f.jobs {
		if r.state == state {
			n++
		}
	}
	return n
}

func (f *facts) lost() (n int64) {
	for _, r := range f.jobs {
		n += r.lost
	}
	return n
}

// returned counts the claims of done jobs that workers gave back.
func (f *facts) returned() (n int64) {
	for _, r := range f.jobs {
		if r.state == "done" {
			n += r.returned()
		}
	}
	return n
}

// check compares the jobs with those that clients were told about, and whether these
// have deleted them, and each job with its entries in the ledger. Workers may
// have given jobs back if stopped is set.
func (f *facts) check(told map[string]bool, stopped bool) error {
	var errs []error
	if len(f.jobs) != len(told) {
		errs = append(errs, fmt.Errorf("%d jobs were created, but clients know of %d", len(f.jobs), len(told)))
	}
	if f.waiting != 0 {
		errs = append(errs, fmt.Errorf("the queue counts %d jobs", f.waiting))
	}
	if len(f.ledger) != len(f.jobs) {
		errs = append(errs, fmt.Errorf("the ledger has %d jobs of %d", len(f.ledger), len(f.jobs)))
	}
	if len(f.gaps) > 0 {
		errs = append(errs, fmt.Errorf("events are missing before %q", f.gaps))
	}
	for _, r := range f.jobs {
		if last, kept := f.told[r.id]; kept && last != r.state {
			errs = append(errs, fmt.Errorf("%s is %s, but its last event says %s", r.id, r.state, last))
		}
		if err := errors.Join(r.checkEnd(told), r.checkCredits(f.ledger[r.id]), r.checkClaims(f.queued[r.id], stopped)); err != nil {
			errs = append(errs, fmt.Errorf("%s, %+v: %w", r.id, r, err))
		}
	}
	return errors.Join(errs...)
}

// returned counts the claims of a done job that its workers gave back.
func (r row) returned() int64 { return r.attempt - r.lost - 1 }

// checkClaims compares the claims of a done job with how often it was queued, and with
// how often it was lost or given back.
func (r row) checkClaims(queued int64, stopped bool) error {
	switch {
	case r.state != "done":
		return nil
	case queued > 0 && r.attempt != queued: // events are kept for an hour
		return fmt.Errorf("it was claimed %d times, but queued %d times", r.attempt, queued)
	case r.returned() < 0 || r.returned() > 0 && !stopped:
		return errors.New("its claims are not one more than were lost")
	}
	return nil
}

// mostLosses is the number of times that a job may lose its worker.
const mostLosses = 3

func (r row) checkEnd(told map[string]bool) error {
	deleted, ordered := told[r.id]
	switch {
	case !ordered:
		return errors.New("no client ordered it")
	case r.state == "cancelled" && !deleted:
		return errors.New("no client cancelled it")
	case deleted && (r.state == "cancelled" || r.state == "done"):
		return nil // if it was done already, it has lost its files
	case r.state == "done" && (!r.output.key.Valid || !r.shot.key.Valid):
		return errors.New("it is done without an output or a preview")
	case r.state == "failed" && r.code == "processing_failed" && r.lost != mostLosses:
		return errors.New("it failed without losing all its workers")
	case r.state == "failed" && r.code == "unreadable_file" && r.attempt != 0:
		return errors.New("a worker had it, although its file is unreadable")
	case r.state == "done", r.state == "failed" && (r.code == "processing_failed" || r.code == "unreadable_file"):
		return nil
	}
	return errors.New("it has not ended, or ended without a reason")
}

func (r row) checkCredits(entries map[account.Kind][]int64) error {
	want := map[account.Kind][]int64{account.Charge: {-r.cost}}
	if r.state == "failed" || r.state == "cancelled" {
		want[account.Refund] = []int64{r.cost}
	}
	if r.charged != r.cost || !maps.EqualFunc(entries, want, slices.Equal) {
		return fmt.Errorf("the ledger has %v, want %v", entries, want)
	}
	return nil
}

// compare finds objects that no job names, and files of jobs that are missing
// or different.
func (f *facts) compare(ctx context.Context, blobs *blob.Store, there map[string]int64) error {
	var errs []error
	for key := range there {
		if _, named := f.files[key]; !named {
			errs = append(errs, fmt.Errorf("%s is an orphan", key))
		}
	}
	for key, o := range f.files {
		if size, ok := there[key]; !ok || size != o.size.Int64 {
			errs = append(errs, fmt.Errorf("%s has %d bytes of %d", key, size, o.size.Int64))
		} else if o.sha.Valid {
			errs = append(errs, rehash(ctx, blobs, key, o.sha.String))
		}
	}
	return errors.Join(errs...)
}

// rehash reads an object and compares it with its job's description.
func rehash(ctx context.Context, blobs *blob.Store, key, want string) error {
	r, err := blobs.Open(ctx, key, 0, -1)
	if err != nil {
		return err
	}
	defer r.Close()
	h := sha256.New()
	if _, err := io.Copy(h, r); err != nil {
		return err
	}
	if got := hex.EncodeToString(h.Sum(nil)); got != want {
		return fmt.Errorf("%s has the hash %s, but its job says %s", key, got, want)
	}
	return nil
}
