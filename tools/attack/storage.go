package main

import (
	"context"
	"errors"
	"fmt"
	"net/http"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"time"

	"github.com/bgremove/bgremove/pkg/api"
	"github.com/bgremove/bgremove/tools/internal/rig"
)

var storageAttacks = []attack{
	{name: "wrong database", what: "a node with the service's storage, a new database and --keep-orphans 1s", run: wrongDatabase},
	{name: "older program", what: "a node on a database that a later program has upgraded", run: olderProgram},
	{name: "expired files", what: "an output and an input that are eight days old, before any sweep", run: expired},
	{name: "database file", what: "a new database in a folder that others may enter", only: "sqlite", run: databaseFile},
}

// startsNot checks that a node refuses to start, with a reason.
func startsNot(ctx context.Context, p *rig.Place, why string, flags ...string) (string, error) {
	n, err := p.Start(context.WithoutCancel(ctx), "refused", "all", flags...)
	if err == nil {
		return "it starts", errors.Join(errors.New("it starts"), n.Stop())
	}
	var ended *rig.EndedError
	if !errors.As(err, &ended) || !errors.As(err, new(*exec.ExitError)) {
		return "", err
	}
	for line := range strings.Lines(ended.Log) {
		if strings.Contains(line, why) {
			return fmt.Sprintf("%v: %s", ended.Err, strings.TrimSpace(line)), nil
		}
	}
	return "", err
}

func wrongDatabase(ctx context.Context, t *target) (string, error) {
	v, err := t.customer(ctx, credits)
	if err != nil {
		return "", err
	}
	if _, err := v.order(ctx); err != nil {
		return "", err
	}
	if err := t.done(ctx, v); err != nil {
		return "", err
	}
	before, err := t.objects(ctx)
	if err != nil {
		return "", err
	}
	time.Sleep(2 * time.Second) // everything is old by then
	wrong, err := t.newPlace(ctx)
	if err != nil {
		return "", err
	}
	wrong.Storage = t.place.Storage
	said, err := startsNot(ctx, wrong, "belongs to deployment", "--keep-orphans", "1s")
	if err != nil {
		return said, err
	}
	after, err := t.objects(ctx)
	if err == nil && (after != before || before == 0) {
		err = fmt.Errorf("%d of %d files are left", after, before)
	}
	return fmt.Sprintf("%s; all %d files are there", said, after), err
}

func olderProgram(ctx context.Context, t *target) (string, error) {
	later, err := t.open(ctx)
	if err != nil {
		return "", err
	}
	_, err = later.db.ExecContext(ctx, "INSERT INTO goose_db_version (version_id, is_applied) VALUES (9999, TRUE)")
	if err := errors.Join(err, later.close(ctx)); err != nil {
		return "", err
	}
	said, err := startsNot(ctx, later.place, "9999")
	if err != nil {
		return said, err
	}
	if _, err := later.place.Admin(ctx, "account", "list"); err == nil {
		return said, errors.New("admin works on it")
	}
	return said, nil
}

// expired moves a job's end into the past, minutes before the next sweep.
func expired(ctx context.Context, t *target) (string, error) {
	v, err := t.browser(ctx, credits)
	if err != nil {
		return "", err
	}
	id, err := v.order(ctx)
	if err != nil {
		return "", err
	}
	own := "/api/jobs/" + id
	files := []string{"/api/v1/jobs/" + id + "/download", "/api/v1/jobs/" + id + "/preview", own + "/download", own + "/preview", own + "/input"}
	all := func(status int, code api.ErrorCode) error {
		for _, path := range files {
			got, err := v.get(ctx, path)
			if err := errors.Join(err, got.want(status, code)); err != nil {
				return fmt.Errorf("%s: %w", path, err)
			}
		}
		return nil
	}
	if err := errors.Join(t.done(ctx, v), all(http.StatusOK, "")); err != nil {
		return "", err
	}
	before, err := t.objects(ctx)
	if err != nil {
		return "", err
	}
	const longAgo = 8 * 24 * time.Hour
	if _, err := t.db.ExecContext(ctx, "UPDATE jobs SET ended_at = ended_at - $1 WHERE id = $2", longAgo.Milliseconds(), id); err != nil {
		return "", err
	}
	if err := all(http.StatusNotFound, api.ErrorCodeNotFound); err != nil {
		return "", err
	}
	contentType, body, err := fields("method", "fast")
	if err != nil {
		return "", err
	}
	again, err := v.send(ctx, http.MethodPost, own+"/again", body, "Content-Type", contentType)
	err = errors.Join(err, again.want(http.StatusNotFound, api.ErrorCodeNotFound))
	after, unread := t.objects(ctx)
	if after != before {
		err = errors.Join(err, errors.New("a sweep has removed the files, so this proves nothing"))
	}
	return fmt.Sprintf("200, and 404 on %d routes at once, while the files are there", len(files)+1), errors.Join(err, unread)
}

func databaseFile(ctx context.Context, t *target) (_ string, err error) {
	p, err := t.newPlace(ctx)
	if err != nil {
		return "", err
	}
	if err := os.Chmod(p.Folder(), 0o755); err != nil {
		return "", err
	}
	open, err := t.serve(ctx, p, p, "api")
	if err != nil {
		return "", err
	}
	defer func() { err = errors.Join(err, open.close(ctx)) }()
	files, err := filepath.Glob(filepath.Join(p.Folder(), "bgremove.db*"))
	if err != nil {
		return "", err
	}
	var said []string
	for _, file := range files {
		info, err := os.Stat(file)
		if err != nil {
			return "", err
		}
		said = append(said, fmt.Sprintf("%s %#o", filepath.Base(file), info.Mode().Perm()))
		if info.Mode().Perm()&0o077 != 0 {
			return "", fmt.Errorf("others may use %s", said[len(said)-1])
		}
	}
	if len(files) == 0 {
		err = errors.New("there is no database file")
	}
	return strings.Join(said, ", "), err
}
