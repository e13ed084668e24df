// Package account owns accounts and what belongs to them: passwords, sessions,
// API keys, credits, plans, and how often each may ask.
package account

import (
	"context"
	"database/sql"
	"errors"
	"net/mail"
	"strings"
	"time"
	"unicode"

	"github.com/bgremove/bgremove/internal/service/id"
	"github.com/bgremove/bgremove/internal/service/store"
)

// Errors without further facts.
var (
	// ErrNotFound is an account or a key that does not exist.
	ErrNotFound = errors.New("not found")
	// ErrEmailTaken is an address that another account has.
	ErrEmailTaken = errors.New("the address already has an account")
	// ErrCredentials is a wrong password or an unknown address; which of the
	// two is not told, not by the time it takes either.
	ErrCredentials = errors.New("wrong address or password")
	// ErrSuspended is an account that may not act.
	ErrSuspended = errors.New("the account is suspended")
	// ErrUnknownKey is an API key that was never made or has been revoked.
	ErrUnknownKey = errors.New("unknown or revoked key")
	// ErrTooManyKeys is an account that has MaxKeys active keys.
	ErrTooManyKeys = errors.New("the account has the maximum number of keys")
)

// FieldError is a value that is refused, with the field's JSON name.
type FieldError struct{ Field, Reason string }

func (e *FieldError) Error() string { return e.Field + " " + e.Reason }

// Account owns credits, keys and jobs.
type Account struct {
	ID    string // acc_…
	Email string // in lower case
	// Epoch belongs into a session when it begins. A session of another epoch
	// is over: since then the password was changed, all sessions were ended, or
	// the account was erased.
	Epoch   int64
	Credits int64
	Plan    string // name of the plan subscribed to, else of the last one granted, or empty
	// Confirmed means that mail to Email has arrived, or that no confirmation
	// is needed.
	Confirmed bool
	// Suspended says that the account may not act, and that its queue waits.
	Suspended bool
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

// Register creates an account without credits and with a confirmed address. The
// error is ErrEmailTaken, or a *FieldError of email or password.
func (a *Accounts) Register(ctx context.Context, email, password string) (Account, error) {
	return a.insert(ctx, email, password, "now_ms()")
}

// SignUp is Register for an address that is not confirmed yet: the account is
// not Confirmed.
func (a *Accounts) SignUp(ctx context.Context, email, password string) (Account, error) {
	return a.insert(ctx, email, password, "NULL")
}

func (a *Accounts) insert(ctx context.Context, email, password, confirmed string) (Account, error) {
	email, err := parseEmail(email)
	if err != nil {
		return Account{}, err
	}
	encoded, err := a.hashPassword(ctx, password)
	if err != nil {
		return Account{}, err
	}
	account, err := scanAccount(a.db.QueryRowContext(ctx, `
		INSERT INTO accounts (id, email, password, epoch, credits, plan, confirmed_at, created_at)
		VALUES ($1, $2, $3, 1, 0, '', `+confirmed+`, now_ms()) RETURNING `+columns, id.New("acc_"), email, encoded))
	if store.IsUnique(err) {
		return Account{}, ErrEmailTaken
	}
	return account, wrap("register", err)
}

// Lock keeps an account's row until the transaction ends, so that nobody else takes what it finds free there.
// The error is sql.ErrNoRows without such an account.
func Lock(ctx context.Context, tx *store.Tx, id string) error {
	return tx.QueryRowContext(ctx, "UPDATE accounts SET id = id WHERE id = $1 RETURNING id", id).Scan(&id)
}

// maxEmail is the longest address that mail knows (RFC 5321), in bytes.
const maxEmail = 254

// parseEmail returns an address as it is kept, if it is one.
func parseEmail(email string) (string, error) {
	parsed, err := mail.ParseAddress(strings.TrimSpace(email))
	if err != nil || parsed.Name != "" || len(parsed.Address) > maxEmail || strings.ContainsFunc(parsed.Address, invisible) {
		return "", &FieldError{Field: "email", Reason: "must be an address such as name@example.com"}
	}
	return strings.ToLower(parsed.Address), nil
}

// invisible reports whether a character shows nothing, so that two addresses would
// look alike. See "Default_Ignorable_Code_Point" of Unicode's DerivedCoreProperties.
func invisible(r rune) bool {
	return r == ' ' || !unicode.IsPrint(r) || unicode.In(r, unicode.Other_Default_Ignorable_Code_Point, unicode.Variation_Selector)
}

// SignIn checks a password: ErrCredentials if it is wrong. How often it may be
// tried is the caller's to limit, see Limiter.
func (a *Accounts) SignIn(ctx context.Context, email, password string) (Account, error) {
	account, _, err := a.signIn(ctx, email, password)
	return account, err
}

// signIn also returns the hash that the password has matched.
func (a *Accounts) signIn(ctx context.Context, email, password string) (_ Account, encoded string, err error) {
	if len(password) > MaxPassword || email == "" || len(email) > maxEmail || !store.ValidText(email) {
		return Account{}, "", ErrCredentials
	}
	// The account as it was with this password: its Epoch is of no use when the
	// password changes meanwhile.
	account, err := scanAccount(a.db.QueryRowContext(ctx, "SELECT "+columns+", password FROM accounts WHERE email = $1", NormalEmail(email)), &encoded)
	if err != nil && !errors.Is(err, sql.ErrNoRows) {
		return Account{}, "", wrap("sign in", err)
	}
	same, err := a.hasher.matches(ctx, password, encoded)
	if err != nil {
		return Account{}, "", err
	}
	if !same {
		return Account{}, "", ErrCredentials
	}
	return account, encoded, nil
}

// Get is an account by its id, or ErrNotFound.
func (a *Accounts) Get(ctx context.Context, id string) (Account, error) {
	account, err := scanAccount(a.db.QueryRowContext(ctx, "SELECT "+columns+" FROM accounts WHERE id = $1", id))
	return account, wrap("account", err)
}

// ByEmail is an account by its address, in any case, or ErrNotFound.
func (a *Accounts) ByEmail(ctx context.Context, email string) (Account, error) {
	account, err := scanAccount(a.db.QueryRowContext(ctx, "SELECT "+columns+" FROM accounts WHERE email = $1", NormalEmail(email)))
	return account, wrap("account", err)
}

// NormalEmail is an address in the one form in which accounts are known by it.
func NormalEmail(email string) string { return strings.ToLower(strings.TrimSpace(email)) }

// List is all accounts by their age: at most limit after the id after, from
// the first if that is empty.
func (a *Accounts) List(ctx context.Context, after string, limit int) ([]Account, error) {
	rows, err := a.db.QueryContext(ctx, "SELECT "+columns+" FROM accounts WHERE id > $1 ORDER BY id LIMIT $2", after, limit)
	if err != nil {
		return nil, wrap("accounts", err)
	}
	defer rows.Close()
	var all []Account
	for rows.Next() {
		account, err := scanAccount(rows)
		if err != nil {
			return nil, wrap("accounts", err)
		}
		all = append(all, account)
	}
	return all, wrap("accounts", rows.Err())
}

// Suspend keeps an account from acting, and its queue from moving, until it is
// resumed. A suspended account may be suspended again.
func (a *Accounts) Suspend(ctx context.Context, id string) error {
	return a.setSuspended(ctx, id, "COALESCE(suspended_at, now_ms())")
}

// Resume ends a suspension, if there is one.
func (a *Accounts) Resume(ctx context.Context, id string) error {
	return a.setSuspended(ctx, id, "NULL")
}

func (a *Accounts) setSuspended(ctx context.Context, id, at string) error {
	_, err := scanAccount(a.db.QueryRowContext(ctx, "UPDATE accounts SET suspended_at = "+at+" WHERE id = $1 RETURNING "+columns, id))
	return wrap("suspend or resume an account", err)
}

// EndSessions raises an account's Epoch, by which all its sessions end.
func (a *Accounts) EndSessions(ctx context.Context, id string) error {
	_, err := scanAccount(a.db.QueryRowContext(ctx, "UPDATE accounts SET epoch = epoch + 1 WHERE id = $1 RETURNING "+columns, id))
	return wrap("end the sessions", err)
}

// columns are what scanAccount reads.
const columns = "id, email, epoch, credits, plan, confirmed_at IS NOT NULL, suspended_at IS NOT NULL, created_at"

// more is read after them.
func scanAccount(row store.Row, more ...any) (Account, error) {
	var (
		a       Account
		created int64
	)
	err := row.Scan(append([]any{&a.ID, &a.Email, &a.Epoch, &a.Credits, &a.Plan, &a.Confirmed, &a.Suspended, &created}, more...)...)
	a.CreatedAt = store.Time(created)
	return a, err
}

// wrap names the failed operation. A missing row becomes ErrNotFound.
func wrap(what string, err error) error { return store.Wrap(what, err, ErrNotFound) }
