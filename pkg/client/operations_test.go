package client_test

import (
	"os"
	"path/filepath"
	"regexp"
	"strings"
	"testing"

	"github.com/getkin/kin-openapi/openapi3"

	"github.com/bgremove/bgremove/pkg/api"
)

// TestOperations checks that the client uses every operation for API keys.
func TestOperations(t *testing.T) {
	t.Parallel()
	doc, err := openapi3.NewLoader().LoadFromData(api.Specification)
	if err != nil {
		t.Fatal(err)
	}
	files, err := filepath.Glob("*.go")
	if err != nil {
		t.Fatal(err)
	}
	var source strings.Builder
	for _, f := range files {
		if strings.HasSuffix(f, "_test.go") {
			continue
		}
		text, err := os.ReadFile(f)
		if err != nil {
			t.Fatal(err)
		}
		source.Write(text)
	}
	for path, item := range doc.Paths.Map() {
		for method, op := range item.Operations() {
			if !strings.HasPrefix(path, "/api/v1/") || method == "HEAD" {
				continue
			}
			name := strings.ToUpper(op.OperationID[:1]) + op.OperationID[1:]
			if !regexp.MustCompile(`\bapi\.` + name + `(?:WithBody)?\(`).MatchString(source.String()) {
				t.Errorf("no method of the client sends %s (%s %s)", op.OperationID, method, path)
			}
		}
	}
}
