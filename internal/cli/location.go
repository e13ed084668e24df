package cli

import (
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"slices"
	"strings"

	"github.com/adrg/xdg"
	"github.com/spf13/pflag"

	"github.com/bgremove/bgremove/internal/cli/failure"
	"github.com/bgremove/bgremove/internal/service/blob"
	"github.com/bgremove/bgremove/pkg/bgremove"
)

// location says where a service's data is. serve and admin share the data folder
// and the database.
type location struct{ data, database, storage string }

func (p *location) addFlags(f *pflag.FlagSet) {
	f.StringVar(&p.data, "data", filepath.Join(xdg.DataHome, "bgremove"), "the `folder` of the database and the files")
	f.StringVar(&p.database, "database", "", "sqlite:PATH or postgres://… (default: bgremove.db in --data)")
}

// addStorageFlag adds the flag for commands that also use the files.
func (p *location) addStorageFlag(f *pflag.FlagSet) {
	f.StringVar(&p.storage, "storage", "", "file:///… or s3://BUCKET?region=… (default: objects in --data)")
}

// check checks the addresses.
func (p *location) check() error {
	return errors.Join(
		checkPrefix("database", p.database, "sqlite:", "postgres://", "postgresql://"),
		checkPrefix("storage", p.storage, "file:///", "s3://"))
}

// checkPrefix checks a value's prefix. It does not repeat the value, which may hold
// a password.
func checkPrefix(flag, value string, allowed ...string) error {
	if value == "" || slices.ContainsFunc(allowed, func(prefix string) bool { return strings.HasPrefix(value, prefix) }) {
		return nil
	}
	return fmt.Errorf("%s must begin with %s", flag, strings.Join(allowed, " or "))
}

// setDefaults fills in defaults that depend on the data folder.
func (p *location) setDefaults() error {
	data, err := filepath.Abs(p.data)
	if err != nil {
		return err
	}
	p.data = data
	if p.database == "" {
		p.database = "sqlite:" + filepath.Join(data, "bgremove.db")
	}
	if p.storage == "" {
		p.storage = blob.FolderURL(filepath.Join(data, "objects"))
	}
	return nil
}

// createFolder creates the data folder.
func (p *location) createFolder() error {
	if err := os.MkdirAll(p.data, 0o700); err != nil {
		return fmt.Errorf("data folder: %w", err)
	}
	return nil
}

// checkExists refuses a database that does not exist yet. Other problems appear when
// it is opened.
func (p *location) checkExists() error {
	path, isFile := strings.CutPrefix(p.database, "sqlite:")
	if !isFile {
		return nil
	}
	if _, err := os.Stat(path); errors.Is(err, fs.ErrNotExist) {
		return &bgremove.Error{Kind: bgremove.NotFound, Cause: failure.NoDatabase, Path: path, Reason: "no such database", Err: err}
	}
	return nil
}
