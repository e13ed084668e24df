package job

import (
	"context"
	"database/sql"
	"errors"

	"github.com/bgremove/bgremove/internal/service/store"
)

// Again is the input of a job for another one that uses it: no upload, and
// nothing to measure. It is ErrNotFound once the input has expired, and
// ErrUnreadable where there is nothing to be done with it.
func (j Job) Again() (Input, error) {
	switch {
	case j.Input == nil:
		return Input{}, ErrNotFound
	case j.Media == Media{}:
		return Input{}, ErrUnreadable
	}
	return Input{Name: j.OriginalName, Key: j.Input.Key, Size: j.Input.Size, SHA256: j.Input.SHA256, Media: j.Media}, nil
}

// lockInput keeps the input of a job from the sweeper until the transaction has
// given it to another job, or is sql.ErrNoRows if the sweeper was faster. A job
// that has not ended is not locked, since a claim may wait for it with the
// queue's row in its hands: its input stays at least for KeepInputs.
func lockInput(ctx context.Context, tx *store.Tx, sub Submission) error {
	const which = " WHERE id = $1 AND account_id = $2 AND input_key = $3 AND ended_at IS "
	args := []any{sub.Again, sub.Owner.AccountID, sub.Files[0].Key}
	var key string
	err := tx.QueryRowContext(ctx, "SELECT input_key FROM jobs"+which+"NULL", args...).Scan(&key)
	if !errors.Is(err, sql.ErrNoRows) {
		return err
	}
	// Assigned to itself, which locks the row.
	return tx.QueryRowContext(ctx, "UPDATE jobs SET input_key = input_key"+which+"NOT NULL RETURNING input_key", args...).Scan(&key)
}
