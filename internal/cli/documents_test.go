package cli_test

import (
	"os"
	"path/filepath"
	"regexp"
	"strings"
	"testing"
	"unicode"

	"go.yaml.in/yaml/v3"
)

// documents are all documents for readers, by their paths from here.
func documents(t *testing.T) []string {
	t.Helper()
	var all []string
	for _, pattern := range []string{"../../*.md", "../../docs/*.md"} {
		found, err := filepath.Glob(pattern)
		if err != nil || len(found) == 0 {
			t.Fatalf("%s: %v, %v", pattern, found, err)
		}
		all = append(all, found...)
	}
	return all
}

func read(t *testing.T, path string) string {
	t.Helper()
	text, err := os.ReadFile(path)
	if err != nil {
		t.Fatal(err)
	}
	return string(text)
}

// anchors are the places in a document that a link can name, as GitHub makes them of
// its headings.
func anchors(text string) map[string]bool {
	all := map[string]bool{}
	for line := range strings.Lines(text) {
		heading := strings.TrimLeft(line, "#")
		if heading == line || !strings.HasPrefix(heading, " ") {
			continue
		}
		all[strings.Map(func(r rune) rune {
			switch {
			case r == ' ':
				return '-'
			case r == '-', r == '_', unicode.IsLetter(r), unicode.IsDigit(r):
				return unicode.ToLower(r)
			}
			return -1
		}, strings.TrimSpace(heading))] = true
	}
	return all
}

var linked = regexp.MustCompile(`\]\(([^)\s]+)\)`)

// Every link to a file or a section leads somewhere.
func TestLinks(t *testing.T) {
	t.Parallel()
	if got := anchors("## One option's way\n"); !got["one-options-way"] {
		t.Errorf("anchors: %v", got)
	}
	for _, path := range documents(t) {
		text := read(t, path)
		for _, found := range linked.FindAllStringSubmatch(text, -1) {
			target, anchor, _ := strings.Cut(found[1], "#")
			if strings.Contains(target, ":") {
				continue // on the web
			}
			to, linkedText := path, text
			if target != "" {
				to = filepath.Join(filepath.Dir(path), target)
				stat, err := os.Stat(to)
				if err != nil {
					t.Errorf("%s: %s leads nowhere", path, found[1])
					continue
				}
				if !stat.IsDir() && anchor != "" {
					linkedText = read(t, to)
				}
			}
			if anchor != "" && !anchors(linkedText)[anchor] {
				t.Errorf("%s: %s has no section #%s", path, to, anchor)
			}
		}
	}
}

// The forms for issues can be read, and ask for something.
func TestIssueForms(t *testing.T) {
	t.Parallel()
	for _, name := range []string{"bug", "idea"} {
		var form struct {
			Name, Description string
			Labels            []string
			Body              []struct {
				Type, ID    string
				Attributes  map[string]string
				Validations map[string]bool
			}
		}
		if err := yaml.Unmarshal([]byte(read(t, "../../.github/ISSUE_TEMPLATE/"+name+".yml")), &form); err != nil {
			t.Fatal(err)
		}
		if form.Name == "" || form.Description == "" || len(form.Body) < 3 {
			t.Errorf("%s: %+v", name, form)
		}
		for _, part := range form.Body {
			if part.Type != "markdown" && (part.ID == "" || part.Attributes["label"] == "") {
				t.Errorf("%s: %+v", name, part)
			}
		}
	}
}

// CONTRIBUTING.md names no target of make that is not there.
func TestMakeTargets(t *testing.T) {
	t.Parallel()
	makefile := read(t, "../../Makefile")
	for _, found := range regexp.MustCompile(`\bmake ([a-z-]+)\b`).FindAllStringSubmatch(read(t, "../../CONTRIBUTING.md"), -1) {
		if !strings.Contains(makefile, "\n"+found[1]+":") {
			t.Errorf("there is no make %s", found[1])
		}
	}
}

// Each command of the cookbook is run by cookbook.txtar, or the page says why not; and
// those that are not run are at least taken.
func TestCookbookIsRun(t *testing.T) {
	t.Parallel()
	text := read(t, "../../docs/cookbook.md")
	blocks := strings.Split(text, "\n```sh\n")
	run := 0
	for i, block := range blocks[1:] {
		before := blocks[i]
		commands, _, _ := strings.Cut(block, "\n```")
		switch mark := before[strings.LastIndex(before, "\n")+1:]; {
		case mark == "<!-- run -->":
			run++
		case !strings.HasPrefix(mark, "<!-- not run: "):
			t.Errorf("nothing says whether this is run:\n%s", commands)
		}
		for _, args := range commandLines(commands) {
			checkCommandLine(t, "the cookbook", args)
		}
	}
	if recipes := strings.Count(text, "\n### "); recipes < 20 || run < 20 {
		t.Errorf("%d recipes, %d of them run", recipes, run)
	}
}
