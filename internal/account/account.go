// Package account owns accounts and what belongs to them: passwords, sessions,
// API keys, credits, plans, and how often each may ask.
package account

import (
	"context"
	"errors"
	"time"

	"github.com/bgremove/bgremove/internal/store"
)

// What callers only compare.
var (
	// ErrNotFound is an account or a key that does not exist.
	ErrNotFound = errors.New("not found")
	// ErrEmailTaken is an address that another account has.
	ErrEmailTaken = errors.New("the address has an account already")
	// ErrCredentials is a wrong password or an unknown address; which of the
	// two is not told, not by the time it takes either.
	ErrCredentials = errors.New("wrong address or password")
	// ErrUnknownKey is an API key that was never made or has been revoked.
	ErrUnknownKey = errors.New("unknown or revoked key")
	// ErrTooManyKeys is an account that has MaxKeys active keys.
	ErrTooManyKeys = errors.New("the account has its most keys")
)

// FieldError is a value that is refused, with the field's JSON name.
type FieldError struct{ Field, Reason string }

func (e *FieldError) Error() string { return e.Field + " " + e.Reason }

// Account is who pays.
type Account struct {
	ID    string // acc_…
	Email string // in lower case
	// Epoch belongs into a session when it begins. A session of another epoch
	// is over: the password was changed since.
	Epoch     int64
	Credits   int64
	Plan      string // name of the last plan granted, or empty
	CreatedAt time.Time
}

// Bounds of passwords, in bytes.
const (
	MinPassword = 8
	MaxPassword = 1024
)

// Accounts are all accounts. It is safe for concurrent use.
type Accounts struct {
	db     *store.DB
	hasher *hasher
}

// New gives access to the accounts in db.
func New(db *store.DB) *Accounts { return &Accounts{db: db, hasher: newHasher()} }

// Register makes an account without credits. The error is ErrEmailTaken, or a
// *FieldError of email or password.
func (a *Accounts) Register(ctx context.Context, email, password string) (Account, error) {
	return Account{}, errors.ErrUnsupported
}

// SignIn checks a password: ErrCredentials if it is wrong. How often it may be
// tried is the caller's to limit, see Limiter.
func (a *Accounts) SignIn(ctx context.Context, email, password string) (Account, error) {
	return Account{}, errors.ErrUnsupported
}

// Get is an account by its id, or ErrNotFound.
func (a *Accounts) Get(ctx context.Context, id string) (Account, error) {
	return Account{}, errors.ErrUnsupported
}

// ByEmail is an account by its address, in any case, or ErrNotFound.
func (a *Accounts) ByEmail(ctx context.Context, email string) (Account, error) {
	return Account{}, errors.ErrUnsupported
}

// List is all accounts by their age: at most limit after the id after, from
// the first if that is empty.
func (a *Accounts) List(ctx context.Context, after string, limit int) ([]Account, error) {
	return nil, errors.ErrUnsupported
}

// SetPassword changes the password and returns the account with its new Epoch,
// by which all sessions end but the one that takes it over. The error may be a
// *FieldError.
func (a *Accounts) SetPassword(ctx context.Context, id, password string) (Account, error) {
	return Account{}, errors.ErrUnsupported
}
