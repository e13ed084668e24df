package main

import (
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"
	"github.com/rogpeppe/go-internal/testscript"
	"github.com/spf13/cobra"
	"github.com/spf13/pflag"

	"github.com/bgremove/bgremove/internal/cli"
)

func TestMain(m *testing.M) {
	testscript.Main(m, map[string]func(){"manual": main})
}

func written(t *testing.T) string {
	t.Helper()
	dir := t.TempDir()
	if err := write(dir, cli.Manual(), time.Date(2026, 10, 31, 23, 0, 0, 0, time.UTC)); err != nil {
		t.Fatal(err)
	}
	return dir
}

// Every command has a page of its own that contains each of its flags.
func TestPages(t *testing.T) {
	t.Parallel()
	dir := filepath.Join(written(t), "man")
	pages := 0
	var check func(*cobra.Command)
	check = func(cmd *cobra.Command) {
		pages++
		name := strings.ReplaceAll(cmd.CommandPath(), " ", "-") + ".1"
		page, err := os.ReadFile(filepath.Join(dir, name))
		if err != nil {
			t.Fatal(err)
		}
		text := string(page)
		if !strings.Contains(text, `"Oct 2026" "bgremove"`) || !strings.Contains(text, strings.ReplaceAll(cmd.Short, "-", `\-`)) && !strings.Contains(text, cmd.Short) {
			t.Errorf("%s begins %.200q", name, text)
		}
		for _, flags := range []*pflag.FlagSet{cmd.NonInheritedFlags(), cmd.InheritedFlags()} {
			flags.VisitAll(func(f *pflag.Flag) {
				if !f.Hidden && !strings.Contains(text, `\fB--`+f.Name+`\fP`) && f.Name != "version" {
					t.Errorf("%s has no --%s", name, f.Name)
				}
			})
		}
		for _, c := range cmd.Commands() {
			if c.IsAvailableCommand() {
				check(c)
			}
		}
	}
	check(cli.Manual())
	entries, err := os.ReadDir(dir)
	if err != nil || len(entries) != pages || pages < 20 {
		t.Errorf("%d pages for %d commands, %v", len(entries), pages, err)
	}
}

// The pages do not depend on who makes them, where, or when.
func TestReproducible(t *testing.T) {
	t.Parallel()
	one := contents(t, written(t))
	cmd := exec.CommandContext(t.Context(), "manual", filepath.Join(t.TempDir(), "manual"))
	cmd.Env = append(os.Environ(), "SOURCE_DATE_EPOCH=1793487600", "XDG_DATA_HOME=/elsewhere", "XDG_CACHE_HOME=/elsewhere", "TZ=Pacific/Kiritimati", "GOMAXPROCS=7")
	if out, err := cmd.CombinedOutput(); err != nil {
		t.Fatalf("%v: %s", err, out)
	}
	if diff := cmp.Diff(one, contents(t, cmd.Args[1])); diff != "" {
		t.Errorf("here (-) and elsewhere (+):\n%s", diff)
	}
}

func contents(t *testing.T, dir string) map[string]string {
	t.Helper()
	files := map[string]string{}
	for _, pattern := range []string{"man/*", "completions/*"} {
		names, err := filepath.Glob(filepath.Join(dir, pattern))
		if err != nil {
			t.Fatal(err)
		}
		for _, name := range names {
			text, err := os.ReadFile(name)
			if err != nil {
				t.Fatal(err)
			}
			files[filepath.Base(name)] = string(text)
		}
	}
	return files
}

// The installed shells can read their completions.
func TestCompletions(t *testing.T) {
	t.Parallel()
	dir := filepath.Join(written(t), "completions")
	for name, shell := range map[string]string{"bgremove.bash": "bash", "_bgremove": "zsh", "bgremove.fish": "fish"} {
		path := filepath.Join(dir, name)
		if text, err := os.ReadFile(path); err != nil || !strings.Contains(string(text), "bgremove __complete") && !strings.Contains(string(text), "__complete") {
			t.Errorf("%s: %v, %.100q", name, err, text)
		}
		if _, err := exec.LookPath(shell); err != nil {
			continue
		}
		if out, err := exec.CommandContext(t.Context(), shell, "-n", path).CombinedOutput(); err != nil {
			t.Errorf("%s: %v: %s", name, err, out)
		}
	}
	if _, err := os.Stat(filepath.Join(dir, "bgremove.ps1")); err != nil {
		t.Error(err)
	}
}
