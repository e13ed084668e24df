// Command site writes the pages of the documentation site that are made from the
// program: a page for each command below DIR/reference, and the operations of the
// HTTP API in DIR/api. tools/site.sh makes the site of these and of docs/.
//
//	go run ./tools/site DIR
package main

import (
	"fmt"
	"os"
	"path/filepath"

	"github.com/bgremove/bgremove/internal/cli"
	"github.com/bgremove/bgremove/internal/service/apidocs"
	"github.com/bgremove/bgremove/pkg/api"
)

func main() {
	if len(os.Args) != 2 {
		fmt.Fprintln(os.Stderr, "usage: site DIR")
		os.Exit(2)
	}
	if err := write(os.Args[1]); err != nil {
		fmt.Fprintln(os.Stderr, "site:", err)
		os.Exit(1)
	}
}

// write replaces the content of dir.
func write(dir string) error {
	if err := os.RemoveAll(dir); err != nil {
		return err
	}
	operations, err := apidocs.Markdown(api.Specification)
	if err != nil {
		return err
	}
	pages := reference(cli.Manual())
	pages["api/operations.md"] = string(operations)
	pages["api/openapi.yaml"] = string(api.Specification)
	for name, text := range pages {
		path := filepath.Join(dir, filepath.FromSlash(name))
		if err := os.MkdirAll(filepath.Dir(path), 0o755); err != nil {
			return err
		}
		if err := os.WriteFile(path, []byte(text), 0o644); err != nil {
			return err
		}
	}
	return nil
}
