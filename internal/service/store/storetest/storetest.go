// Package storetest runs a test on every database that there is: SQLite, and
// PostgreSQL where BGREMOVE_TEST_POSTGRES names a server on which the test may
// make schemas. tools/postgres.sh starts one.
package storetest

import (
	"context"
	"database/sql"
	"fmt"
	"net/url"
	"os"
	"path/filepath"
	"testing"

	_ "github.com/jackc/pgx/v5/stdlib" // the driver pgx

	"github.com/bgremove/bgremove/internal/service/id"
	"github.com/bgremove/bgremove/internal/service/store"
)

// EachURL runs f for each database, with the URL of an empty one.
func EachURL(t *testing.T, f func(t *testing.T, url string)) {
	t.Helper()
	t.Run("sqlite", func(t *testing.T) {
		t.Parallel()
		f(t, SQLite(t))
	})
	t.Run("postgres", func(t *testing.T) {
		t.Parallel()
		f(t, Postgres(t))
	})
}

// Each runs f for each database, opened and empty.
func Each(t *testing.T, f func(t *testing.T, db *store.DB)) {
	t.Helper()
	EachURL(t, func(t *testing.T, url string) { f(t, Open(t, url)) })
}

// SQLite is the URL of a file that is removed with the test.
func SQLite(t testing.TB) string {
	return "sqlite:" + filepath.Join(t.TempDir(), "test.db")
}

// Postgres is the URL of a schema that is removed with the test, which is
// skipped where there is no server.
func Postgres(t testing.TB) string {
	t.Helper()
	u, schema := createDatabase(t, "CREATE SCHEMA %s", "DROP SCHEMA %s CASCADE")
	q := u.Query()
	q.Set("search_path", schema)
	u.RawQuery = q.Encode()
	return u.String()
}

// PostgresDatabase is the URL of a database that is removed with the test, for
// programs that know no schemas.
func PostgresDatabase(t testing.TB) string {
	t.Helper()
	u, name := createDatabase(t, "CREATE DATABASE %s", "DROP DATABASE %s WITH (FORCE)")
	u.Path = "/" + name
	return u.String()
}

// createDatabase makes something on the server, under a new name, and removes it with the
// test.
func createDatabase(t testing.TB, create, drop string) (server *url.URL, name string) {
	t.Helper()
	at := os.Getenv("BGREMOVE_TEST_POSTGRES")
	if at == "" {
		t.Skip("BGREMOVE_TEST_POSTGRES names no server; tools/postgres.sh starts one")
	}
	admin, err := sql.Open("pgx", at)
	if err != nil {
		t.Fatal(err)
	}
	name = id.New("test_")
	if _, err := admin.Exec(fmt.Sprintf(create, name)); err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() {
		defer admin.Close()
		if _, err := admin.Exec(fmt.Sprintf(drop, name)); err != nil {
			t.Error(err)
		}
	})
	if server, err = url.Parse(at); err != nil {
		t.Fatal(err)
	}
	return server, name
}

// Open opens a database until the test ends.
func Open(t testing.TB, url string) *store.DB {
	t.Helper()
	db, err := store.Open(context.Background(), url)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() {
		if err := db.Close(); err != nil {
			t.Error(err)
		}
	})
	return db
}
