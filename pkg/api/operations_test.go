package api_test

import (
	"os"
	"regexp"
	"strings"
	"testing"
)

// keyed is what the paths of operations for API keys begin with.
const keyed = "/api/v1/"

// TestRefusals checks that each operation for a key states what can be answered to any
// of them before its own work begins, and the headers about its rate.
func TestRefusals(t *testing.T) {
	t.Parallel()
	for path, item := range load(t).Paths.Map() {
		if !strings.HasPrefix(path, keyed) {
			continue
		}
		for method, op := range item.Operations() {
			for _, status := range []string{"401", "403", "429", "500", "503"} {
				if op.Responses.Value(status) == nil {
					t.Errorf("%s %s has no answer %s", method, path, status)
				}
			}
			for status, response := range op.Responses.Map() {
				if !strings.HasPrefix(status, "2") {
					continue
				}
				for _, name := range []string{"X-RateLimit-Limit", "X-RateLimit-Remaining", "X-RateLimit-Reset"} {
					if response.Value.Headers[name] == nil {
						t.Errorf("%s %s %s has no %s", method, path, status, name)
					}
				}
			}
		}
	}
}

// TestGuide checks that docs/api.md and docs/operations.md name every path, except those
// that end in a mailed token.
func TestGuide(t *testing.T) {
	t.Parallel()
	var guide strings.Builder
	for _, name := range []string{"api.md", "operations.md"} {
		text, err := os.ReadFile("../../docs/" + name)
		if err != nil {
			t.Fatal(err)
		}
		guide.Write(text)
	}
	for path := range load(t).Paths.Map() {
		if strings.HasSuffix(path, "{token}") {
			continue
		}
		pattern := strings.ReplaceAll(regexp.QuoteMeta(path), `\{id\}`, `[^/\s]+`) + `(?:[^/\w-]|$)`
		if !regexp.MustCompile(pattern).MatchString(guide.String()) {
			t.Errorf("no guide names %s", path)
		}
	}
}
