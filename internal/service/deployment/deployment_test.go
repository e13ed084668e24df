package deployment_test

import (
	"errors"
	"os"
	"path/filepath"
	"runtime"
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"github.com/bgremove/bgremove/internal/service/account"
	"github.com/bgremove/bgremove/internal/service/blob"
	"github.com/bgremove/bgremove/internal/service/deployment"
	"github.com/bgremove/bgremove/internal/service/job"
	"github.com/bgremove/bgremove/internal/service/store"
	"github.com/bgremove/bgremove/internal/service/store/storetest"
)

// fixture is a database and a storage.
type fixture struct {
	*testing.T
	db    *store.DB
	blobs *blob.Store
	dir   string // of the objects
	jobs  *job.Service
}

func newFixture(t *testing.T, database string) *fixture {
	t.Helper()
	p := &fixture{T: t, db: storetest.Open(t, database), dir: t.TempDir()}
	p.blobs = open(t, p.dir)
	p.jobs = job.New(p.db, p.blobs, job.Config{})
	return p
}

func open(t *testing.T, dir string) *blob.Store {
	t.Helper()
	blobs, err := blob.Open(t.Context(), "file://"+filepath.ToSlash(dir), blob.Options{})
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { _ = blobs.Close() })
	return blobs
}

// fill creates an account with queued jobs.
func (p *fixture) fill(jobs int) {
	p.Helper()
	who, err := account.New(p.db).Register(p.Context(), "ann@example.com", "correct horse")
	if err == nil {
		_, err = account.NewLedger(p.db).Grant(p.Context(), who.ID, 1000, "")
	}
	if err != nil {
		p.Fatal(err)
	}
	for range jobs {
		u, err := p.blobs.Receive(p.Context(), job.InputKey(), strings.NewReader("a clip"), 100)
		if err != nil {
			p.Fatal(err)
		}
		u.Release()
		_, err = p.jobs.Submit(p.Context(), job.Submission{Owner: job.Owner{AccountID: who.ID}, Options: job.DefaultOptions(), Files: []job.Input{
			{Name: "a.gif", Key: u.Key, Size: u.Size, SHA256: u.SHA256, Media: job.Media{FrameCount: 1, Width: 1, Height: 1, Duration: time.Second}},
		}})
		if err != nil {
			p.Fatal(err)
		}
	}
}

func (p *fixture) objects() (n int) {
	p.Helper()
	for info, err := range p.blobs.List(p.Context(), "") {
		if err != nil {
			p.Fatal(err)
		}
		if strings.Contains(info.Key, "/") {
			n++
		}
	}
	return n
}

// mismatch checks that a database and a storage refuse each other.
func mismatch(t *testing.T, db *store.DB, blobs *blob.Store) {
	t.Helper()
	if err := deployment.Bind(t.Context(), db, blobs); !errors.As(err, new(*deployment.MismatchError)) {
		t.Errorf("error = %v", err)
	}
}

// TestBind checks that a storage opens only with its own database.
func TestBind(t *testing.T) {
	t.Parallel()
	storetest.EachURL(t, func(t *testing.T, url string) {
		p := newFixture(t, url)
		bind := func(p *fixture) {
			t.Helper()
			if err := deployment.Bind(t.Context(), p.db, p.blobs); err != nil {
				t.Error(err)
			}
		}
		bind(p)
		bind(p)
		other := newFixture(t, storetest.SQLite(t))
		mismatch(t, other.db, p.blobs)
		bind(other)
		mismatch(t, other.db, p.blobs)
		mismatch(t, p.db, other.blobs)
	})
}

// TestBindEarlier checks a storage of a version that did not record its owner.
// It belongs to the database that knows its objects.
func TestBindEarlier(t *testing.T) {
	t.Parallel()
	p, other := newFixture(t, storetest.SQLite(t)), newFixture(t, storetest.SQLite(t))
	p.fill(3)
	mismatch(t, other.db, p.blobs)
	if err := deployment.Bind(t.Context(), p.db, p.blobs); err != nil {
		t.Fatal(err)
	}
	mismatch(t, other.db, p.blobs)
}

// TestWrongDatabase checks that a service with the right storage and the wrong
// database removes nothing, unless an operator has adopted the storage.
func TestWrongDatabase(t *testing.T) {
	t.Parallel()
	p, wrong := newFixture(t, storetest.SQLite(t)), newFixture(t, storetest.SQLite(t))
	p.fill(60)
	sweeper := job.New(wrong.db, p.blobs, job.Config{KeepOrphans: time.Nanosecond})
	if _, err := sweeper.Sweep(t.Context()); !errors.As(err, new(*job.OrphansError)) || p.objects() != 60 {
		t.Errorf("%d objects are left, %v", p.objects(), err)
	}
	if err := deployment.Adopt(t.Context(), wrong.db, p.blobs); err != nil {
		t.Fatal(err)
	}
	if err := deployment.Bind(t.Context(), wrong.db, p.blobs); err != nil {
		t.Error(err)
	}
	if _, err := sweeper.Sweep(t.Context()); err != nil || p.objects() != 0 {
		t.Errorf("%d objects are left, %v", p.objects(), err)
	}
}

// TestBackup backs up a running service, and restores it elsewhere.
func TestBackup(t *testing.T) {
	t.Parallel()
	p := newFixture(t, storetest.SQLite(t))
	if err := deployment.Bind(t.Context(), p.db, p.blobs); err != nil {
		t.Fatal(err)
	}
	p.fill(5)
	dir := filepath.Join(t.TempDir(), "backup")
	copied, err := deployment.Backup(t.Context(), p.db, p.blobs, dir+"/")
	if err != nil || copied != (deployment.Copied{Objects: 5, Bytes: 30}) {
		t.Fatalf("%+v %v", copied, err)
	}
	if entries, err := os.ReadDir(dir); len(entries) != 2 || err != nil {
		t.Errorf("it has %v, %v", entries, err)
	}
	if _, err := deployment.Backup(t.Context(), p.db, p.blobs, dir); !errors.As(err, new(*deployment.ExistsError)) {
		t.Errorf("a second one in the same place: %v", err)
	}
	database, objects := filepath.Join(t.TempDir(), "new", "bgremove.db"), t.TempDir()
	blobs := open(t, objects)
	if copied, err = deployment.Restore(t.Context(), dir, database, blobs); err != nil || copied.Objects != 5 {
		t.Fatalf("%+v %v", copied, err)
	}
	restored := &fixture{T: t, db: storetest.Open(t, "sqlite:"+database), blobs: blobs, dir: objects}
	if err := deployment.Bind(t.Context(), restored.db, restored.blobs); err != nil {
		t.Error(err)
	}
	if _, problems, err := deployment.Verify(t.Context(), restored.db, restored.blobs, true); len(problems) > 0 || err != nil {
		t.Error(problems, err)
	}
	if wrong, err := account.NewLedger(restored.db).Verify(t.Context()); len(wrong) > 0 || err != nil {
		t.Error(wrong, err)
	}
	if _, err := deployment.Restore(t.Context(), dir, database+"2", blobs); !errors.As(err, new(*deployment.ExistsError)) {
		t.Errorf("into a storage with objects: %v", err)
	}
	if _, err := deployment.Restore(t.Context(), dir, database, open(t, t.TempDir())); !errors.As(err, new(*deployment.ExistsError)) {
		t.Errorf("over a database: %v", err)
	}
}

// TestRestoreBesideLog restores a database where an earlier one has left its log, which
// SQLite would write into the restored one.
func TestRestoreBesideLog(t *testing.T) {
	t.Parallel()
	p := newFixture(t, storetest.SQLite(t))
	dir := filepath.Join(t.TempDir(), "backup")
	if _, err := deployment.Backup(t.Context(), p.db, p.blobs, dir); err != nil {
		t.Fatal(err)
	}
	for _, log := range []string{"-wal", "-journal"} {
		database := filepath.Join(t.TempDir(), "bgremove.db")
		if err := os.WriteFile(database+log, nil, 0o600); err != nil {
			t.Fatal(err)
		}
		_, err := deployment.Restore(t.Context(), dir, database, open(t, t.TempDir()))
		if found := (*deployment.ExistsError)(nil); !errors.As(err, &found) || found.What != database+log {
			t.Errorf("beside %s: %v", log, err)
		}
		if _, err := os.Stat(database); err == nil {
			t.Errorf("a database beside %s", log)
		}
	}
}

// TestBackupWhileItExpires removes files during a backup. In every order of
// events the restored service is complete.
func TestBackupWhileItExpires(t *testing.T) {
	t.Parallel()
	p := newFixture(t, storetest.SQLite(t))
	p.fill(100)
	if _, err := p.db.Exec("UPDATE jobs SET state = 'failed', ended_at = created_at - 90000000"); err != nil {
		t.Fatal(err)
	}
	swept := make(chan error, 1)
	go func() { _, err := p.jobs.Sweep(t.Context()); swept <- err }()
	dir := filepath.Join(t.TempDir(), "backup")
	copied, err := deployment.Backup(t.Context(), p.db, p.blobs, dir)
	if err := errors.Join(err, <-swept); err != nil {
		t.Fatal(err)
	}
	database, blobs := filepath.Join(t.TempDir(), "bgremove.db"), open(t, t.TempDir())
	if restored, err := deployment.Restore(t.Context(), dir, database, blobs); err != nil || restored != copied {
		t.Fatalf("%+v of %+v, %v", restored, copied, err)
	}
	checked, problems, err := deployment.Verify(t.Context(), storetest.Open(t, "sqlite:"+database), blobs, true)
	if err != nil || len(problems) > 0 || checked != copied {
		t.Errorf("%+v of %+v, %v, %v", checked, copied, problems, err)
	}
}

// TestDamage checks that changed files are reported and excluded from a backup.
func TestDamage(t *testing.T) {
	t.Parallel()
	if runtime.GOOS == "windows" {
		t.Skip("open files cannot be changed there")
	}
	p := newFixture(t, storetest.SQLite(t))
	p.fill(4)
	var keys []string
	for f, err := range p.jobs.Files(t.Context()) {
		if err != nil {
			t.Fatal(err)
		}
		keys = append(keys, f.Key)
	}
	spoil := func(key, content string) {
		t.Helper()
		path := filepath.Join(p.dir, filepath.FromSlash(key))
		err := os.Remove(path)
		if content != "" {
			err = os.WriteFile(path, []byte(content), 0o600)
		}
		if err != nil {
			t.Fatal(err)
		}
	}
	spoil(keys[0], "")
	spoil(keys[1], "too long a clip")
	spoil(keys[2], "a clap")
	for read, want := range map[bool]map[string]string{
		false: {keys[0]: "missing", keys[1]: "has 15 bytes in place of 6"},
		true:  {keys[0]: "missing", keys[1]: "has 15 bytes in place of 6", keys[2]: "damaged: its SHA-256 is another"},
	} {
		checked, problems, err := deployment.Verify(t.Context(), p.db, p.blobs, read)
		got := make(map[string]string)
		for _, problem := range problems {
			got[problem.Key] = problem.What
		}
		if diff := cmp.Diff(want, got); diff != "" || err != nil || checked.Objects != 4 {
			t.Errorf("read %v: %d objects, %v %s", read, checked.Objects, err, diff)
		}
	}
	dir := filepath.Join(t.TempDir(), "backup")
	refused := func(right func(error) bool) {
		t.Helper()
		if _, err := deployment.Backup(t.Context(), p.db, p.blobs, dir); !right(err) {
			t.Errorf("error = %v", err)
		}
		if left, _ := filepath.Glob(dir + "*"); len(left) > 0 {
			t.Errorf("%v is left", left)
		}
	}
	damaged := func(key string) func(error) bool {
		return func(err error) bool {
			got := (*deployment.DamagedError)(nil)
			return errors.As(err, &got) && got.Key == key
		}
	}
	refused(func(err error) bool { return errors.Is(err, blob.ErrNotFound) })
	mend := func(key string) {
		t.Helper()
		if err := os.WriteFile(filepath.Join(p.dir, filepath.FromSlash(key)), []byte("a clip"), 0o600); err != nil {
			t.Fatal(err)
		}
	}
	mend(keys[0])
	refused(damaged(keys[1]))
	mend(keys[1])
	refused(damaged(keys[2]))
}
