package rig

import (
	"context"
	"database/sql"
	"encoding/json"
	"errors"
	"fmt"
	"io/fs"
	"net/url"
	"os"
	"os/exec"
	"path/filepath"
	"strings"

	_ "github.com/jackc/pgx/v5/stdlib" // the driver pgx

	"github.com/bgremove/bgremove/internal/service/blob"
	"github.com/bgremove/bgremove/internal/service/id"
)

// Deployment is a database and a storage that nodes share, empty at first.
type Deployment struct {
	// Database and Storage are the values of serve's flags.
	Database, Storage string
	rig               *Rig
	dir               string
	// apart gives each node a data folder of its own, as if on its own machine.
	apart bool
	env   []string
}

// Deploy makes a deployment on a kind of database: sqlite or postgres.
func (r *Rig) Deploy(ctx context.Context, database string) (*Deployment, error) {
	switch database {
	case "sqlite":
		return r.SQLite()
	case "postgres":
		return r.Postgres(ctx)
	}
	return nil, fmt.Errorf("database %q: want sqlite or postgres", database)
}

// SQLite makes a deployment in a single data folder.
func (r *Rig) SQLite() (*Deployment, error) {
	p, err := r.newDeployment()
	p.Database = "sqlite:" + filepath.Join(p.dir, "bgremove.db")
	return p, err
}

// Postgres makes a deployment with a new database on the server that
// BGREMOVE_TEST_POSTGRES names, and with a folder of files.
func (r *Rig) Postgres(ctx context.Context) (*Deployment, error) {
	server := os.Getenv("BGREMOVE_TEST_POSTGRES")
	if server == "" {
		return nil, errors.New("BGREMOVE_TEST_POSTGRES names no server; tools/postgres.sh starts one")
	}
	admin, err := sql.Open("pgx", server)
	if err != nil {
		return nil, err
	}
	defer admin.Close()
	name := id.New("rig_")
	if _, err := admin.ExecContext(ctx, "CREATE DATABASE "+name); err != nil {
		return nil, fmt.Errorf("make a database: %w", err)
	}
	u, err := url.Parse(server)
	if err != nil {
		return nil, err
	}
	u.Path = "/" + name
	p, err := r.newDeployment()
	p.Database, p.apart = u.String(), true
	return p, err
}

func (r *Rig) newDeployment() (*Deployment, error) {
	dir, err := os.MkdirTemp(r.Dir, "deployment-*")
	return &Deployment{rig: r, dir: dir, Storage: blob.FolderURL(filepath.Join(dir, "objects"))}, err
}

// UseS3 replaces the storage with a new bucket.
func (p *Deployment) UseS3(s *S3) error {
	storage, err := s.bucket()
	p.Storage, p.env = storage, s.credentials()
	return err
}

// Set puts a setting into the environment of all later nodes, because secrets
// are not accepted on command lines.
func (p *Deployment) Set(name, value string) { p.env = append(p.env, name+"="+value) }

// Folder holds the data folders of nodes, and the storage.
func (p *Deployment) Folder() string { return p.dir }

// data is the data folder of a node.
func (p *Deployment) data(node string) string {
	if p.apart {
		return filepath.Join(p.dir, node)
	}
	return p.dir
}

// Temporary is the folder of a node's temporary files; name may be a pattern of
// nodes.
func (p *Deployment) Temporary(node string) string { return filepath.Join(p.data(node), "tmp") }

// Blobs opens the storage. The caller must close it.
func (p *Deployment) Blobs(ctx context.Context) (*blob.Store, error) {
	for _, v := range p.env {
		name, value, _ := strings.Cut(v, "=")
		if err := os.Setenv(name, value); err != nil { // S3's credentials come from there
			return nil, err
		}
	}
	return blob.Open(ctx, p.Storage, blob.Options{TempDir: p.rig.Dir})
}

// Unfinished counts the files of unfinished writes. There are none on S3.
func (p *Deployment) Unfinished() (n int, err error) {
	err = filepath.WalkDir(filepath.Join(p.dir, "objects"), func(name string, _ fs.DirEntry, err error) error {
		if strings.HasSuffix(name, ".tmp") {
			n++
		}
		if errors.Is(err, fs.ErrNotExist) {
			return nil // it has just vanished
		}
		return err
	})
	return n, err
}

// Admin runs a command of admin and returns its output.
func (p *Deployment) Admin(ctx context.Context, args ...string) ([]byte, error) {
	args = append([]string{"admin"}, args...)
	cmd := exec.CommandContext(ctx, p.rig.binary, append(args, "--data", p.data("admin"), "--database", p.Database)...)
	cmd.Env = p.rig.environment(p.env)
	out, err := cmd.Output()
	if err != nil {
		var exit *exec.ExitError
		if errors.As(err, &exit) {
			err = fmt.Errorf("%w: %s", err, exit.Stderr)
		}
		return nil, fmt.Errorf("%v: %w", args, err)
	}
	return out, nil
}

// Account creates an account with credits and returns an API key for it.
func (p *Deployment) Account(ctx context.Context, email string, credits int) (key string, err error) {
	if _, err := p.Admin(ctx, "account", "create", email, "--credits", fmt.Sprint(credits)); err != nil {
		return "", err
	}
	out, err := p.Admin(ctx, "key", "create", email, "--json")
	if err != nil {
		return "", err
	}
	var made struct{ Key string }
	if err := json.Unmarshal(out, &made); err != nil {
		return "", fmt.Errorf("key create: %w", err)
	}
	return made.Key, nil
}
