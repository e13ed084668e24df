package store_test

import (
	"context"
	"errors"
	"os"
	"path/filepath"
	"runtime"
	"strings"
	"sync"
	"sync/atomic"
	"testing"
	"time"

	"golang.org/x/sync/errgroup"

	"github.com/bgremove/bgremove/internal/service/id"
	"github.com/bgremove/bgremove/internal/service/store"
	"github.com/bgremove/bgremove/internal/service/store/storetest"
)

// Several processes may start at once on an empty database.
func TestOpenAtOnce(t *testing.T) {
	t.Parallel()
	storetest.EachURL(t, func(t *testing.T, url string) {
		var g errgroup.Group
		for range 4 {
			g.Go(func() error {
				db, err := store.Open(t.Context(), url)
				if err != nil {
					return err
				}
				return db.Close()
			})
		}
		if err := g.Wait(); err != nil {
			t.Fatal(err)
		}
	})
}

func TestOpenRefuses(t *testing.T) {
	t.Parallel()
	for _, url := range []string{"", "sqlite:", "mysql://root:secret@x", "/var/x.db"} {
		_, err := store.Open(t.Context(), url)
		if err == nil || strings.Contains(err.Error(), "secret") {
			t.Errorf("%q: %v", url, err)
		}
	}
}

// Other users cannot read a database, whatever folder it is in.
func TestPrivate(t *testing.T) {
	t.Parallel()
	if runtime.GOOS == "windows" {
		t.Skip("files have no such rights there")
	}
	dir := t.TempDir()
	if err := os.Chmod(dir, 0o755); err != nil {
		t.Fatal(err)
	}
	db := storetest.Open(t, "sqlite:"+filepath.Join(dir, "test.db"))
	mustExec(t, db, "INSERT INTO sessions (id, data, expires_at) VALUES ('a', '', 0)")
	files, err := os.ReadDir(dir)
	if err != nil || len(files) < 2 {
		t.Fatal(files, err)
	}
	for _, f := range files {
		if info, err := f.Info(); err != nil || info.Mode().Perm() != 0o600 {
			t.Errorf("%s: %v, %v", f.Name(), info.Mode(), err)
		}
	}
}

func TestClock(t *testing.T) {
	t.Parallel()
	storetest.Each(t, func(t *testing.T, db *store.DB) {
		var ms int64
		if err := db.QueryRow("SELECT now_ms() + CAST($1 AS BIGINT)", 0).Scan(&ms); err != nil {
			t.Fatal(err)
		}
		if d := time.Since(store.Time(ms)).Abs(); d > time.Minute {
			t.Errorf("the database's clock is %v off", d)
		}
	})
}

// Transactions that read before they write do not fail, even with many at once.
func TestTxConcurrent(t *testing.T) {
	t.Parallel()
	storetest.Each(t, func(t *testing.T, db *store.DB) {
		mustExec(t, db, "INSERT INTO sessions (id, data, expires_at) VALUES ('a', '', 0), ('b', '', 0)")
		var g errgroup.Group
		for range 8 {
			g.Go(func() error {
				for range 20 {
					if err := add(t.Context(), db, "a", "b"); err != nil {
						return err
					}
				}
				return nil
			})
		}
		if err := g.Wait(); err != nil {
			t.Fatal(err)
		}
		var sum int64
		if err := db.QueryRow("SELECT CAST(SUM(expires_at) AS BIGINT) FROM sessions").Scan(&sum); err != nil {
			t.Fatal(err)
		}
		if sum != 2*8*20 {
			t.Errorf("counted %d of %d", sum, 2*8*20)
		}
	})
}

// Of two deadlocked transactions, one is run again.
func TestTxDeadlock(t *testing.T) {
	t.Parallel()
	db := storetest.Open(t, storetest.Postgres(t))
	mustExec(t, db, "INSERT INTO sessions (id, data, expires_at) VALUES ('a', '', 0), ('b', '', 0)")
	var (
		g    errgroup.Group
		both sync.WaitGroup // until both have locked their first row
		runs atomic.Int32
	)
	both.Add(2)
	for _, order := range [][2]string{{"a", "b"}, {"b", "a"}} {
		arrived := sync.OnceFunc(both.Done)
		g.Go(func() error {
			return db.Tx(t.Context(), func(tx *store.Tx) error {
				runs.Add(1)
				for _, id := range order {
					if _, err := tx.Exec("UPDATE sessions SET expires_at = expires_at + 1 WHERE id = $1", id); err != nil {
						return err
					}
					arrived()
					both.Wait()
				}
				return nil
			})
		})
	}
	if err := g.Wait(); err != nil {
		t.Fatal(err)
	}
	if runs.Load() < 3 { // one of them may meet the other twice
		t.Errorf("%d runs of two transactions", runs.Load())
	}
}

func add(ctx context.Context, db *store.DB, ids ...string) error {
	return db.Tx(ctx, func(tx *store.Tx) error {
		for _, id := range ids {
			var n int64
			if err := tx.QueryRowContext(ctx, "UPDATE sessions SET expires_at = expires_at + 1 WHERE id = $1 RETURNING expires_at", id).Scan(&n); err != nil {
				return err
			}
		}
		return nil
	})
}

func mustExec(t *testing.T, db *store.DB, query string, args ...any) {
	t.Helper()
	if _, err := db.Exec(query, args...); err != nil {
		t.Fatal(err)
	}
}

func TestTxRollsBack(t *testing.T) {
	t.Parallel()
	storetest.Each(t, func(t *testing.T, db *store.DB) {
		stop := errors.New("stop")
		err := db.Tx(t.Context(), func(tx *store.Tx) error {
			_, err := tx.Exec("INSERT INTO sessions (id, data, expires_at) VALUES ('a', '', 0)")
			return errors.Join(err, stop)
		})
		if !errors.Is(err, stop) {
			t.Fatal(err)
		}
		var n int
		if err := db.QueryRow("SELECT COUNT(*) FROM sessions").Scan(&n); err != nil || n != 0 {
			t.Errorf("%d rows, %v", n, err)
		}
	})
}

func TestIsUnique(t *testing.T) {
	t.Parallel()
	storetest.Each(t, func(t *testing.T, db *store.DB) {
		insert := func() error {
			_, err := db.Exec("INSERT INTO sessions (id, data, expires_at) VALUES ('a', '', 0)")
			return err
		}
		if err := insert(); err != nil {
			t.Fatal(err)
		}
		if err := insert(); !store.IsUnique(err) || store.Unavailable(err) {
			t.Errorf("a second row: %v", err)
		}
		_, err := db.Exec("INSERT INTO accounts (id, email, password, epoch, credits, plan, created_at) VALUES ('a', '', '', 0, -1, '', 0)")
		if err == nil || store.IsUnique(err) || store.Unavailable(err) {
			t.Errorf("a failed check: %v", err)
		}
	})
}

// listen listens until the test ends and returns a channel of wake-ups.
func listen(t *testing.T, db *store.DB, topic string) <-chan struct{} {
	t.Helper()
	ctx, cancel := context.WithCancel(context.Background())
	woken := make(chan struct{}, 1)
	var wait sync.WaitGroup
	wait.Go(func() {
		err := db.Listen(ctx, topic, func() {
			select {
			case woken <- struct{}{}:
			default:
			}
		})
		if !errors.Is(err, context.Canceled) {
			t.Errorf("listen: %v", err)
		}
	})
	t.Cleanup(func() { cancel(); wait.Wait() })
	return woken
}

func notify(t *testing.T, db *store.DB, topic string) {
	t.Helper()
	err := db.Tx(t.Context(), func(tx *store.Tx) error {
		tx.Notify(topic)
		tx.Notify("another")
		return nil
	})
	if err != nil {
		t.Fatal(err)
	}
}

// A listener hears its own process and others, here a second connection pool.
// On PostgreSQL it also does so after its connection broke.
func TestListen(t *testing.T) {
	t.Parallel()
	t.Run("sqlite", func(t *testing.T) {
		t.Parallel()
		db := storetest.Open(t, storetest.SQLite(t))
		woken := listen(t, db, "a")
		for heard := false; !heard; {
			notify(t, db, "a") // until Listen has begun
			select {
			case <-woken:
				heard = true
			case <-time.After(time.Millisecond):
			}
		}
	})
	t.Run("another on sqlite", func(t *testing.T) {
		t.Parallel()
		url := storetest.SQLite(t)
		db, other := storetest.Open(t, url), storetest.Open(t, url)
		woken := listen(t, db, "a")
		<-woken // it listens
		for _, id := range []string{"a", "b"} {
			mustExec(t, other, "INSERT INTO sessions (id, data, expires_at) VALUES ($1, '', 0)", id)
			<-woken
		}
	})
	t.Run("postgres", func(t *testing.T) {
		t.Parallel()
		url := storetest.Postgres(t)
		db, other := storetest.Open(t, url), storetest.Open(t, url)
		topic := id.New("topic_")
		woken := listen(t, db, topic)
		<-woken // it listens
		notify(t, other, topic)
		<-woken
		mustExec(t, other, "SELECT pg_terminate_backend(pid) FROM pg_stat_activity WHERE query = $1", `LISTEN "`+topic+`"`)
		<-woken // it listens again
		notify(t, other, topic)
		<-woken
	})
}

func TestUnavailable(t *testing.T) {
	t.Parallel()
	t.Run("locked", func(t *testing.T) {
		t.Parallel()
		db := storetest.Open(t, storetest.SQLite(t))
		err := db.Tx(t.Context(), func(*store.Tx) error {
			// A second writer waits, here for the configured time.
			conn, err := db.Conn(t.Context())
			if err != nil {
				return err
			}
			defer conn.Close()
			if _, err := conn.ExecContext(t.Context(), "PRAGMA busy_timeout = 1"); err != nil {
				return err
			}
			_, err = conn.ExecContext(t.Context(), "INSERT INTO sessions (id, data, expires_at) VALUES ('a', '', 0)")
			return err
		})
		if !store.Unavailable(err) {
			t.Errorf("a locked file: %v", err)
		}
	})
	t.Run("full", func(t *testing.T) {
		t.Parallel()
		db := storetest.Open(t, storetest.SQLite(t))
		db.SetMaxOpenConns(1)
		mustExec(t, db, "PRAGMA max_page_count = 1")
		_, err := db.Exec("INSERT INTO sessions (id, data, expires_at) VALUES ('a', $1, 0)", make([]byte, 1<<20))
		if !store.Unavailable(err) {
			t.Errorf("a full disk: %v", err)
		}
	})
	t.Run("no folder", func(t *testing.T) {
		t.Parallel()
		dir := t.TempDir()
		if err := os.WriteFile(filepath.Join(dir, "f"), nil, 0o600); err != nil {
			t.Fatal(err)
		}
		if _, err := store.Open(t.Context(), "sqlite:"+filepath.Join(dir, "f", "x.db")); err == nil {
			t.Error("a file is no folder")
		}
	})
	t.Run("down", func(t *testing.T) {
		t.Parallel()
		_, err := store.Open(t.Context(), "postgres://127.0.0.1:1/x?connect_timeout=1")
		if !store.Unavailable(err) {
			t.Errorf("no server: %v", err)
		}
	})
	t.Run("terminated", func(t *testing.T) {
		t.Parallel()
		db := storetest.Open(t, storetest.Postgres(t))
		err := db.Tx(t.Context(), func(tx *store.Tx) error {
			_, err := tx.Exec("SELECT pg_terminate_backend(pg_backend_pid())")
			return err
		})
		if !store.Unavailable(err) {
			t.Errorf("a broken connection: %v", err)
		}
	})
	for _, err := range []error{nil, context.Canceled, errors.New("x")} {
		if store.Unavailable(err) {
			t.Errorf("%v is not the database's fault", err)
		}
	}
}
