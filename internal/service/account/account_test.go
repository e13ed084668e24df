package account_test

import (
	"errors"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
	"golang.org/x/sync/errgroup"

	"github.com/bgremove/bgremove/internal/service/account"
	"github.com/bgremove/bgremove/internal/service/store"
	"github.com/bgremove/bgremove/internal/service/store/storetest"
)

const password = "correct horse"

func register(t testing.TB, db *store.DB, email string) account.Account {
	t.Helper()
	a, err := account.New(db).Register(t.Context(), email, password)
	if err != nil {
		t.Fatal(err)
	}
	return a
}

func TestAccounts(t *testing.T) {
	t.Parallel()
	storetest.Each(t, func(t *testing.T, db *store.DB) {
		accounts := account.New(db)
		a := register(t, db, " Ann@Example.com ")
		if a.Email != "ann@example.com" || a.Credits != 0 || !strings.HasPrefix(a.ID, "acc_") {
			t.Errorf("registered %+v", a)
		}
		if _, err := accounts.Register(t.Context(), "ANN@example.com", password); !errors.Is(err, account.ErrEmailTaken) {
			t.Errorf("the same address: %v", err)
		}
		got, err := accounts.SignIn(t.Context(), "aNN@example.com", password)
		if diff := cmp.Diff(a, got); diff != "" || err != nil {
			t.Errorf("signed in: %v %s", err, diff)
		}
		for _, try := range [][2]string{{"ann@example.com", "wrong horse"}, {"bob@example.com", password}, {"", ""}, {"ann@example.com", strings.Repeat("x", 2000)}} {
			if _, err := accounts.SignIn(t.Context(), try[0], try[1]); !errors.Is(err, account.ErrCredentials) {
				t.Errorf("%q: %v", try, err)
			}
		}
		b := register(t, db, "bob@example.com")
		list, err := accounts.List(t.Context(), a.ID, 10)
		if diff := cmp.Diff([]account.Account{b}, list); diff != "" || err != nil {
			t.Errorf("list: %v %s", err, diff)
		}
		if _, err := accounts.Get(t.Context(), "acc_none"); !errors.Is(err, account.ErrNotFound) {
			t.Errorf("no such account: %v", err)
		}
	})
}

func TestSetPassword(t *testing.T) {
	t.Parallel()
	storetest.Each(t, func(t *testing.T, db *store.DB) {
		accounts := account.New(db)
		a := register(t, db, "ann@example.com")
		mailed := token(t, db, a, account.ResetToken)
		changed, err := accounts.SetPassword(t.Context(), a.ID, "another horse")
		if err != nil || changed.Epoch != a.Epoch+1 {
			t.Fatalf("changed to epoch %d from %d: %v", changed.Epoch, a.Epoch, err)
		}
		if _, err := accounts.SignIn(t.Context(), a.Email, password); !errors.Is(err, account.ErrCredentials) {
			t.Errorf("the old password: %v", err)
		}
		if _, err := accounts.SignIn(t.Context(), a.Email, "another horse"); err != nil {
			t.Errorf("the new password: %v", err)
		}
		if _, err := accounts.ResetPassword(t.Context(), mailed, "third horse"); !errors.Is(err, account.ErrNotFound) {
			t.Errorf("a link mailed before: %v", err)
		}
		if _, err := accounts.SetPassword(t.Context(), "acc_none", password); !errors.Is(err, account.ErrNotFound) {
			t.Errorf("no such account: %v", err)
		}
	})
}

func TestChangePassword(t *testing.T) {
	t.Parallel()
	accounts := account.New(storetest.Open(t, storetest.SQLite(t)))
	a, err := accounts.Register(t.Context(), "ann@example.com", password)
	if err != nil {
		t.Fatal(err)
	}
	for field, next := range map[string]string{"current": "another horse", "password": "short"} {
		current := password
		if field == "current" {
			current = "a guess"
		}
		_, err := accounts.ChangePassword(t.Context(), a, current, next)
		if f := (*account.FieldError)(nil); !errors.As(err, &f) || f.Field != field {
			t.Errorf("%s to %s: %v", current, next, err)
		}
	}
	changed, err := accounts.ChangePassword(t.Context(), a, password, "another horse")
	if err != nil || changed.Epoch != a.Epoch+1 {
		t.Errorf("changed to epoch %d from %d: %v", changed.Epoch, a.Epoch, err)
	}
	if err := accounts.EndSessions(t.Context(), a.ID); err != nil {
		t.Error(err)
	}
	if now, err := accounts.Get(t.Context(), a.ID); now.Epoch != changed.Epoch+1 || err != nil {
		t.Errorf("the sessions end at epoch %d: %v", now.Epoch, err)
	}
	if err := accounts.EndSessions(t.Context(), "acc_none"); !errors.Is(err, account.ErrNotFound) {
		t.Errorf("no such account: %v", err)
	}
}

// Of two concurrent changes from the same password, only the first succeeds.
func TestChangePasswordConcurrent(t *testing.T) {
	t.Parallel()
	storetest.Each(t, func(t *testing.T, db *store.DB) {
		a := register(t, db, "ann@example.com")
		once(t, 3, func() error {
			_, err := account.New(db).ChangePassword(t.Context(), a, password, "another horse")
			return err
		}, func(err error) bool {
			field := (*account.FieldError)(nil)
			return errors.As(err, &field) && field.Field == "current"
		})
	})
}

// A sign-in during a change of the password gets the epoch of the old password.
// Sessions of that epoch are no longer valid.
func TestSignInConcurrent(t *testing.T) {
	t.Parallel()
	storetest.Each(t, func(t *testing.T, db *store.DB) {
		a, accounts := register(t, db, "ann@example.com"), account.New(db)
		var g errgroup.Group
		for range 4 {
			g.Go(func() error {
				got, err := accounts.SignIn(t.Context(), a.Email, password)
				if errors.Is(err, account.ErrCredentials) {
					return nil
				}
				if got.Epoch != a.Epoch {
					t.Errorf("signed in to epoch %d by the password of %d", got.Epoch, a.Epoch)
				}
				return err
			})
		}
		g.Go(func() error {
			_, err := account.New(db).SetPassword(t.Context(), a.ID, "another horse")
			return err
		})
		if err := g.Wait(); err != nil {
			t.Error(err)
		}
	})
}

func TestRegisterRefuses(t *testing.T) {
	t.Parallel()
	accounts := account.New(storetest.Open(t, storetest.SQLite(t)))
	for _, c := range []struct{ email, password, field string }{
		{"", password, "email"},
		{"ann", password, "email"},
		{"Ann <ann@example.com>", password, "email"},
		{strings.Repeat("a", 250) + "@example.com", password, "email"},
		{"an\u200bn@example.com", password, "email"}, // zero width space
		{"an\u202en@example.com", password, "email"}, // right to left
		{"ann\u3164@example.com", password, "email"}, // a letter that looks empty
		{"ann\ufe0f@example.com", password, "email"}, // variation selector
		{"ann\u00a0@example.com", password, "email"}, // no-break space
		{`"ann\ b"@example.com`, password, "email"},  // a space, quoted
		{"ann@exam\u00adple.com", password, "email"}, // soft hyphen
		{"ann@example.com", "short", "password"},
		{"ann@example.com", strings.Repeat("x", account.MaxPassword+1), "password"},
	} {
		_, err := accounts.Register(t.Context(), c.email, c.password)
		if f := (*account.FieldError)(nil); !errors.As(err, &f) || f.Field != c.field {
			t.Errorf("%q %q: %v", c.email, c.password, err)
		}
	}
}

func TestPlans(t *testing.T) {
	t.Parallel()
	for _, p := range account.Plans() {
		if got, ok := account.PlanNamed(p.Name); !ok || got != p {
			t.Errorf("%q is %v", p.Name, got)
		}
	}
	if _, ok := account.PlanNamed("none"); ok {
		t.Error("there is no such plan")
	}
}
