package account

import (
	"context"
	"errors"
	"time"

	"github.com/alexedwards/scs/v2"

	"github.com/bgremove/bgremove/internal/store"
)

var _ scs.CtxStore = (*Sessions)(nil)

// Sessions keep the data of signed-in browsers for scs, by the SHA-256 of
// their tokens. It is safe for concurrent use.
type Sessions struct{ db *store.DB }

// NewSessions gives access to the sessions in db.
func NewSessions(db *store.DB) *Sessions { return &Sessions{db: db} }

// FindCtx is the data of a session that has not expired.
func (s *Sessions) FindCtx(ctx context.Context, token string) ([]byte, bool, error) {
	return nil, false, errors.ErrUnsupported
}

// CommitCtx makes or replaces a session.
func (s *Sessions) CommitCtx(ctx context.Context, token string, data []byte, expiry time.Time) error {
	return errors.ErrUnsupported
}

// DeleteCtx ends a session.
func (s *Sessions) DeleteCtx(ctx context.Context, token string) error {
	return errors.ErrUnsupported
}

// Sweep removes the sessions that have expired and returns their number.
func (s *Sessions) Sweep(ctx context.Context) (int64, error) {
	return 0, errors.ErrUnsupported
}

// Find is FindCtx without a context, which scs does not use.
func (s *Sessions) Find(token string) ([]byte, bool, error) {
	return s.FindCtx(context.Background(), token)
}

// Commit is CommitCtx without a context, which scs does not use.
func (s *Sessions) Commit(token string, data []byte, expiry time.Time) error {
	return s.CommitCtx(context.Background(), token, data, expiry)
}

// Delete is DeleteCtx without a context, which scs does not use.
func (s *Sessions) Delete(token string) error {
	return s.DeleteCtx(context.Background(), token)
}
