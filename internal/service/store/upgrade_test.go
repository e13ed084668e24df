package store_test

import (
	"database/sql"
	"errors"
	"fmt"
	"net/url"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
	_ "modernc.org/sqlite" // the driver sqlite

	"github.com/bgremove/bgremove/internal/service/store"
	"github.com/bgremove/bgremove/internal/service/store/storetest"
)

// raw opens a database without changes, for statements of all kinds.
func raw(t *testing.T, at string) *sql.DB {
	t.Helper()
	driver, source := "sqlite", strings.TrimPrefix(at, "sqlite:")
	if source == at {
		u, err := url.Parse(at)
		if err != nil {
			t.Fatal(err)
		}
		q := u.Query()
		q.Set("default_query_exec_mode", "simple_protocol")
		u.RawQuery = q.Encode()
		driver, source = "pgx", u.String()
	}
	db, err := sql.Open(driver, source)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { _ = db.Close() })
	return db
}

// restore fills an empty database from a file of testdata/schema.
func restore(t *testing.T, at, name string) {
	t.Helper()
	text, err := os.ReadFile(name)
	if err != nil {
		t.Fatal(err)
	}
	if _, err := raw(t, at).Exec(string(text)); err != nil {
		t.Fatalf("%s: %v", name, err)
	}
}

// database is the database's kind in the names of dumps.
func database(at string) string {
	kind, _, _ := strings.Cut(at, ":")
	return kind
}

// rows counts the rows of each table.
func rows(t *testing.T, db *sql.DB, tables []string) map[string]int {
	t.Helper()
	n := make(map[string]int)
	for _, table := range tables {
		var count int
		if err := db.QueryRow("SELECT COUNT(*) FROM " + table).Scan(&count); err != nil {
			t.Fatal(err)
		}
		n[table] = count
	}
	return n
}

// texts returns a column of texts.
func texts(t *testing.T, db *sql.DB, query string) (all []string) {
	t.Helper()
	found, err := db.Query(query)
	if err != nil {
		t.Fatal(err)
	}
	defer found.Close()
	for found.Next() {
		var text string
		if err := found.Scan(&text); err != nil {
			t.Fatal(err)
		}
		all = append(all, text)
	}
	if found.Err() != nil {
		t.Fatal(found.Err())
	}
	return all
}

// shapes describes a database, with a line for each table, column and index.
var shapes = map[string]string{
	"sqlite": `SELECT m.name || '.' || p.name || ' ' || p.type || ' ' || p."notnull" FROM sqlite_master m, pragma_table_info(m.name) p
		WHERE m.type = 'table' AND m.name NOT LIKE 'sqlite_%' UNION ALL
		SELECT sql FROM sqlite_master WHERE type = 'index' AND sql IS NOT NULL ORDER BY 1`,
	"postgres": `SELECT table_name || '.' || column_name || ' ' || data_type || ' ' || is_nullable FROM information_schema.columns
		WHERE table_schema = current_schema() UNION ALL
		SELECT replace(indexdef, current_schema() || '.', '') FROM pg_indexes WHERE schemaname = current_schema() ORDER BY 1`,
}

var tableNames = map[string]string{
	"sqlite":   "SELECT name FROM sqlite_master WHERE type = 'table' AND name NOT LIKE 'sqlite_%' AND name <> 'goose_db_version'",
	"postgres": "SELECT tablename FROM pg_tables WHERE schemaname = current_schema() AND tablename <> 'goose_db_version'",
}

// TestUpgrade opens databases of every earlier schema. All rows stay, credits
// add up, and the schema equals that of a new database.
func TestUpgrade(t *testing.T) {
	t.Parallel()
	storetest.EachURL(t, func(t *testing.T, at string) {
		dumps, _ := filepath.Glob("testdata/schema/*." + database(at) + ".sql")
		fresh := storetest.Open(t, at)
		var latest int
		if err := fresh.QueryRow("SELECT MAX(version_id) FROM goose_db_version").Scan(&latest); err != nil {
			t.Fatal(err)
		}
		if len(dumps) < latest-2 { // the first two versions were made together
			t.Fatalf("%d dumps for version %d: tools/dump-schema.sh makes one of the schema before", len(dumps), latest)
		}
		for i, dump := range dumps {
			t.Run(filepath.Base(dump), func(t *testing.T) {
				old := storetest.SQLite(t)
				if database(at) == "postgres" {
					old = storetest.Postgres(t)
				}
				restore(t, old, dump)
				before := raw(t, old)
				tables := texts(t, before, tableNames[database(at)])
				had := rows(t, before, tables)
				db := storetest.Open(t, old)
				if diff := cmp.Diff(had, rows(t, db.DB, tables)); diff != "" {
					t.Errorf("rows before (-) and after (+):\n%s", diff)
				}
				wrong := texts(t, db.DB, "SELECT email FROM accounts a WHERE credits <> (SELECT COALESCE(SUM(amount), 0) FROM ledger WHERE account_id = a.id)")
				if had["ledger"] == 0 || len(wrong) > 0 {
					t.Errorf("%d entries; balances that are not their sums: %v", had["ledger"], wrong)
				}
				want, got := texts(t, fresh.DB, shapes[database(at)]), texts(t, db.DB, shapes[database(at)])
				slices.Sort(want)
				slices.Sort(got)
				if diff := cmp.Diff(want, got); diff != "" {
					t.Errorf("dump %d: a new schema (-) and the upgraded one (+):\n%s", i, diff)
				}
				checkStates(t, db)
			})
		}
	})
}

// checkStates checks that the jobs of an upgraded database may be cancelled, and may
// have no state that nobody knows.
func checkStates(t *testing.T, db *store.DB) {
	t.Helper()
	for state, want := range map[string]bool{"cancelled": true, "lost": false} {
		_, err := db.Exec("UPDATE jobs SET state = $1", state)
		if (err == nil) != want {
			t.Errorf("the state %s: %v", state, err)
		}
	}
	if db.Shared() {
		return
	}
	if wrong := texts(t, db.DB, "PRAGMA integrity_check"); !slices.Equal(wrong, []string{"ok"}) {
		t.Errorf("the upgraded database is damaged: %v", wrong)
	}
}

// TestNewer checks that a program does not touch a database that a later one
// has upgraded.
func TestNewer(t *testing.T) {
	t.Parallel()
	storetest.EachURL(t, func(t *testing.T, at string) {
		db := storetest.Open(t, at)
		mustExec(t, db, fmt.Sprintf("INSERT INTO goose_db_version (version_id, is_applied) VALUES (%d, %s)", 9999,
			map[string]string{"sqlite": "1", "postgres": "true"}[database(at)]))
		_, err := store.Open(t.Context(), at)
		if newer := (*store.NewerError)(nil); !errors.As(err, &newer) || newer.Has != 9999 {
			t.Errorf("error = %v", err)
		}
	})
}
