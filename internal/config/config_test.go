package config_test

import (
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/spf13/pflag"

	"github.com/bgremove/bgremove/internal/config"
)

// The command line overrides the environment, which overrides the file, which
// overrides the default.
func TestFill(t *testing.T) {
	tests := map[string]struct {
		args []string
		env  string
		file string
		want int
		err  string
	}{
		"default":          {want: 12},
		"file":             {file: "pad: 3\n", want: 3},
		"environment":      {file: "pad: 3\n", env: "4", want: 4},
		"command line":     {args: []string{"--pad", "5"}, file: "pad: 3\n", env: "4", want: 5},
		"of other command": {file: "addr: 127.0.0.1:1\n", want: 12},
		"typo":             {file: "padd: 3\n", err: "padd: no such setting"},
		"bad value":        {file: "pad: three\n", err: `: pad: "three" does not fit`},
		"bad environment":  {env: "x", err: `BGREMOVE_PAD: "x" does not fit`},
		"not yaml":         {file: "pad: [\n", err: "bgremove.yaml: "},
		"empty":            {file: "", want: 12},
		"comments":         {file: "# pad: 3\n", want: 12},
		"null":             {file: "---\n~\n", want: 12},
		"one document":     {file: "---\npad: 3\n...\n", want: 3},
		"two documents":    {file: "addr: x\n---\npad: 3\n", err: "bgremove.yaml: line 2: a second YAML document"},
		"capitals":         {file: "Pad: 3\n", want: 3},
		"alias":            {file: "addr: &a 3\npad: *a\n", want: 3},
		"twice":            {file: "pad: 3\nPad: 4\n", err: "bgremove.yaml: line 2: pad is set twice"},
		"list":             {file: "- pad: 3\n", err: "bgremove.yaml: line 1: not settings"},
		"no value":         {file: "pad: #3\n", err: "bgremove.yaml: pad: no value"},
		"nested":           {file: "pad: {x: 3}\n", err: "bgremove.yaml: pad: line 1: neither a value nor a list"},
		"nested list":      {file: "pad: &p [*p]\n", err: "bgremove.yaml: pad: line 1: neither a value nor a list"},
		"key":              {file: "[pad]: 3\n", err: "bgremove.yaml: line 1: not a key"},
	}
	for name, tt := range tests {
		t.Run(name, func(t *testing.T) {
			path := filepath.Join(t.TempDir(), config.FileName)
			if err := os.WriteFile(path, []byte(tt.file), 0o600); err != nil {
				t.Fatal(err)
			}
			t.Setenv("BGREMOVE_PAD", tt.env)
			flags := pflag.NewFlagSet("", pflag.ContinueOnError)
			pad := flags.Int("pad", 12, "")
			if err := flags.Parse(tt.args); err != nil {
				t.Fatal(err)
			}
			err := config.Fill(flags, path, []string{"pad", "addr"})
			if tt.err != "" {
				if err == nil || !strings.Contains(err.Error(), tt.err) {
					t.Fatalf("error = %v, want %q", err, tt.err)
				}
				return
			}
			if err != nil || *pad != tt.want {
				t.Errorf("pad = %d, %v; want %d", *pad, err, tt.want)
			}
		})
	}
}

// Values are taken as they are written: YAML would make numbers of some.
func TestFillAsWritten(t *testing.T) {
	for written, want := range map[string]string{
		"000777": "000777", "0x10": "0x10", "1e3": "1e3", "2024-01-02": "2024-01-02", "yes": "yes", "'no'": "no",
		"1:30.5": "1:30.5", "1.50": "1.50", "[007, b]": "007,b", "!!str 12": "12",
	} {
		path := filepath.Join(t.TempDir(), config.FileName)
		if err := os.WriteFile(path, []byte("bg: "+written+"\n"), 0o600); err != nil {
			t.Fatal(err)
		}
		flags := pflag.NewFlagSet("", pflag.ContinueOnError)
		got := flags.String("bg", "", "")
		if err := config.Fill(flags, path, []string{"bg"}); err != nil || *got != want {
			t.Errorf("bg: %s is %q, %v; want %q", written, *got, err, want)
		}
	}
}

// A setting has both spellings that its flag has, everywhere.
func TestSpellings(t *testing.T) {
	for name, flag := range map[string]string{
		"harmonise": "harmonise", "harmonize": "harmonise", "licenses": "licences", "accept-licence": "accept-license",
		"no-colors": "no-colours", "edge-color": "edge-colour", "edge-colour": "edge-colour",
	} {
		fill := func(file string) (string, error) {
			path := filepath.Join(t.TempDir(), config.FileName)
			if err := os.WriteFile(path, []byte(file), 0o600); err != nil {
				t.Fatal(err)
			}
			flags := pflag.NewFlagSet("", pflag.ContinueOnError)
			got := flags.String(flag, "", "")
			err := config.Fill(flags, path, []string{flag})
			return *got, err
		}
		if got, err := fill(name + ": x\n"); got != "x" || err != nil {
			t.Errorf("%s in a file makes --%s %q, %v", name, flag, got, err)
		}
		if _, err := fill(name + ": x\n" + flag + ": y\n"); err == nil || !strings.Contains(err.Error(), flag+" is set twice") {
			t.Errorf("%s and %s in a file: %v", name, flag, err)
		}
		t.Run(name, func(t *testing.T) {
			t.Setenv(config.Variable(name), "y")
			if got, err := fill(name + ": x\n"); got != "y" || err != nil {
				t.Errorf("%s makes --%s %q, %v", config.Variable(name), flag, got, err)
			}
			if unknown := config.Unknown([]string{config.Variable(name) + "=y"}, []string{flag}); unknown != nil {
				t.Errorf("%v is not known", unknown)
			}
		})
	}
}

// A file in the working directory gives no consent, in any spelling, and no address that
// gets secrets or results. It names folders in that directory only.
func TestForeign(t *testing.T) {
	t.Chdir(t.TempDir())
	for line, want := range map[string]string{
		"accept-licence: true":         "accept-licence: not taken from the working directory",
		"webhook-url: https://a.b":     "webhook-url: not taken from the working directory",
		"out: ../theirs":               "out: \"../theirs\" does not fit: outside the working directory",
		"out: ours\naddr: 127.0.0.1:1": "",
		"database: postgres://a.b/c":   "", // those of a service are its operator's
	} {
		if err := os.WriteFile(config.FileName, []byte(line+"\n"), 0o600); err != nil {
			t.Fatal(err)
		}
		flags := pflag.NewFlagSet("", pflag.ContinueOnError)
		known := []string{"accept-license", "webhook-url", "out", "database", "addr"}
		for _, name := range known {
			flags.String(name, "", "")
		}
		err := config.Fill(flags, "", known)
		if want == "" && err != nil || want != "" && (err == nil || !strings.Contains(err.Error(), want)) {
			t.Errorf("%s: error = %v, want %q", line, err, want)
		}
		if named := config.Fill(flags, "./"+config.FileName, known); named != nil {
			t.Errorf("%s, named: %v", line, named)
		}
	}
}

// A file in the working directory names no place outside by a link, however much of the
// path is still to be made.
func TestForeignLinks(t *testing.T) {
	outside := t.TempDir()
	if err := os.MkdirAll(filepath.Join(outside, "deep"), 0o700); err != nil {
		t.Fatal(err)
	}
	t.Chdir(t.TempDir())
	for name, target := range map[string]string{"link": filepath.Join(outside, "deep"), "lost": filepath.Join(outside, "new"), "ours": "there"} {
		if err := os.Symlink(target, name); err != nil {
			t.Fatal(err)
		}
	}
	if err := os.MkdirAll("there/deep/deeper", 0o700); err != nil {
		t.Fatal(err)
	}
	if err := os.Symlink("there/deep/deeper", "down"); err != nil {
		t.Fatal(err)
	}
	for out, want := range map[string]bool{
		"link": false, "link/a": false, "link/a/b": false, "link/a/b/c/": false, "link/../a": false, "lost": false, "lost/a": false,
		"down/../../a": false, "/no/such/folder": false,
		"new": true, "new/a/b": true, "ours/a/b": true, "there/../new": true, "ours/deep/../a/b": true, "./": true,
	} {
		if err := os.WriteFile(config.FileName, []byte("out: "+out+"\n"), 0o600); err != nil {
			t.Fatal(err)
		}
		flags := pflag.NewFlagSet("", pflag.ContinueOnError)
		flags.String("out", "", "")
		if err := config.Fill(flags, "", []string{"out"}); (err == nil) != want {
			t.Errorf("out: %s: %v, want %v", out, err, want)
		}
	}
}

func TestFillWithoutFile(t *testing.T) {
	t.Chdir(t.TempDir())
	if err := config.Fill(pflag.NewFlagSet("", pflag.ContinueOnError), "", nil); err != nil {
		t.Error(err)
	}
	if err := config.Fill(pflag.NewFlagSet("", pflag.ContinueOnError), "absent.yaml", nil); err == nil {
		t.Error("a file that was named and is absent passed")
	}
}
