// Package config takes flags that the command line does not set from the
// environment and from a file. Only this package uses viper.
package config

import (
	"errors"
	"fmt"
	"os"
	"slices"
	"strings"

	"github.com/spf13/pflag"
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
			return slices.ContainsFunc(spellings(flag), func(spelling string) bool { return name == Variable(spelling) })
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
	file, err := read(path)
	if err != nil {
		return err
	}
	foreign := path == "" && file.name == FileName // it may be somebody else's
	if err := file.check(known, foreign); err != nil {
		return err
	}
	var errs []error
	flags.VisitAll(func(f *pflag.Flag) {
		if f.Changed {
			return
		}
		origin, values := lookup(file, f.Name)
		value := strings.Join(values, ",")
		if value == "" {
			return
		}
		err := set(flags, f, values)
		if err == nil && foreign && strings.HasPrefix(origin, file.name+": ") {
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

// lookup finds the value of a flag under all its spellings, and where it is from. viper could
// merge the environment with the file, but would not tell that. Errors must, so the variables
// are read here.
func lookup(file settings, flag string) (origin string, values []string) {
	for _, name := range spellings(flag) {
		if value := os.Getenv(Variable(name)); value != "" {
			return Variable(name), []string{value}
		}
	}
	if file.InConfig(flag) {
		return file.origin(flag), file.GetStringSlice(flag)
	}
	return "", nil
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
