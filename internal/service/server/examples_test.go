package server_test

import (
	"bufio"
	"encoding/json"
	"fmt"
	"net/textproto"
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"strings"
	"testing"

	"github.com/bgremove/bgremove/internal/service/account"
	"github.com/bgremove/bgremove/internal/service/store/storetest"
)

// example is a document's commands, and the output that it states for them.
type example struct {
	commands     string
	kind, output string // kind is json, http, text, or empty for no stated output
}

var fenced = regexp.MustCompile("(?s)<!-- run -->\n```sh\n(.*?)```\n(?:```(json|http|text)\n(.*?)```\n)?")

func examples(t *testing.T, path string) (all []example) {
	t.Helper()
	text, err := os.ReadFile(path)
	if err != nil {
		t.Fatal(err)
	}
	for _, m := range fenced.FindAllStringSubmatch(string(text), -1) {
		all = append(all, example{m[1], m[2], m[3]})
	}
	if len(all) == 0 {
		t.Fatalf("%s has no examples", path)
	}
	return all
}

// TestAPIExamples runs the examples of docs/api.md in order, in one shell,
// against a service.
func TestAPIExamples(t *testing.T) {
	t.Parallel()
	all := examples(t, "../../../docs/api.md")
	c := configuration(t, storetest.SQLite(t))
	c.Rate = account.Rate{}
	n := start(t, c)
	ada := newCustomer(t, c.Database, 150)
	dir := t.TempDir()
	if err := os.WriteFile(filepath.Join(dir, "clip.gif"), clip(t), 0o600); err != nil {
		t.Fatal(err)
	}
	const end = "\x1e"
	var script strings.Builder
	for _, e := range all {
		script.WriteString(e.commands + "printf '" + end + "'\n")
	}
	cmd := exec.CommandContext(t.Context(), "sh", "-eu", "-c", script.String())
	cmd.Dir = dir
	cmd.Env = append(os.Environ(), "BGREMOVE_SERVER="+n.url, "BGREMOVE_API_KEY="+ada.key,
		"BGREMOVE_EMAIL=ada@example.com", "BGREMOVE_PASSWORD="+password)
	var stderr strings.Builder
	cmd.Stderr = &stderr
	out, err := cmd.Output()
	printed := strings.Split(string(out), end)
	if err != nil || len(printed) != len(all)+1 {
		t.Fatalf("example %d: %v, it printed %s\n%s", len(printed), err, printed[len(printed)-1], &stderr)
	}
	for i, e := range all {
		if err := e.check(printed[i]); err != nil {
			t.Errorf("%s%v\nit printed %s", e.commands, err, printed[i])
		}
	}
}

// check compares the output with the document's. Text must be equal to the
// letter. Of HTTP the status and the header names must be equal. Of JSON the
// names, the kinds of values, and the words among these must be equal.
func (e example) check(printed string) error {
	switch e.kind {
	case "json":
		return sameJSON(e.output, printed)
	case "http":
		return sameHTTP(e.output, printed)
	}
	if e.output != printed {
		return fmt.Errorf("the document shows %q", e.output)
	}
	return nil
}

func sameHTTP(shown, printed string) error {
	want, err := readHTTP(shown)
	if err != nil {
		return fmt.Errorf("the document: %w", err)
	}
	got, err := readHTTP(printed)
	if err != nil {
		return err
	}
	if got.status != want.status {
		return fmt.Errorf("the document shows %s", want.status)
	}
	for name := range want.header {
		if got.header.Get(name) == "" {
			return fmt.Errorf("the header %s is missing", name)
		}
	}
	if want.body == "" {
		return nil
	}
	return sameJSON(want.body, got.body)
}

// printedHTTP is an answer in the form of curl -i.
type printedHTTP struct {
	status string
	header textproto.MIMEHeader
	body   string
}

func readHTTP(text string) (h printedHTTP, err error) {
	head, body, _ := strings.Cut(strings.ReplaceAll(text, "\r\n", "\n"), "\n\n")
	r := textproto.NewReader(bufio.NewReader(strings.NewReader(strings.TrimSpace(head) + "\n\n")))
	h.body = body
	if h.status, err = r.ReadLine(); err != nil {
		return h, err
	}
	h.header, err = r.ReadMIMEHeader()
	return h, err
}

func sameJSON(shown, printed string) error {
	var want, got any
	if err := json.Unmarshal([]byte(shown), &want); err != nil {
		return fmt.Errorf("the document: %w", err)
	}
	if err := json.Unmarshal([]byte(printed), &got); err != nil {
		return err
	}
	return same("", want, got)
}

// word is a string that is the same in every run.
var word = regexp.MustCompile(`^[a-z_.@ ]+$`)

func same(path string, want, got any) error {
	if a, b := fmt.Sprintf("%T", want), fmt.Sprintf("%T", got); a != b {
		return fmt.Errorf("%s: the document shows %v, it is %v", path, want, got)
	}
	switch want := want.(type) {
	case map[string]any:
		got := got.(map[string]any)
		for name := range got {
			if _, ok := want[name]; !ok {
				return fmt.Errorf("%s: the document does not show %s", path, name)
			}
		}
		for name, value := range want {
			if err := same(path+"."+name, value, got[name]); err != nil {
				return err
			}
		}
	case []any:
		got := got.([]any)
		if len(want) != len(got) {
			return fmt.Errorf("%s: the document shows %d, there are %d", path, len(want), len(got))
		}
		for i, value := range want {
			if err := same(fmt.Sprintf("%s[%d]", path, i), value, got[i]); err != nil {
				return err
			}
		}
	case string:
		if word.MatchString(want) && want != got {
			return fmt.Errorf("%s: the document shows %q", path, want)
		}
	}
	return nil
}
