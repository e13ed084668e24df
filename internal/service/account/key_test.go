package account_test

import (
	"errors"
	"slices"
	"strings"
	"sync/atomic"
	"testing"
	"time"

	"golang.org/x/sync/errgroup"

	"github.com/bgremove/bgremove/internal/service/account"
	"github.com/bgremove/bgremove/internal/service/store"
	"github.com/bgremove/bgremove/internal/service/store/storetest"
)

func TestKeys(t *testing.T) {
	t.Parallel()
	storetest.Each(t, func(t *testing.T, db *store.DB) {
		keys := account.NewKeys(db)
		a := register(t, db, "ann@example.com")
		key, secret, err := keys.Create(t.Context(), a.ID, " laptop ")
		if err != nil {
			t.Fatal(err)
		}
		if key.Name != "laptop" || len(secret) != len("bgr_")+43 || !strings.HasPrefix(secret, key.Prefix) || key.AccountID != a.ID {
			t.Errorf("created %+v", key)
		}
		var kept int
		if err := db.QueryRow("SELECT COUNT(*) FROM api_keys WHERE hash = $1 OR name = $1 OR prefix = $1", secret).Scan(&kept); err != nil || kept != 0 {
			t.Errorf("the secret is kept: %d, %v", kept, err)
		}
		if got, err := keys.Identify(t.Context(), secret); err != nil || got.ID != key.ID {
			t.Errorf("identified %+v, %v", got, err)
		}
		for _, wrong := range []string{"", "bgr_", secret + "x", secret[1:], strings.ToUpper(secret)} {
			if _, err := keys.Identify(t.Context(), wrong); !errors.Is(err, account.ErrUnknownKey) {
				t.Errorf("%q: %v", wrong, err)
			}
		}
		bob := register(t, db, "bob@example.com")
		if err := keys.Revoke(t.Context(), bob.ID, key.ID); !errors.Is(err, account.ErrNotFound) {
			t.Errorf("another's key: %v", err)
		}
		if err := keys.Revoke(t.Context(), a.ID, key.ID); err != nil {
			t.Fatal(err)
		}
		if _, err := keys.Identify(t.Context(), secret); !errors.Is(err, account.ErrUnknownKey) {
			t.Errorf("a revoked key: %v", err)
		}
		if err := keys.Revoke(t.Context(), a.ID, key.ID); !errors.Is(err, account.ErrNotFound) {
			t.Errorf("revoked again: %v", err)
		}
	})
}

func TestKeyNames(t *testing.T) {
	t.Parallel()
	db := storetest.Open(t, storetest.SQLite(t))
	a := register(t, db, "ann@example.com")
	for _, name := range []string{"", "  ", strings.Repeat("x", 101), "a\x00b", "\xff"} {
		_, _, err := account.NewKeys(db).Create(t.Context(), a.ID, name)
		if f := (*account.FieldError)(nil); !errors.As(err, &f) || f.Field != "name" {
			t.Errorf("%q: %v", name, err)
		}
	}
	if _, _, err := account.NewKeys(db).Create(t.Context(), "acc_none", "x"); !errors.Is(err, account.ErrNotFound) {
		t.Errorf("no such account: %v", err)
	}
}

// An account has at most ten keys, even with many requests at once; a revoked
// key makes room.
func TestKeysAtMost(t *testing.T) {
	t.Parallel()
	storetest.Each(t, func(t *testing.T, db *store.DB) {
		keys := account.NewKeys(db)
		a := register(t, db, "ann@example.com")
		var made, refused atomic.Int32
		var g errgroup.Group
		for range 24 {
			g.Go(func() error {
				switch _, _, err := keys.Create(t.Context(), a.ID, "x"); {
				case err == nil:
					made.Add(1)
				case errors.Is(err, account.ErrTooManyKeys):
					refused.Add(1)
				default:
					return err
				}
				return nil
			})
		}
		if err := g.Wait(); err != nil {
			t.Fatal(err)
		}
		if made.Load() != account.MaxKeys || refused.Load() != 24-account.MaxKeys {
			t.Errorf("%d made, %d refused", made.Load(), refused.Load())
		}
		list, err := keys.List(t.Context(), a.ID)
		if err != nil || len(list) != account.MaxKeys {
			t.Fatalf("%d keys, %v", len(list), err)
		}
		if err := keys.Revoke(t.Context(), a.ID, list[0].ID); err != nil {
			t.Fatal(err)
		}
		if _, _, err := keys.Create(t.Context(), a.ID, "x"); err != nil {
			t.Errorf("in the place of a revoked one: %v", err)
		}
	})
}

// This process shows the last use at once; other processes show it once it is
// written.
func TestLastUse(t *testing.T) {
	t.Parallel()
	storetest.Each(t, func(t *testing.T, db *store.DB) {
		keys, other := account.NewKeys(db), account.NewKeys(db)
		a := register(t, db, "ann@example.com")
		_, secret, err := keys.Create(t.Context(), a.ID, "x")
		if err != nil {
			t.Fatal(err)
		}
		used := func(k *account.Keys) time.Time {
			list, err := k.List(t.Context(), a.ID)
			if err != nil || len(list) != 1 {
				t.Fatalf("%v %v", list, err)
			}
			return list[0].LastUsedAt
		}
		if at := used(keys); !at.IsZero() {
			t.Errorf("never used, but at %v", at)
		}
		if _, err := keys.Identify(t.Context(), secret); err != nil {
			t.Fatal(err)
		}
		here := used(keys)
		if here.IsZero() || !used(other).IsZero() {
			t.Errorf("used at %v here, %v elsewhere", here, used(other))
		}
		if err := keys.Flush(t.Context()); err != nil {
			t.Fatal(err)
		}
		if at := used(other); !at.Equal(here) {
			t.Errorf("used at %v here, %v elsewhere", here, at)
		}
	})
}

// TestFlushOrder checks that a writer of last uses that waits for the first key holds no
// other: two nodes that write the same keys would else wait for each other.
func TestFlushOrder(t *testing.T) {
	t.Parallel()
	db := storetest.Open(t, storetest.Postgres(t))
	keys := account.NewKeys(db)
	a := register(t, db, "ann@example.com")
	var ids []string
	for range account.MaxKeys {
		key, secret, err := keys.Create(t.Context(), a.ID, "x")
		if err == nil {
			_, err = keys.Identify(t.Context(), secret)
		}
		if err != nil {
			t.Fatal(err)
		}
		ids = append(ids, key.ID)
	}
	slices.Sort(ids)
	flushed := make(chan error, 1)
	err := db.Tx(t.Context(), func(tx *store.Tx) error {
		if _, err := tx.Exec("UPDATE api_keys SET name = 'y' WHERE id = $1", ids[0]); err != nil {
			return err
		}
		go func() { flushed <- keys.Flush(t.Context()) }()
		for waiting := 0; waiting == 0; {
			if err := db.QueryRow("SELECT COUNT(*) FROM pg_stat_activity WHERE datname = current_database() AND wait_event_type = 'Lock'").Scan(&waiting); err != nil {
				return err
			}
		}
		for _, id := range ids[1:] {
			if err := tx.QueryRow("SELECT id FROM api_keys WHERE id = $1 FOR UPDATE NOWAIT", id).Scan(&id); err != nil {
				return err
			}
		}
		return nil
	})
	if err := errors.Join(err, <-flushed); err != nil {
		t.Error(err)
	}
}
