package account

import (
	"context"
	"database/sql"
	"errors"
	"time"

	"github.com/alexedwards/scs/v2"

	"github.com/bgremove/bgremove/internal/service/store"
)

var _ scs.CtxStore = (*Sessions)(nil)

// Sessions keep the data of signed-in browsers for scs, by the SHA-256 of
// their tokens. It is safe for concurrent use.
type Sessions struct{ db *store.DB }

// NewSessions gives access to the sessions in db.
func NewSessions(db *store.DB) *Sessions { return &Sessions{db: db} }

// FindCtx is the data of a session that has not expired.
func (s *Sessions) FindCtx(ctx context.Context, token string) ([]byte, bool, error) {
	var data []byte
	err := s.db.QueryRowContext(ctx, "SELECT data FROM sessions WHERE id = $1 AND expires_at > now_ms()", hashSecret(token)).Scan(&data)
	if errors.Is(err, sql.ErrNoRows) {
		return nil, false, nil
	}
	return data, err == nil, wrap("find a session", err)
}

// CommitCtx makes or replaces a session.
func (s *Sessions) CommitCtx(ctx context.Context, token string, data []byte, expiry time.Time) error {
	_, err := s.db.ExecContext(ctx, `INSERT INTO sessions (id, data, expires_at) VALUES ($1, $2, $3)
		ON CONFLICT (id) DO UPDATE SET data = excluded.data, expires_at = excluded.expires_at`,
		hashSecret(token), data, expiry.UnixMilli())
	return wrap("keep a session", err)
}

// DeleteCtx ends a session.
func (s *Sessions) DeleteCtx(ctx context.Context, token string) error {
	_, err := s.db.ExecContext(ctx, "DELETE FROM sessions WHERE id = $1", hashSecret(token))
	return wrap("end a session", err)
}

// Sweep removes the sessions that have expired and returns their number.
func (s *Sessions) Sweep(ctx context.Context) (int64, error) {
	done, err := s.db.ExecContext(ctx, "DELETE FROM sessions WHERE expires_at <= now_ms()")
	if err != nil {
		return 0, wrap("sweep sessions", err)
	}
	return done.RowsAffected()
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
