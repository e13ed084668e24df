package cli_test

import (
	"go/ast"
	"go/parser"
	"go/token"
	"io/fs"
	"os"
	"path/filepath"
	"regexp"
	"slices"
	"strings"
	"testing"

	"github.com/bgremove/bgremove/internal/cli"
)

// Only the command line speaks of flags and commands: neither the library nor the
// service nor a page does.
func TestOnlyTheCommandLineNamesFlags(t *testing.T) {
	t.Parallel()
	var commands []string
	for _, c := range cli.Manual().Commands() {
		commands = append(commands, c.Name())
	}
	shell := regexp.MustCompile(`(^|[^-\w])--[a-z]|\bbgremove (` + strings.Join(commands, "|") + `)\b`)
	for text, is := range map[string]bool{"use --force": true, "--bg gives": true, "`bgremove doctor` shows": true, "bgremove takes .gif": false, "var(--ink)": true, "a--b": false} {
		if shell.MatchString(text) != is {
			t.Errorf("%q: %t", text, !is)
		}
	}
	// apidocs shows curl's commands, config finds the files that flags are read from.
	edges := []string{"../service/apidocs", "../cli", "../config"}
	for _, root := range []string{"..", "../../pkg"} {
		err := filepath.WalkDir(root, func(path string, d fs.DirEntry, err error) error {
			switch {
			case err != nil:
				return err
			case d.IsDir() && (slices.Contains(edges, filepath.ToSlash(path)) || d.Name() == "testdata"):
				return fs.SkipDir
			case strings.HasSuffix(path, ".html.tmpl"):
				text, err := os.ReadFile(path)
				if said := shell.Find(text); said != nil {
					t.Errorf("%s: %s", path, said)
				}
				return err
			case filepath.Ext(path) != ".go" || strings.HasSuffix(path, "_test.go"):
				return nil
			}
			return eachString(path, func(at token.Position, text string) {
				if shell.MatchString(text) {
					t.Errorf("%s: %s", at, text)
				}
			})
		})
		if err != nil {
			t.Fatal(err)
		}
	}
}

// eachString visits the string literals of a file, except for the arguments of
// programs that it starts.
func eachString(path string, visit func(at token.Position, text string)) error {
	files := token.NewFileSet()
	f, err := parser.ParseFile(files, path, nil, 0)
	if err != nil {
		return err
	}
	ast.Inspect(f, func(n ast.Node) bool {
		if call, ok := n.(*ast.CallExpr); ok {
			if of, ok := call.Fun.(*ast.SelectorExpr); ok && strings.HasPrefix(of.Sel.Name, "Command") {
				return false
			}
		}
		if literal, ok := n.(*ast.BasicLit); ok && literal.Kind == token.STRING {
			visit(files.Position(literal.Pos()), strings.Trim(literal.Value, "\"`"))
		}
		return true
	})
	return nil
}
