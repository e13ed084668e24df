package account

import (
	"context"
	"database/sql"
	"time"

	"github.com/bgremove/bgremove/internal/service/store"
)

// Purpose is the purpose of a mailed token.
type Purpose string

// The purposes.
const (
	ResetToken   Purpose = "reset"   // sets a new password
	ConfirmToken Purpose = "confirm" // confirms that a mail has arrived
)

// maxTokens is how many tokens of a purpose an account may have at once: it
// bounds the mails that strangers can have sent to somebody.
const maxTokens = 5

// validity is how long a token can be used, and the same in words.
func (p Purpose) validity() (time.Duration, string) {
	if p == ResetToken {
		return time.Hour, "an hour"
	}
	return 24 * time.Hour, "a day"
}

// Validity is how long a token can be used, in words that follow "for".
func (p Purpose) Validity() string {
	_, words := p.validity()
	return words
}

// NewToken makes a token for a mail to an account: 256 random bits. Only a hash
// is stored. The error is a *LimitedError if too many tokens are still valid.
func (a *Accounts) NewToken(ctx context.Context, accountID string, p Purpose) (token string, err error) {
	token = newSecret()
	err = a.db.Tx(ctx, func(tx *store.Tx) error {
		if err := checkTokenLimit(ctx, tx, accountID, p); err != nil {
			return err
		}
		valid, _ := p.validity()
		_, err := tx.ExecContext(ctx, `INSERT INTO mail_tokens (hash, account_id, purpose, expires_at)
			VALUES ($1, $2, $3, now_ms() + CAST($4 AS BIGINT))`, hashSecret(token), accountID, p, store.Millis(valid))
		return err
	})
	if err != nil {
		return "", wrap("make a token", err)
	}
	return token, nil
}

// DropToken removes a token if its mail was not sent.
func (a *Accounts) DropToken(ctx context.Context, token string) error {
	_, err := a.db.ExecContext(ctx, "DELETE FROM mail_tokens WHERE hash = $1", hashSecret(token))
	return wrap("drop a token", err)
}

// checkTokenLimit checks that an account may have one more token, and locks the
// account so that nobody takes the place.
func checkTokenLimit(ctx context.Context, tx *store.Tx, accountID string, p Purpose) error {
	if err := Lock(ctx, tx, accountID); err != nil {
		return err
	}
	var n int
	var wait int64 // until the first can be used no more
	err := tx.QueryRowContext(ctx, `SELECT COUNT(*), COALESCE(MIN(expires_at), 0) - now_ms() FROM mail_tokens
		WHERE account_id = $1 AND purpose = $2 AND expires_at > now_ms()`, accountID, p).Scan(&n, &wait)
	if err == nil && n >= maxTokens {
		return &LimitedError{RetryAfter: time.Duration(wait) * time.Millisecond}
	}
	return err
}

// ResetPassword sets a new password for the account of a token. It ends this
// token, and all other tokens and all sessions of the account. The token came
// by mail, so the address is confirmed, too. The error is ErrNotFound for an
// invalid token, or a *FieldError of password.
func (a *Accounts) ResetPassword(ctx context.Context, token, password string) (Account, error) {
	// Before the password is hashed, which is dear.
	if _, err := a.tokenOwner(ctx, a.db, token, ResetToken); err != nil {
		return Account{}, wrap("reset the password", err)
	}
	encoded, err := a.hashPassword(ctx, password)
	if err != nil {
		return Account{}, err
	}
	var changed Account
	err = a.db.Tx(ctx, func(tx *store.Tx) error {
		owner, err := a.tokenOwner(ctx, tx, token, ResetToken)
		if err != nil {
			return err
		}
		if _, err := tx.ExecContext(ctx, confirm, owner); err != nil {
			return err
		}
		var resets int64
		changed, resets, err = replacePassword(ctx, tx, "id = $2", encoded, owner)
		if err == nil && resets == 0 {
			err = sql.ErrNoRows // somebody was faster
		}
		return err
	})
	return changed, wrap("reset the password", err)
}

// confirm notes, for the account $1, that a mail has arrived.
const confirm = "UPDATE accounts SET confirmed_at = COALESCE(confirmed_at, now_ms()) WHERE id = $1"

// Confirm records that the mail with a token has arrived. It may be called
// twice. The error is ErrNotFound for an invalid token.
func (a *Accounts) Confirm(ctx context.Context, token string) error {
	owner, err := a.tokenOwner(ctx, a.db, token, ConfirmToken)
	if err == nil {
		_, err = a.db.ExecContext(ctx, confirm, owner)
	}
	return wrap("confirm the address", err)
}

// rowQuerier is a database or a transaction.
type rowQuerier interface {
	QueryRowContext(ctx context.Context, query string, args ...any) *sql.Row
}

func (a *Accounts) tokenOwner(ctx context.Context, in rowQuerier, token string, p Purpose) (accountID string, err error) {
	err = in.QueryRowContext(ctx, "SELECT account_id FROM mail_tokens WHERE hash = $1 AND purpose = $2 AND expires_at > now_ms()",
		hashSecret(token), p).Scan(&accountID)
	return accountID, err
}

// SweepTokens removes the tokens that can be used no more and returns their
// number.
func (a *Accounts) SweepTokens(ctx context.Context) (int64, error) {
	done, err := a.db.ExecContext(ctx, "DELETE FROM mail_tokens WHERE expires_at <= now_ms()")
	if err != nil {
		return 0, wrap("sweep tokens", err)
	}
	return done.RowsAffected()
}
