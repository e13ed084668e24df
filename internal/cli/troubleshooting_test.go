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
	"strconv"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/bgremove/bgremove/internal/cli"
	"github.com/bgremove/bgremove/internal/service/removal/removaltest"
	"github.com/bgremove/bgremove/pkg/bgremove"
)

// trouble is a line of troubleshooting.md.
type trouble struct {
	messages, codes []string
	cure            string
}

var quoted = regexp.MustCompile("`([^`]+)`")

func texts(cell string) (all []string) {
	for _, found := range quoted.FindAllStringSubmatch(cell, -1) {
		all = append(all, found[1])
	}
	return all
}

// troubles are the lines of all tables of messages.
func troubles(t *testing.T) (all []trouble) {
	t.Helper()
	for line := range strings.Lines(read(t, "../../docs/troubleshooting.md")) {
		cells := strings.Split(strings.TrimSpace(line), "|")
		if len(cells) == 5 && strings.HasPrefix(cells[1], " `") {
			all = append(all, trouble{texts(cells[1]), texts(cells[2]), cells[3]})
		}
	}
	if len(all) < 50 {
		t.Fatalf("only %d messages", len(all))
	}
	return all
}

// literals are the constant texts of the program. What stands between texts that are
// joined by + is a verb.
func literals(t *testing.T) (all []string) {
	t.Helper()
	for _, root := range []string{"../../internal", "../../pkg"} {
		err := filepath.WalkDir(root, func(path string, _ fs.DirEntry, err error) error {
			if err != nil || filepath.Ext(path) != ".go" || strings.HasSuffix(path, "_test.go") {
				return err
			}
			file, err := parser.ParseFile(token.NewFileSet(), path, nil, 0)
			if err != nil {
				return err
			}
			ast.Inspect(file, func(n ast.Node) bool {
				e, ok := n.(ast.Expr)
				if !ok {
					return true
				}
				text, found := constant(e)
				if found {
					all = append(all, text)
				}
				return !found
			})
			return nil
		})
		if err != nil {
			t.Fatal(err)
		}
	}
	return all
}

func constant(e ast.Expr) (text string, found bool) {
	switch e := e.(type) {
	case *ast.BasicLit:
		if e.Kind == token.STRING {
			text, err := strconv.Unquote(e.Value)
			return text, err == nil
		}
	case *ast.BinaryExpr:
		left, isLeft := constant(e.X)
		right, isRight := constant(e.Y)
		if e.Op != token.ADD || !isLeft && !isRight {
			return "", false
		}
		if !isLeft {
			left = "%s"
		}
		if !isRight {
			right = "%s"
		}
		return left + right, true
	}
	return "", false
}

// Every message that the document quotes is one of the program.
func TestTroubleshootingQuotesMessages(t *testing.T) {
	t.Parallel()
	program := strings.Join(literals(t), "\n")
	says := func(message string) bool {
		parts := strings.Split(message, "…")
		for i, part := range parts {
			parts[i] = regexp.QuoteMeta(part)
		}
		return regexp.MustCompile("(?m)" + strings.Join(parts, `[^\n]*%[^\n]*`)).MatchString(program)
	}
	if !says("this ffmpeg has no …") || says("this ffmpeg has two …") || says("this ffmpeg … has no") {
		t.Error("the program's messages are not told from others")
	}
	for _, line := range troubles(t) {
		for _, message := range line.messages {
			if len(strings.Trim(message, "…: ")) > 0 && !says(message) {
				t.Errorf("no message is like %q", message)
			}
		}
	}
}

// sentinels are the messages of a package's errors that callers compare.
func sentinels(t *testing.T, folder string) (all []string) {
	t.Helper()
	files, err := filepath.Glob(filepath.Join(folder, "*.go"))
	if err != nil {
		t.Fatal(err)
	}
	for _, file := range files {
		if strings.HasSuffix(file, "_test.go") {
			continue
		}
		text, err := os.ReadFile(file)
		if err != nil {
			t.Fatal(err)
		}
		for _, found := range regexp.MustCompile(`\bErr[A-Z]\w* += errors\.New\("([^"]+)"`).FindAllStringSubmatch(string(text), -1) {
			all = append(all, strings.TrimSpace(found[1]))
		}
	}
	if len(all) == 0 {
		t.Fatalf("%s has no errors", folder)
	}
	return all
}

// Every cause, every warning and every error that commands pass on has a line.
func TestTroubleshootingIsComplete(t *testing.T) {
	t.Parallel()
	var codes, messages []string
	for _, line := range troubles(t) {
		codes = append(codes, line.codes...)
		messages = append(messages, line.messages...)
	}
	var causes []bgremove.Cause
	for _, file := range []string{"../../pkg/bgremove/cause.go", "../batch/cause.go", "../bucket/cause.go", "failure/hint.go"} {
		causes = append(causes, removaltest.Causes(t, file)...)
	}
	for _, cause := range causes {
		if !slices.Contains(codes, string(cause)) {
			t.Errorf("nothing about the cause %s", cause)
		}
	}
	for _, found := range regexp.MustCompile(`WarningCode += "(\w+)"`).FindAllStringSubmatch(read(t, "../../pkg/bgremove/quality.go"), -1) {
		if code := found[1]; !slices.Contains(codes, code) {
			t.Errorf("nothing about the warning %s", code)
		}
	}
	for _, code := range codes {
		known := slices.Contains(causes, bgremove.Cause(code))
		if !known && !strings.Contains(read(t, "../../pkg/bgremove/quality.go"), `"`+code+`"`) {
			t.Errorf("the program has no code %s", code)
		}
	}
	inner := []string{"another ONNX Runtime is loaded already", "network is closed"} // faults of callers
	for _, folder := range []string{"../../pkg/client", "../network/fetch", "../network/ortlib", "../network/model", "../matte/onnx", "filearg"} {
		for _, message := range sentinels(t, folder) {
			if !slices.Contains(inner, message) && !slices.ContainsFunc(messages, func(m string) bool { return strings.HasPrefix(m, message) }) {
				t.Errorf("%s: nothing about %q", folder, message)
			}
		}
	}
}

var flagNames = regexp.MustCompile(`--[a-z-]+`)

// What a warning says that one can try is what the document says of it.
func TestTroubleshootingHasHintsOfWarnings(t *testing.T) {
	t.Parallel()
	hints := cli.WarningHints()
	if len(hints) < 5 {
		t.Fatalf("%d warnings have hints", len(hints))
	}
	for _, line := range troubles(t) {
		for _, code := range line.codes {
			hint, warned := hints[code]
			if !warned {
				continue
			}
			delete(hints, code)
			if diff := cmp.Diff(namesOf(line.cure), namesOf(hint)); diff != "" {
				t.Errorf("%s: the document has other flags than the program (-document +program):\n%s", code, diff)
			}
		}
	}
	if len(hints) > 0 {
		t.Errorf("no line is about %v", hints)
	}
}

// namesOf are the flags that a text names, sorted.
func namesOf(text string) []string {
	all := flagNames.FindAllString(text, -1)
	slices.Sort(all)
	return slices.Compact(all)
}

// The document has every exit code.
func TestTroubleshootingHasExitCodes(t *testing.T) {
	t.Parallel()
	document := read(t, "../../docs/troubleshooting.md")
	found := regexp.MustCompile(`\texit[A-Z]\w* += (\d+)`).FindAllStringSubmatch(read(t, "exit.go"), -1)
	if len(found) < 7 {
		t.Fatalf("%d exit codes", len(found))
	}
	for _, code := range found {
		if !strings.Contains(document, "\n| "+code[1]+" | ") {
			t.Errorf("nothing about exit code %s", code[1])
		}
	}
}
