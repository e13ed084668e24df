package config

import (
	"errors"
	"io/fs"
	"os"
	"path/filepath"
	"slices"
	"strings"

	"github.com/spf13/pflag"
)

// trusted are settings that name programs or downloads, loosen the sandbox, allow
// folders, decide where secrets and results go, or give the user's consent. A file in the
// working directory may be somebody else's, so it cannot set them.
var trusted = []string{
	"ffmpeg", "ffprobe", "sandbox", "onnxruntime", "from", "sha256", "dir", "models-dir",
	"root", "server", "api-key", "webhook-url", "stripe-api", "smtp",
	"accept-license", "yes", "force",
}

// paths are settings that name files or folders which are written, or a network's file.
// A file in the working directory may only name some there.
var paths = []string{"output", "out", "manifest", "sheet", "matte", "preview", "compare", "model"}

// Filer is a flag's value that may name files to read. The pixels of these files could
// end up in outputs.
type Filer interface{ Files() []string }

// filesOf are the files or folders that a flag names. Some may be empty.
func filesOf(f *pflag.Flag) []string {
	if v, ok := f.Value.(Filer); ok {
		return v.Files()
	}
	if slices.Contains(paths, f.Name) {
		return []string{f.Value.String()}
	}
	return nil
}

// withinAll refuses the first path that within refuses.
func withinAll(paths []string) error {
	for _, path := range paths {
		if err := within(path); err != nil {
			return err
		}
	}
	return nil
}

// within refuses a path outside the working directory, also behind a link: the file of
// settings there may be somebody else's.
func within(path string) error {
	if path == "" {
		return nil
	}
	if strings.Contains(path, "://") {
		return errors.New("an address; use --config, the environment or the command line")
	}
	folder, err := os.Getwd()
	if err == nil {
		folder, err = filepath.EvalSymlinks(folder)
	}
	if err != nil {
		return err
	}
	for _, form := range []string{path, filepath.Clean(path)} { // a/link/.. may be another folder than a
		file, err := resolve(form)
		if err == nil && filepath.IsAbs(file) {
			file, err = filepath.Rel(folder, file)
		}
		if err != nil {
			return err
		}
		if !filepath.IsLocal(file) {
			return errors.New("outside the working directory; use --config, the environment or the command line")
		}
	}
	return nil
}

// resolve is a path without links, of which the last parts need not exist. A link to
// nothing is an error.
func resolve(path string) (string, error) {
	file, err := filepath.EvalSymlinks(path)
	if !errors.Is(err, fs.ErrNotExist) {
		return file, err
	}
	path = strings.TrimRightFunc(path, func(r rune) bool { return r == '/' || r == filepath.Separator })
	if _, lost := os.Lstat(path); lost == nil {
		return "", err
	}
	parent, name := filepath.Split(path)
	if parent == "" || name == "" {
		return path, nil
	}
	folder, err := resolve(parent)
	return filepath.Join(folder, name), err
}
