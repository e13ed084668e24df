package job

import (
	"context"

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

// lockInput keeps the input of a job from the sweeper, and from Delete, until the transaction has
// given it to another job. The error is sql.ErrNoRows if one of them was faster.
func lockInput(ctx context.Context, tx *store.Tx, sub Submission) error {
	// Assigned to itself, which locks the row.
	var key string
	return tx.QueryRowContext(ctx, "UPDATE jobs SET input_key = input_key WHERE id = $1 AND account_id = $2 AND input_key = $3 RETURNING input_key",
		sub.Again, sub.Owner.AccountID, sub.Files[0].Key).Scan(&key)
}
