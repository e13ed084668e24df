package account

import (
	"context"
	"crypto/rand"
	"database/sql"
	"errors"
	"fmt"
	"sync"

	"github.com/alexedwards/argon2id"
	"golang.org/x/sync/semaphore"

	"github.com/bgremove/bgremove/internal/service/store"
	"github.com/bgremove/bgremove/internal/system/cores"
)

// hashParams are those of a password's hash: OWASP's recommendation for argon2id (Password
// Storage Cheat Sheet), 19 MiB and two passes, about 30 ms.
var hashParams = &argon2id.Params{Memory: 19 * 1024, Iterations: 2, Parallelism: 1, SaltLength: 16, KeyLength: 32}

// decoy is compared if the account does not exist, so a sign-in takes as long
// with an unknown address as with a wrong password.
var decoy = sync.OnceValues(func() (string, error) { return argon2id.CreateHash("nobody's password", hashParams) })

// hasher bounds how many passwords are hashed at once, in memory and in cores.
type hasher struct{ sem *semaphore.Weighted }

func newHasher() *hasher {
	return &hasher{semaphore.NewWeighted(int64(max(1, cores.Count()/2)))}
}

func (h *hasher) hash(ctx context.Context, password string) (string, error) {
	if err := h.sem.Acquire(ctx, 1); err != nil {
		return "", err
	}
	defer h.sem.Release(1)
	encoded, err := argon2id.CreateHash(password, hashParams)
	if err != nil {
		return "", fmt.Errorf("hash the password: %w", err)
	}
	return encoded, nil
}

// matches compares a password with its hash, or with a decoy if that is empty.
func (h *hasher) matches(ctx context.Context, password, encoded string) (bool, error) {
	if err := h.sem.Acquire(ctx, 1); err != nil {
		return false, err
	}
	defer h.sem.Release(1)
	known := encoded != ""
	if !known {
		var err error
		if encoded, err = decoy(); err != nil {
			return false, fmt.Errorf("hash the password: %w", err)
		}
	}
	same, err := argon2id.ComparePasswordAndHash(password, encoded)
	if err != nil {
		return false, fmt.Errorf("compare the password: %w", err)
	}
	return same && known, nil
}

// NewPassword is a password of at least 128 random bits.
func NewPassword() string { return rand.Text() }

func (a *Accounts) hashPassword(ctx context.Context, password string) (string, error) {
	if len(password) < MinPassword || len(password) > MaxPassword {
		return "", &FieldError{Field: "password", Reason: fmt.Sprintf("must have %d to %d bytes", MinPassword, MaxPassword)}
	}
	return a.hasher.hash(ctx, password)
}

// SetPassword changes the password and returns the account with its new Epoch,
// by which all sessions end but the one that takes it over. Links that were mailed
// to reset the old one end, too. The error may be a *FieldError.
func (a *Accounts) SetPassword(ctx context.Context, id, password string) (Account, error) {
	encoded, err := a.hashPassword(ctx, password)
	if err != nil {
		return Account{}, err
	}
	changed, err := a.changePassword(ctx, "id = $2", encoded, id)
	return changed, wrap("change the password", err)
}

// ChangePassword is SetPassword with a check of the current password; a wrong
// one is a *FieldError of current. The caller limits the attempts.
func (a *Accounts) ChangePassword(ctx context.Context, who Account, current, next string) (Account, error) {
	wrong := &FieldError{Field: "current", Reason: "is not the account's password"}
	_, known, err := a.signIn(ctx, who.Email, current)
	if errors.Is(err, ErrCredentials) {
		return Account{}, wrong
	}
	if err != nil {
		return Account{}, err
	}
	encoded, err := a.hashPassword(ctx, next)
	if err != nil {
		return Account{}, err
	}
	changed, err := a.changePassword(ctx, "id = $2 AND password = $3", encoded, who.ID, known)
	if errors.Is(err, sql.ErrNoRows) { // it was changed meanwhile
		return Account{}, wrong
	}
	return changed, wrap("change the password", err)
}

// changePassword is replacePassword in a transaction of its own.
func (a *Accounts) changePassword(ctx context.Context, where string, args ...any) (changed Account, err error) {
	err = a.db.Tx(ctx, func(tx *store.Tx) error {
		changed, _, err = replacePassword(ctx, tx, where, args...)
		return err
	})
	return changed, err
}

// replacePassword stores an encoded password for the account that where finds.
// It ends the account's sessions, and with them its mailed links.
func replacePassword(ctx context.Context, tx *store.Tx, where string, args ...any) (changed Account, resets int64, err error) {
	changed, err = scanAccount(tx.QueryRowContext(ctx,
		"UPDATE accounts SET password = $1, epoch = epoch + 1 WHERE "+where+" RETURNING "+columns, args...))
	if err != nil {
		return Account{}, 0, err
	}
	ended, err := tx.ExecContext(ctx, "DELETE FROM mail_tokens WHERE account_id = $1 AND purpose = $2", changed.ID, ResetToken)
	if err != nil {
		return Account{}, 0, err
	}
	resets, err = ended.RowsAffected()
	return changed, resets, err
}
