package account

import (
	"context"
	"errors"
	"time"

	"github.com/bgremove/bgremove/internal/store"
)

// MaxKeys is how many active keys an account may have.
const MaxKeys = 10

// Key is an API key, without its secret.
type Key struct {
	ID        string // key_…
	AccountID string
	Name      string
	Prefix    string // the secret's first characters, to tell keys by
	CreatedAt time.Time
	// LastUsedAt is right to about a minute; zero: never.
	LastUsedAt time.Time
}

// Keys are all API keys. It is safe for concurrent use.
type Keys struct{ db *store.DB }

// NewKeys gives access to the keys in db. Run keeps the times of their last
// use.
func NewKeys(db *store.DB) *Keys { return &Keys{db: db} }

// Create makes a key and returns its secret, which is not kept and cannot be
// had again: "bgr_" and 256 random bits. The error is ErrTooManyKeys, or a
// *FieldError of name (1 to 100 bytes).
func (k *Keys) Create(ctx context.Context, accountID, name string) (Key, string, error) {
	return Key{}, "", errors.ErrUnsupported
}

// List is an account's active keys, the oldest first.
func (k *Keys) List(ctx context.Context, accountID string) ([]Key, error) {
	return nil, errors.ErrUnsupported
}

// Revoke ends a key at once. The error is ErrNotFound if the account has no
// such active key.
func (k *Keys) Revoke(ctx context.Context, accountID, keyID string) error {
	return errors.ErrUnsupported
}

// Identify is the key of a secret, or ErrUnknownKey. It writes nothing: the
// use is noted in memory.
func (k *Keys) Identify(ctx context.Context, secret string) (Key, error) {
	return Key{}, errors.ErrUnsupported
}

// Run writes the times of last use once a minute until ctx ends, and then once
// more.
func (k *Keys) Run(ctx context.Context) error {
	return errors.ErrUnsupported
}
