// Package config takes flags that the command line does not set from the
// environment and from a file. Only this package uses viper.
package config

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
	"github.com/spf13/viper"
)

// FileName is the name of the configuration file. It is searched in the working
// directory and then in the user's configuration folder.
const FileName = "bgremove.yaml"

// Error means that a value from the environment or a file does not fit its
// flag, or that a key is not a flag.
type Error struct {
	Origin string // such as "BGREMOVE_PAD" or "bgremove.yaml: pad"
	Err    error
}

func (e *Error) Error() string { return fmt.Sprintf("%s: %v", e.Origin, e.Err) }

func (e *Error) Unwrap() error { return e.Err }

// trusted are settings that name programs or downloads, loosen the sandbox, allow
// folders, decide where secrets go, or give the user's consent. A file in the working
// directory may be somebody else's, so it cannot set them.
var trusted = []string{
	"ffmpeg", "ffprobe", "sandbox", "onnxruntime", "from", "sha256", "dir", "models-dir",
	"root", "server", "api-key", "stripe-api", "smtp", "accept-license", "yes", "force",
}

// paths are settings that name files or folders which are written, or a network's file.
// A file in the working directory may only name some there.
var paths = []string{"output", "out", "manifest", "sheet", "matte", "preview", "compare", "model"}

// Variable is the environment variable for a flag.
func Variable(flag string) string {
	return "BGREMOVE_" + strings.ToUpper(strings.ReplaceAll(flag, "-", "_"))
}

// Unknown lists, sorted, the environment variables that look like settings but
// belong to no known flag. It ignores BGREMOVE_PORT and the like, because
// Kubernetes sets them for a service of that name.
func Unknown(environ, known []string) []string {
	var names []string
	for _, pair := range environ {
		name, value, _ := strings.Cut(pair, "=")
		rest, ours := strings.CutPrefix(name, "BGREMOVE_")
		if !ours || value == "" || strings.HasPrefix(rest, "PORT") || strings.HasPrefix(rest, "SERVICE_") || strings.HasPrefix(rest, "TEST_") {
			continue
		}
		if !slices.ContainsFunc(known, func(flag string) bool {
			return name == Variable(flag) || name == Variable(strings.Replace(flag, "colour", "color", 1))
		}) {
			names = append(names, name)
		}
	}
	slices.Sort(names)
	return names
}

// Fill sets each flag that the command line does not set: from its environment
// variable if set, otherwise from the file. path names the file; empty looks
// for FileName. known are the flags of all commands. Any other key in the file
// is an error, so that typos are noticed.
func Fill(flags *pflag.FlagSet, path string, known []string) error {
	v := viper.New()
	file, err := read(v, path)
	if err != nil {
		return err
	}
	foreign := path == "" && file == FileName // it may be somebody else's
	for _, key := range v.AllKeys() {
		switch {
		case !slices.Contains(known, key) && !slices.Contains(known, strings.Replace(key, "color", "colour", 1)):
			return &Error{file + ": " + key, errors.New("no such setting")}
		case foreign && slices.Contains(trusted, key):
			return &Error{file + ": " + key, errors.New("not taken from the working directory; use --config or the environment")}
		case v.Get(key) == nil:
			return &Error{file + ": " + key, errors.New("no value (colours need quotes: '#rrggbb')")}
		}
	}
	var errs []error
	flags.VisitAll(func(f *pflag.Flag) {
		if f.Changed {
			return
		}
		origin, values := lookup(v, file, f.Name)
		value := strings.Join(values, ",")
		if value == "" {
			return
		}
		err := set(flags, f, values)
		if err == nil && foreign && strings.HasPrefix(origin, file+": ") {
			err = withinAll(filesOf(f))
		}
		if err != nil {
			if invalid := (*pflag.InvalidValueError)(nil); errors.As(err, &invalid) {
				err = invalid.Unwrap() // without the flag's name, which origin contains
			}
			errs = append(errs, &Error{origin, fmt.Errorf("%q does not fit: %w", value, err)})
		}
	})
	return errors.Join(errs...)
}

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
	file, err := resolve(path)
	folder, err2 := os.Getwd()
	if err := errors.Join(err, err2); err != nil {
		return err
	}
	if folder, err = filepath.EvalSymlinks(folder); err != nil {
		return err
	}
	if filepath.IsAbs(file) {
		if file, err = filepath.Rel(folder, file); err != nil {
			return err
		}
	}
	if !filepath.IsLocal(file) {
		return errors.New("outside the working directory; use --config, the environment or the command line")
	}
	return nil
}

// resolve is a path without links, of which the last part need not exist.
func resolve(path string) (string, error) {
	file, err := filepath.EvalSymlinks(path)
	if !errors.Is(err, fs.ErrNotExist) {
		return file, err
	}
	folder, err := filepath.EvalSymlinks(filepath.Dir(path))
	if errors.Is(err, fs.ErrNotExist) {
		return path, nil
	}
	return filepath.Join(folder, filepath.Base(path)), err
}

// lookup finds the value of a flag under both spellings of colour. viper could
// merge the environment with the file, but would not tell where a value is from.
// Errors must, so the variables would be read here as well.
func lookup(v *viper.Viper, file, flag string) (origin string, values []string) {
	names := []string{flag, strings.Replace(flag, "colour", "color", 1)}
	for _, name := range names {
		if value := os.Getenv(Variable(name)); value != "" {
			return Variable(name), []string{value}
		}
	}
	for _, name := range names {
		if v.InConfig(name) {
			return file + ": " + name, text(v, name)
		}
	}
	return "", nil
}

// text is a value as texts: several of a list.
func text(v *viper.Viper, name string) []string {
	if _, list := v.Get(name).([]any); list {
		return v.GetStringSlice(name)
	}
	return []string{v.GetString(name)}
}

// set gives a flag its value. Several are one with commas, unless the flag takes them one by
// one.
func set(flags *pflag.FlagSet, f *pflag.Flag, values []string) error {
	if list, ok := f.Value.(pflag.SliceValue); ok && len(values) > 1 {
		f.Changed = true
		return list.Replace(values)
	}
	return flags.Set(f.Name, strings.Join(values, ","))
}

// read loads the file, if there is one, and returns its name.
func read(v *viper.Viper, path string) (string, error) {
	candidates := []string{path}
	if path == "" {
		candidates = []string{FileName, filepath.Join(xdg.ConfigHome, "bgremove", FileName)}
	}
	for _, name := range candidates {
		v.SetConfigFile(name)
		v.SetConfigType("yaml")
		err := v.ReadInConfig()
		if path == "" && (errors.Is(err, fs.ErrNotExist) || errors.Is(err, fs.ErrPermission)) {
			continue // the user did not name this file
		}
		if err != nil {
			return "", &Error{name, err}
		}
		return name, nil
	}
	return "", nil
}
