package archives_test

import (
	"os"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
	"go.yaml.in/yaml/v3"
)

// The cask names each man page of the archives. Homebrew takes no patterns, and goreleaser
// resolves them only where all archives have the same files; ours differ in the library.
func TestCaskPages(t *testing.T) {
	t.Parallel()
	text, err := os.ReadFile("../../.goreleaser.yaml")
	if err != nil {
		t.Fatal(err)
	}
	var release struct {
		Casks []struct{ Manpages []string } `yaml:"homebrew_casks"`
	}
	if err := yaml.Unmarshal(text, &release); err != nil || len(release.Casks) != 1 {
		t.Fatalf("%d casks, %v", len(release.Casks), err)
	}
	var pages []string
	for _, name := range manual() {
		if strings.HasPrefix(name, "man/") {
			pages = append(pages, name)
		}
	}
	if diff := cmp.Diff(set(pages), set(release.Casks[0].Manpages)); diff != "" {
		t.Errorf("man pages (-), of the cask (+):\n%s", diff)
	}
}
