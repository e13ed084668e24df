package cli_test

import (
	"net/http/httptest"
	"os"
	"os/exec"
	"regexp"
	"strings"
	"testing"
	"time"

	"github.com/johannesboyne/gofakes3"
	"github.com/johannesboyne/gofakes3/backend/s3mem"

	"github.com/bgremove/bgremove/internal/service/account"
	"github.com/bgremove/bgremove/internal/service/blob"
	"github.com/bgremove/bgremove/internal/service/deployment"
	"github.com/bgremove/bgremove/internal/service/job"
	"github.com/bgremove/bgremove/internal/service/store"
	"github.com/bgremove/bgremove/internal/service/store/storetest"
)

// bucket starts a server with an empty bucket called clips, and returns its
// address.
func bucket(t *testing.T) string {
	t.Helper()
	backend := s3mem.New()
	if err := backend.CreateBucket("clips"); err != nil {
		t.Fatal(err)
	}
	server := httptest.NewServer(gofakes3.New(backend).Server())
	t.Cleanup(server.Close)
	return server.URL
}

// documented returns the commands of docs/operations.md under a name.
func documented(t *testing.T, name string) string {
	t.Helper()
	text, err := os.ReadFile("../../docs/operations.md")
	if err != nil {
		t.Fatal(err)
	}
	found := regexp.MustCompile("(?s)<!-- run: " + name + " -->\n```sh\n(.*?)```").FindSubmatch(text)
	if found == nil {
		t.Fatalf("docs/operations.md has no commands called %s", name)
	}
	return string(found[1])
}

// TestDocumentedBackup runs the documented commands on a service with
// PostgreSQL and S3, and restores it on others.
func TestDocumentedBackup(t *testing.T) {
	const keys = "test"
	t.Setenv("AWS_ACCESS_KEY_ID", keys)
	t.Setenv("AWS_SECRET_ACCESS_KEY", keys)
	dir := t.TempDir()
	run := func(commands, database, endpoint string) string {
		t.Helper()
		cmd := exec.CommandContext(t.Context(), "sh", "-eu", "-c", commands)
		cmd.Dir = dir
		cmd.Env = append(os.Environ(), "BGREMOVE_DATABASE="+database, "BGREMOVE_STORAGE="+storage(endpoint), "AWS_CA_BUNDLE=", // which rclone cannot use
			"RCLONE_CONFIG_S3_TYPE=s3", "RCLONE_CONFIG_S3_PROVIDER=Other", "RCLONE_CONFIG_S3_ENDPOINT="+endpoint,
			"RCLONE_CONFIG_S3_ACCESS_KEY_ID="+keys, "RCLONE_CONFIG_S3_SECRET_ACCESS_KEY="+keys)
		out, err := cmd.CombinedOutput()
		if err != nil {
			t.Fatalf("%s%v\n%s", commands, err, out)
		}
		return string(out)
	}
	database, endpoint := storetest.PostgresDatabase(t), bucket(t)
	email := fill(t, database, storage(endpoint))
	run(documented(t, "backup"), database, endpoint)
	database, endpoint = storetest.PostgresDatabase(t), bucket(t)
	said := run(documented(t, "restore"), database, endpoint)
	if !strings.Contains(said, "every balance is the sum of its ledger; 3 files, 18 B are as they were stored") {
		t.Errorf("it says %s", said)
	}
	db := storetest.Open(t, database)
	if who, err := account.New(db).ByEmail(t.Context(), email); err != nil || who.Credits != 91 {
		t.Errorf("%+v %v", who, err)
	}
	if err := deployment.Bind(t.Context(), db, openStorage(t, storage(endpoint))); err != nil {
		t.Error(err)
	}
}

func storage(endpoint string) string {
	return "s3://clips?region=us-east-1&use_path_style=true&endpoint=" + endpoint
}

func openStorage(t *testing.T, at string) *blob.Store {
	t.Helper()
	blobs, err := blob.Open(t.Context(), at, blob.Options{TempDir: t.TempDir()})
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { _ = blobs.Close() })
	return blobs
}

// fill creates an account with 100 credits and three jobs, and returns its
// address.
func fill(t *testing.T, database, storage string) (email string) {
	t.Helper()
	db, err := store.Open(t.Context(), database)
	if err != nil {
		t.Fatal(err)
	}
	defer db.Close()
	blobs := openStorage(t, storage)
	who, err := account.New(db).Register(t.Context(), "ann@example.com", "correct horse")
	if err == nil {
		_, err = account.NewLedger(db).Grant(t.Context(), who.ID, 100, "")
	}
	if err == nil {
		err = deployment.Bind(t.Context(), db, blobs)
	}
	for range 3 {
		if err != nil {
			break
		}
		var u *blob.Upload
		if u, err = blobs.Receive(t.Context(), job.InputKey(), strings.NewReader("a clip"), 100); err != nil {
			break
		}
		u.Release()
		_, err = job.New(db, blobs, job.Config{}).Submit(t.Context(), job.Submission{Owner: job.Owner{AccountID: who.ID}, Options: job.DefaultOptions(),
			Files: []job.Input{{Name: "a.gif", Key: u.Key, Size: u.Size, SHA256: u.SHA256, Media: job.Media{FrameCount: 1, Width: 1, Height: 1, Duration: time.Second}}}})
	}
	if err != nil {
		t.Fatal(err)
	}
	return who.Email
}
