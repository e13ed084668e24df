package account

import (
	"context"
	"crypto/rand"
	"crypto/sha256"
	"database/sql"
	"encoding/base64"
	"encoding/hex"
	"errors"
	"fmt"
	"strings"
	"time"
	"unicode/utf8"

	"github.com/bgremove/bgremove/internal/service/id"
	"github.com/bgremove/bgremove/internal/service/store"
)

// MaxKeys is how many active keys an account may have.
const MaxKeys = 10

// Key is an API key, without its secret.
type Key struct {
	ID        string // key_…
	AccountID string
	Name      string
	Prefix    string // the secret's first characters, to recognise the key
	CreatedAt time.Time
	// LastUsedAt is right to about a minute; zero: never.
	LastUsedAt time.Time
}

// maxKeyName bounds a key's name, in bytes.
const maxKeyName = 100

// secretPrefix begins every secret, so that scanners know a leaked one, and
// shownLen is how much of a secret is kept in the clear.
const (
	secretPrefix = "bgr_"
	shownLen     = len(secretPrefix) + 6
)

// Keys are all API keys. It is safe for concurrent use.
type Keys struct {
	db   *store.DB
	uses uses
}

// NewKeys gives access to the keys in db. Run keeps the times of their last
// use.
func NewKeys(db *store.DB) *Keys { return &Keys{db: db} }

// Create makes a key and returns its secret, which is not kept and cannot be
// had again: "bgr_" and 256 random bits. The error is ErrTooManyKeys, or a
// *FieldError of name (1 to 100 bytes).
func (k *Keys) Create(ctx context.Context, accountID, name string) (Key, string, error) {
	if name = strings.TrimSpace(name); name == "" || len(name) > maxKeyName || !utf8.ValidString(name) || strings.ContainsRune(name, 0) {
		return Key{}, "", &FieldError{Field: "name", Reason: fmt.Sprintf("must have 1 to %d bytes", maxKeyName)}
	}
	secret := secretPrefix + newSecret()
	var key Key
	err := k.db.Tx(ctx, func(tx *store.Tx) (err error) {
		if err := checkKeyLimit(ctx, tx, accountID); err != nil {
			return err
		}
		key, err = scanKey(tx.QueryRowContext(ctx, `
			INSERT INTO api_keys (id, account_id, name, prefix, hash, created_at)
			VALUES ($1, $2, $3, $4, $5, now_ms()) RETURNING `+keyColumns,
			id.New("key_"), accountID, name, secret[:shownLen], hashSecret(secret)))
		return err
	})
	if err != nil {
		return Key{}, "", wrap("create a key", err)
	}
	return key, secret, nil
}

// checkKeyLimit checks that an account may have one more key, and locks the account so
// that nobody takes the place.
func checkKeyLimit(ctx context.Context, tx *store.Tx, accountID string) error {
	if err := Lock(ctx, tx, accountID); err != nil {
		return err
	}
	var n int
	err := tx.QueryRowContext(ctx, "SELECT COUNT(*) FROM api_keys WHERE account_id = $1 AND revoked_at IS NULL", accountID).Scan(&n)
	if err == nil && n >= MaxKeys {
		return ErrTooManyKeys
	}
	return err
}

// List is an account's active keys, the oldest first.
func (k *Keys) List(ctx context.Context, accountID string) ([]Key, error) {
	rows, err := k.db.QueryContext(ctx, "SELECT "+keyColumns+" FROM api_keys WHERE account_id = $1 AND revoked_at IS NULL ORDER BY id", accountID)
	if err != nil {
		return nil, wrap("keys", err)
	}
	defer rows.Close()
	var keys []Key
	for rows.Next() {
		key, err := scanKey(rows)
		if err != nil {
			return nil, wrap("keys", err)
		}
		key.LastUsedAt = k.uses.latest(key.ID, key.LastUsedAt)
		keys = append(keys, key)
	}
	return keys, wrap("keys", rows.Err())
}

// Owner is the account of an active key, or ErrNotFound.
func (k *Keys) Owner(ctx context.Context, keyID string) (accountID string, err error) {
	err = k.db.QueryRowContext(ctx, "SELECT account_id FROM api_keys WHERE id = $1 AND revoked_at IS NULL", keyID).Scan(&accountID)
	return accountID, wrap("find a key", err)
}

// Revoke ends a key at once. The error is ErrNotFound if the account has no
// such active key.
func (k *Keys) Revoke(ctx context.Context, accountID, keyID string) error {
	var n int
	err := k.db.QueryRowContext(ctx, `UPDATE api_keys SET revoked_at = now_ms()
		WHERE id = $1 AND account_id = $2 AND revoked_at IS NULL RETURNING 1`, keyID, accountID).Scan(&n)
	return wrap("revoke a key", err)
}

// Identify is the key of a secret, or ErrUnknownKey; the key of a suspended
// account comes with ErrSuspended. It writes nothing: the use is noted in memory.
func (k *Keys) Identify(ctx context.Context, secret string) (Key, error) {
	if !strings.HasPrefix(secret, secretPrefix) {
		return Key{}, ErrUnknownKey
	}
	suspended := false
	key, err := scanKey(k.db.QueryRowPrepared(ctx, "SELECT "+keyColumns+`,
		(SELECT suspended_at IS NOT NULL FROM accounts WHERE id = account_id) FROM api_keys WHERE hash = $1 AND revoked_at IS NULL`, hashSecret(secret)), &suspended)
	if errors.Is(err, sql.ErrNoRows) {
		return Key{}, ErrUnknownKey
	}
	if err != nil {
		return Key{}, wrap("identify a key", err)
	}
	k.uses.record(key.ID, time.Now())
	if suspended {
		return key, ErrSuspended
	}
	return key, nil
}

const keyColumns = "id, account_id, name, prefix, created_at, last_used_at"

// more is read after them.
func scanKey(row store.Row, more ...any) (Key, error) {
	var (
		k       Key
		created int64
		used    sql.NullInt64
	)
	err := row.Scan(append([]any{&k.ID, &k.AccountID, &k.Name, &k.Prefix, &created, &used}, more...)...)
	k.CreatedAt, k.LastUsedAt = store.Time(created), store.OptionalTime(used)
	return k, err
}

// newSecret is 256 random bits, as text.
func newSecret() string {
	var random [32]byte
	_, _ = rand.Read(random[:]) // it never fails
	return base64.RawURLEncoding.EncodeToString(random[:])
}

// hashSecret returns the stored form of secrets and tokens. They have 256 random
// bits, so they need no slow hash.
func hashSecret(secret string) string {
	sum := sha256.Sum256([]byte(secret))
	return hex.EncodeToString(sum[:])
}
