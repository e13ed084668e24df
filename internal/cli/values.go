package cli

import (
	"errors"
	"math"
	"strconv"
	"strings"

	"github.com/dustin/go-humanize"
	"github.com/spf13/cobra"
	"github.com/spf13/pflag"

	"github.com/bgremove/bgremove/internal/cli/filearg"
)

// valueRules describe valid values of flags, by pflag's names of their types.
var valueRules = map[string]string{
	"int": "must be a whole number", "int64": "must be a whole number", "float64": "must be a number",
	"bool": "must be true or false", "duration": "must be a time such as 90s, 15m or 24h",
}

// describeValues makes the flags of all commands refuse values in our own words.
// Boolean flags also take yes, no, on and off.
func describeValues(cmd *cobra.Command) {
	cmd.LocalNonPersistentFlags().VisitAll(func(f *pflag.Flag) {
		must, ok := valueRules[f.Value.Type()]
		if !ok {
			return
		}
		if unit, _ := pflag.UnquoteUsage(f); unit == "pixels" || unit == "bytes" {
			must += " of " + unit
		}
		f.Value = describedValue{f.Value, must}
	})
	for _, c := range cmd.Commands() {
		describeValues(c)
	}
}

// describedValue is a value that describes its valid values.
type describedValue struct {
	pflag.Value
	must string
}

func (v describedValue) Set(s string) error {
	if truth, ok := boolWords[strings.ToLower(s)]; ok && v.Type() == "bool" {
		s = truth
	}
	if v.Value.Set(s) != nil {
		return errors.New(v.must)
	}
	return nil
}

// boolWords are the words for true and false.
var boolWords = map[string]string{"true": "true", "yes": "true", "on": "true", "false": "false", "no": "false", "off": "false"}

// expandFlags expands short forms: "--crop no" is "--crop=no" unless a file is
// called "no", and "--no-crop" is "--crop=false".
func expandFlags(root *cobra.Command, args []string) []string {
	cmd, _, err := root.Find(args)
	if err != nil {
		return args
	}
	var out []string
	for i := 0; i < len(args); i++ {
		if args[i] == "--" {
			return append(out, args[i:]...)
		}
		arg := args[i]
		name, isLong := strings.CutPrefix(arg, "--")
		positive, negated := strings.CutPrefix(name, "no-")
		switch {
		case !isLong:
		case isBool(cmd, name) && i+1 < len(args) && boolWords[strings.ToLower(args[i+1])] != "" && !filearg.Exists(args[i+1]):
			i++
			arg += "=" + args[i]
		case negated && cmd.Flag(name) == nil && isBool(cmd, positive):
			arg = "--" + positive + "=false"
		}
		out = append(out, arg)
	}
	return out
}

func isBool(cmd *cobra.Command, name string) bool {
	f := cmd.Flag(name)
	return f != nil && f.Value.Type() == "bool"
}

// size is a flag for a number of bytes, with or without a unit.
type size struct{ p *int64 }

func (v size) String() string {
	if v.p == nil {
		return ""
	}
	return strconv.FormatInt(*v.p, 10)
}

func (v size) Type() string { return "size" }

func (v size) Set(s string) error {
	n, err := humanize.ParseBytes(s)
	if err != nil || n > math.MaxInt64 || strings.ContainsAny(s, "eE+-,") { // 1,5MB would be 15MB
		return errors.New("must be a number of bytes such as 200MB, 512MiB or 200000000")
	}
	*v.p = int64(n)
	return nil
}

// sizeFlag adds a flag for bytes; its default is what p has.
func sizeFlag(f *pflag.FlagSet, p *int64, name, usage string) {
	f.Var(size{p}, name, usage)
}
