package account_test

import (
	"errors"
	"sync/atomic"
	"testing"
	"time"

	"golang.org/x/sync/errgroup"

	"github.com/bgremove/bgremove/internal/service/account"
	"github.com/bgremove/bgremove/internal/service/store"
	"github.com/bgremove/bgremove/internal/service/store/storetest"
)

func token(t *testing.T, db *store.DB, who account.Account, p account.Purpose) string {
	t.Helper()
	secret, err := account.New(db).NewToken(t.Context(), who.ID, p)
	if err != nil {
		t.Fatal(err)
	}
	return secret
}

// later moves the time of all tokens into the past.
func later(t *testing.T, db *store.DB, d time.Duration) {
	t.Helper()
	if _, err := db.Exec("UPDATE mail_tokens SET expires_at = expires_at - CAST($1 AS BIGINT)", store.Millis(d)); err != nil {
		t.Fatal(err)
	}
}

func TestResetPassword(t *testing.T) {
	t.Parallel()
	storetest.Each(t, func(t *testing.T, db *store.DB) {
		accounts := account.New(db)
		a, err := accounts.SignUp(t.Context(), "ann@example.com", password)
		if err != nil || a.Confirmed {
			t.Fatalf("%+v, %v", a, err)
		}
		used, other, confirm := token(t, db, a, account.ResetToken), token(t, db, a, account.ResetToken), token(t, db, a, account.ConfirmToken)
		var field *account.FieldError
		if _, err := accounts.ResetPassword(t.Context(), used, "short"); !errors.As(err, &field) || field.Field != "password" {
			t.Errorf("a short one: %v", err)
		}
		changed, err := accounts.ResetPassword(t.Context(), used, "another horse")
		if err != nil || changed.Epoch != a.Epoch+1 || !changed.Confirmed {
			t.Fatalf("%+v, %v", changed, err)
		}
		if _, err := accounts.SignIn(t.Context(), a.Email, "another horse"); err != nil {
			t.Error(err)
		}
		for name, secret := range map[string]string{"used": used, "another of the account": other, "for something else": confirm, "none": "", "made up": "abc"} {
			if _, err := accounts.ResetPassword(t.Context(), secret, "third horse"); !errors.Is(err, account.ErrNotFound) {
				t.Errorf("%s: %v", name, err)
			}
		}
		old := token(t, db, a, account.ResetToken)
		later(t, db, time.Hour)
		if _, err := accounts.ResetPassword(t.Context(), old, "third horse"); !errors.Is(err, account.ErrNotFound) {
			t.Errorf("too late: %v", err)
		}
	})
}

// Of two concurrent uses of a token, only the first succeeds.
func TestResetPasswordConcurrent(t *testing.T) {
	t.Parallel()
	storetest.Each(t, func(t *testing.T, db *store.DB) {
		a := register(t, db, "ann@example.com")
		secret := token(t, db, a, account.ResetToken)
		once(t, 4, func() error {
			_, err := account.New(db).ResetPassword(t.Context(), secret, "another horse")
			return err
		}, func(err error) bool { return errors.Is(err, account.ErrNotFound) })
	})
}

// once checks that one of n concurrent tries succeeds, and that the others are
// refused.
func once(t *testing.T, n int, try func() error, refused func(error) bool) {
	t.Helper()
	var done atomic.Int32
	var g errgroup.Group
	for range n {
		g.Go(func() error {
			err := try()
			if refused(err) {
				return nil
			}
			done.Add(1)
			return err
		})
	}
	if err := g.Wait(); err != nil || done.Load() != 1 {
		t.Errorf("%d did it, %v", done.Load(), err)
	}
}

func TestConfirm(t *testing.T) {
	t.Parallel()
	storetest.Each(t, func(t *testing.T, db *store.DB) {
		accounts := account.New(db)
		if a := register(t, db, "bob@example.com"); !a.Confirmed {
			t.Error("who was registered is doubted")
		}
		a, err := accounts.SignUp(t.Context(), "ann@example.com", password)
		if err != nil {
			t.Fatal(err)
		}
		for name, secret := range map[string]string{"none": "", "for something else": token(t, db, a, account.ResetToken)} {
			if err := accounts.Confirm(t.Context(), secret); !errors.Is(err, account.ErrNotFound) {
				t.Errorf("%s: %v", name, err)
			}
		}
		secret := token(t, db, a, account.ConfirmToken)
		later(t, db, 23*time.Hour)
		for range 2 {
			if err := accounts.Confirm(t.Context(), secret); err != nil {
				t.Error(err)
			}
		}
		if got, err := accounts.Get(t.Context(), a.ID); !got.Confirmed || err != nil {
			t.Errorf("%+v, %v", got, err)
		}
		later(t, db, time.Hour)
		if err := accounts.Confirm(t.Context(), secret); !errors.Is(err, account.ErrNotFound) {
			t.Errorf("too late: %v", err)
		}
		if n, err := accounts.SweepTokens(t.Context()); n != 2 || err != nil {
			t.Errorf("%d swept, %v", n, err)
		}
	})
}

// An account has at most five tokens, even with many requests at once.
func TestTokensBounded(t *testing.T) {
	t.Parallel()
	storetest.Each(t, func(t *testing.T, db *store.DB) {
		a := register(t, db, "ann@example.com")
		var made atomic.Int32
		var g errgroup.Group
		for range 12 {
			g.Go(func() error {
				_, err := account.New(db).NewToken(t.Context(), a.ID, account.ResetToken)
				var limited *account.LimitedError
				if errors.As(err, &limited) && limited.RetryAfter > 0 && limited.RetryAfter <= time.Hour {
					return nil
				}
				made.Add(1)
				return err
			})
		}
		if err := g.Wait(); err != nil || made.Load() != 5 {
			t.Errorf("%d were made, %v", made.Load(), err)
		}
		token(t, db, a, account.ConfirmToken)
		later(t, db, time.Hour)
		token(t, db, a, account.ResetToken)
		if _, err := account.New(db).NewToken(t.Context(), "acc_none", account.ResetToken); !errors.Is(err, account.ErrNotFound) {
			t.Errorf("no such account: %v", err)
		}
	})
}
