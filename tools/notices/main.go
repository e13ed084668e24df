// Command notices writes the licences of everything that is compiled into the
// program, on any system of a release, to FILE. It reads the module cache.
//
//	go run ./tools/notices FILE
package main

import (
	"context"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"slices"
	"strings"

	"github.com/google/licensecheck"
)

const (
	program = "github.com/bgremove/bgremove/cmd/bgremove"
	goName  = "Go's standard library and runtime"
)

// target is a system of a release.
type target struct{ goos, goarch, cgo string }

// targets are those of .goreleaser.yaml. All are listed with the tag gs, which the container image has.
var targets = []target{
	{"linux", "amd64", "1"}, {"linux", "arm64", "1"}, {"windows", "amd64", "1"}, {"windows", "arm64", "1"},
	{"darwin", "arm64", "1"}, {"darwin", "amd64", "0"},
}

// source is a module, or a package of our own that has a licence of its own.
type source struct {
	name  string
	files []string // with licences and notices, sorted
}

func main() {
	if len(os.Args) != 2 {
		fmt.Fprintln(os.Stderr, "usage: notices FILE")
		os.Exit(2)
	}
	text, err := generate(context.Background())
	if err == nil {
		err = os.WriteFile(os.Args[1], []byte(text), 0o644)
	}
	if err != nil {
		fmt.Fprintln(os.Stderr, "notices:", err)
		os.Exit(1)
	}
}

// generate returns the notices.
func generate(ctx context.Context) (string, error) {
	found := map[string]map[string]bool{} // the files of each source
	for _, t := range targets {
		if err := list(ctx, t, found); err != nil {
			return "", err
		}
	}
	root, err := goTool(ctx, nil, "env", "GOROOT")
	if err != nil {
		return "", err
	}
	found[goName] = map[string]bool{}
	addFiles(found[goName], strings.TrimSpace(root))
	var sources []source
	for name, files := range found {
		s := source{name: name}
		for file := range files {
			s.files = append(s.files, file)
		}
		slices.Sort(s.files)
		sources = append(sources, s)
	}
	slices.SortFunc(sources, func(a, b source) int { return strings.Compare(a.name, b.name) })
	return render(sources)
}

// list adds the modules of the program on a system, and the files with licences from
// each package's folder up to the module's. Of our own module it takes only packages
// that have a licence of their own.
func list(ctx context.Context, t target, found map[string]map[string]bool) error {
	out, err := goTool(ctx, []string{"GOOS=" + t.goos, "GOARCH=" + t.goarch, "CGO_ENABLED=" + t.cgo},
		"list", "-tags=gs", "-deps", "-f", "{{with .Module}}{{.Main}}\t{{.Path}}\t{{.Dir}}\t{{$.Dir}}\t{{$.ImportPath}}{{end}}", program)
	if err != nil {
		return err
	}
	for line := range strings.Lines(out) {
		fields := strings.Split(strings.TrimSpace(line), "\t")
		if len(fields) != 5 {
			continue // a package of the standard library
		}
		own, name, top, dir := fields[0] == "true", fields[1], fields[2], fields[3]
		if own {
			name = fields[4]
		}
		files := map[string]bool{}
		for dir != top {
			addFiles(files, dir)
			dir = filepath.Dir(dir)
		}
		if own && len(files) == 0 {
			continue
		}
		if !own {
			addFiles(files, top)
		}
		if found[name] == nil {
			found[name] = map[string]bool{}
		}
		for file := range files {
			found[name][file] = true
		}
	}
	return nil
}

// goTool runs the go command.
func goTool(ctx context.Context, environment []string, args ...string) (string, error) {
	cmd := exec.CommandContext(ctx, "go", args...)
	cmd.Env = append(os.Environ(), environment...)
	cmd.Stderr = os.Stderr
	out, err := cmd.Output()
	if err != nil {
		return "", fmt.Errorf("go %s: %w", args[0], err)
	}
	return string(out), nil
}

// addFiles adds the licences and notices in a folder.
func addFiles(files map[string]bool, dir string) {
	entries, _ := os.ReadDir(dir) // without one there is no licence, which is noticed later
	for _, e := range entries {
		name := strings.ToLower(e.Name())
		isNotice := slices.ContainsFunc([]string{"license", "licence", "copying", "notice", "patents"}, func(p string) bool { return strings.HasPrefix(name, p) })
		if isNotice && !e.IsDir() && !strings.HasSuffix(name, ".go") {
			files[filepath.Join(dir, e.Name())] = true
		}
	}
}

// section is a text and the sources that have it.
type section struct {
	text  string
	names []string
}

// render writes the list of sources with their licences, and then each text once.
func render(sources []source) (string, error) {
	var list strings.Builder
	var sections []*section
	byText := map[string]*section{}
	for _, s := range sources {
		var ids []string
		for _, file := range s.files {
			data, err := os.ReadFile(file)
			if err != nil {
				return "", err
			}
			text := strings.TrimSpace(strings.ReplaceAll(string(data), "\r\n", "\n"))
			ids = append(ids, licences(text)...)
			if byText[text] == nil {
				byText[text] = &section{text: text}
				sections = append(sections, byText[text])
			}
			if at := byText[text]; !slices.Contains(at.names, s.name) {
				at.names = append(at.names, s.name)
			}
		}
		if len(ids) == 0 {
			return "", fmt.Errorf("%s has no licence that is known: %v", s.name, s.files)
		}
		slices.Sort(ids)
		fmt.Fprintf(&list, "%s: %s\n", s.name, strings.Join(slices.Compact(ids), ", "))
	}
	return layOut(list.String(), sections), nil
}

var declared = regexp.MustCompile(`SPDX-License-Identifier: ([\w.() -]+\w)`)

// licences are the SPDX names of the licences in a text. A text of several may say
// itself how they go together.
func licences(text string) (ids []string) {
	if says := declared.FindStringSubmatch(text); says != nil {
		return []string{says[1]}
	}
	for _, match := range licensecheck.Scan([]byte(text)).Match {
		ids = append(ids, match.ID)
	}
	return ids
}

func layOut(list string, sections []*section) string {
	rule := strings.Repeat("-", 80)
	out := &strings.Builder{}
	fmt.Fprintf(out, "bgremove is built from these works of others. Their licences follow, each once.\n"+
		"ONNX Runtime, a library that is loaded at run time, has notices of its own: in\n"+
		"the folder onnxruntime of release archives that carry it.\n\n%s", list)
	for _, s := range sections {
		fmt.Fprintf(out, "\n%s\n%s\n%s\n\n%s\n", rule, strings.Join(s.names, "\n"), rule, s.text)
	}
	return out.String()
}
