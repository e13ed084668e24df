package job

import (
	"context"
	"database/sql"
	"encoding/json"
	"fmt"

	"github.com/bgremove/bgremove/internal/service/account"
	"github.com/bgremove/bgremove/internal/service/id"
	"github.com/bgremove/bgremove/internal/service/price"
	"github.com/bgremove/bgremove/internal/service/store"
)

// Prefixes in the blob store: uploads, outputs of attempts, and files of parts, which no
// backup has.
const (
	inputPrefix  = "inputs/"
	outputPrefix = "jobs/"
	partPrefix   = "parts/"
)

// InputKey is a new key for an upload.
func InputKey() string { return inputPrefix + id.New("") }

// Input is a file that lies in the blob store.
type Input struct {
	Name   string // as uploaded, without folders and control characters
	Key    string // see InputKey
	Size   int64
	SHA256 string // in hex
	URL    string // where it was fetched from; empty if it was uploaded
	Media  Media
	// Unreadable marks a file of a batch that cannot be read.
	Unreadable bool
}

// Submission is the content of one request.
type Submission struct {
	Owner     Owner
	RequestID string
	Options   Options
	Files     []Input
	// Batch makes a batch of the files; without it there is one file, which
	// is readable.
	Batch bool
	// WebhookURL, if set, is told of the end of each job.
	WebhookURL string
	// Again, if set, is the job that provides the one input file, see
	// Job.Again.
	Again string
	// Reservation, if set, is the request's Idempotency-Key.
	Reservation *Reservation
}

// Receipt is the answer to a submission.
type Receipt struct {
	BatchID          string        `json:"batchId,omitempty"`
	Jobs             []ReceiptItem `json:"jobs"` // in the order of the files
	CreditsRemaining int64         `json:"creditsRemaining"`
	// Replayed marks the answer to an earlier request with the same
	// Idempotency-Key: nothing was done, and the new files are not needed.
	Replayed bool `json:"-"`
}

// ReceiptItem is one job of a submission.
type ReceiptItem struct {
	ID       string `json:"id"`
	Filename string `json:"filename"`
}

// Submit charges for all files and queues them, or does nothing. The error is
// then an *account.InsufficientError, account.ErrSuspended, ErrConflict,
// ErrRunning, ErrNotFound if the input of Again has expired meanwhile, or the
// database's. An unreadable file of a batch becomes a job that has failed,
// charged the least price and refunded. The objects of the files are the
// caller's to delete unless the receipt is a new one.
func (s *Service) Submit(ctx context.Context, sub Submission) (Receipt, error) {
	if len(sub.Files) == 0 || !sub.Batch && len(sub.Files) > 1 {
		return Receipt{}, fmt.Errorf("submit: %d files", len(sub.Files))
	}
	if r := sub.Reservation; r != nil {
		if earlier, err := r.Answer(sub); earlier != nil || err != nil {
			return deref(earlier), err
		}
	}
	var receipt Receipt
	err := s.db.Tx(ctx, func(tx *store.Tx) (err error) {
		receipt, err = s.submit(ctx, tx, sub)
		return err
	})
	if err != nil {
		return Receipt{}, wrap("submit", err)
	}
	if sub.Reservation != nil {
		sub.Reservation.complete()
	}
	s.observeCredits(sub)
	return receipt, nil
}

// Afford refuses, by an *account.InsufficientError, an account that cannot pay
// the least price of so many files: before they are looked at.
func (s *Service) Afford(ctx context.Context, accountID string, files int) error {
	if s.config.Unlimited {
		return nil
	}
	balance, err := s.ledger.Balance(ctx, accountID)
	if cost := price.Least * int64(files); err == nil && balance < cost {
		err = &account.InsufficientError{Balance: balance, Cost: cost}
	}
	return err
}

func (s *Service) observeCredits(sub Submission) {
	if s.config.Unlimited {
		return
	}
	for _, f := range sub.Files {
		cost := sub.Options.Price(f.Media)
		s.config.Observer.Credits(account.Charge, cost)
		if f.Unreadable {
			s.config.Observer.Credits(account.Refund, cost)
		}
	}
}

func deref(r *Receipt) Receipt {
	if r == nil {
		return Receipt{}
	}
	return *r
}

// submit is the body of one transaction.
func (s *Service) submit(ctx context.Context, tx *store.Tx, sub Submission) (Receipt, error) {
	receipt := Receipt{}
	if sub.Again != "" {
		if err := lockInput(ctx, tx, sub); err != nil {
			return Receipt{}, err
		}
	}
	var batch sql.NullString
	if sub.Batch {
		batch = sql.NullString{String: id.New("batch_"), Valid: true}
		receipt.BatchID = batch.String
		if _, err := tx.ExecContext(ctx, "INSERT INTO batches (id, account_id, key_id, created_at) VALUES ($1, $2, $3, now_ms())",
			batch, sub.Owner.AccountID, nullString(sub.Owner.KeyID)); err != nil {
			return Receipt{}, err
		}
	}
	items := make([]account.Item, len(sub.Files))
	for i, f := range sub.Files {
		items[i] = account.Item{JobID: id.New(jobPrefix), Credits: sub.Options.Price(f.Media)}
		receipt.Jobs = append(receipt.Jobs, ReceiptItem{ID: items[i].JobID, Filename: f.Name})
	}
	options, err := json.Marshal(sub.Options)
	if err != nil {
		return Receipt{}, err
	}
	for i, f := range sub.Files {
		if err := s.insert(ctx, tx, sub, batch, items[i], f, string(options)); err != nil {
			return Receipt{}, err
		}
	}
	tx.Notify(eventsTopic)
	if sub.readable() > 0 {
		tx.Notify(jobsTopic)
	}
	if err := tx.Send(ctx); err != nil {
		return Receipt{}, err
	}
	// Last, since from here on others that share the account wait.
	if receipt.CreditsRemaining, err = s.charge(ctx, tx, sub, items); err != nil {
		return Receipt{}, err
	}
	if err := sub.enqueue(ctx, tx, receipt); err != nil {
		return Receipt{}, err
	}
	if sub.Reservation != nil {
		err = sub.Reservation.saveAnswer(ctx, tx, sub, receipt)
	}
	return receipt, err
}

// enqueue counts the jobs that were made, with an event for each.
func (sub Submission) enqueue(ctx context.Context, tx *store.Tx, made Receipt) error {
	jobs := int64(len(made.Jobs))
	last, err := enqueue(ctx, tx, sub.Owner.AccountID, jobs, sub.readable())
	if err != nil {
		return err
	}
	if sub.Batch {
		return recordEvents(ctx, tx, last-jobs, "batch_id = $2", made.BatchID)
	}
	return recordEvents(ctx, tx, last-jobs, "id = $2", made.Jobs[0].ID)
}

func (sub Submission) readable() (n int64) {
	for _, f := range sub.Files {
		if !f.Unreadable {
			n++
		}
	}
	return n
}

// charge deducts the price of all items and refunds those that cannot be read. It returns
// the balance.
func (s *Service) charge(ctx context.Context, tx *store.Tx, sub Submission, items []account.Item) (balance int64, err error) {
	if s.config.Unlimited {
		return s.ledger.BalanceTx(ctx, tx, sub.Owner.AccountID)
	}
	if balance, err = s.ledger.Charge(ctx, tx, sub.Owner.AccountID, items); err != nil {
		return 0, err
	}
	for i, f := range sub.Files {
		if f.Unreadable {
			if balance, err = s.ledger.Refund(ctx, tx, sub.Owner.AccountID, items[i]); err != nil {
				return 0, err
			}
		}
	}
	return balance, nil
}

// insert writes a job, queued or, if it cannot be read, failed.
func (s *Service) insert(ctx context.Context, tx *store.Tx, sub Submission, batch sql.NullString, item account.Item, f Input, options string) error {
	state, code := Queued, sql.NullString{}
	if f.Unreadable {
		state, code = Failed, sql.NullString{String: string(UnreadableFile), Valid: true}
	}
	charged := item.Credits
	if s.config.Unlimited {
		charged = 0
	}
	_, err := tx.ExecContext(ctx, `
		INSERT INTO jobs (id, account_id, key_id, batch_id, request_id, state, error, options, output_format, original_name,
			input_key, input_size, input_sha, input_type, frame_count, width, height, duration_ms, cost, charged,
			webhook_url, attempt, lost, created_at, ended_at)
		VALUES ($1, $2, $3, $4, $5, $6, $7, $8, $9, $10, $11, $12, $13, $14, $15, $16, $17, $18, $19, $20, $21, 0, 0, now_ms(),
			CASE WHEN $6 = 'failed' THEN now_ms() END)`,
		item.JobID, sub.Owner.AccountID, nullString(sub.Owner.KeyID), batch, sub.RequestID, string(state), code, options,
		string(sub.Options.Removal().EffectiveFormat()), f.Name, f.Key, f.Size, f.SHA256, f.Media.Type, f.Media.FrameCount, f.Media.Width, f.Media.Height,
		f.Media.Duration.Milliseconds(), item.Credits, charged, nullString(sub.WebhookURL))
	if err == nil && f.Unreadable {
		err = s.config.Ended(ctx, tx, item.JobID)
	}
	return err
}

// nullString is null for an empty text.
func nullString(s string) sql.NullString { return sql.NullString{String: s, Valid: s != ""} }
