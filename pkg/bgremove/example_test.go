package bgremove_test

import (
	"context"
	"fmt"
	"os"
	"path/filepath"

	"github.com/bgremove/bgremove/pkg/bgremove"
)

func ExampleRemover_Remove() {
	dir, err := os.MkdirTemp("", "example-*")
	if err != nil {
		fmt.Println(err)
		return
	}
	defer os.RemoveAll(dir)

	o := bgremove.Defaults()
	o.CanvasW, o.CanvasH, o.Anchor, o.Pad = 128, 128, bgremove.Bottom, 0
	result, err := bgremove.New(bgremove.Config{}).Remove(context.Background(),
		"../../testdata/demo/hop.mp4", filepath.Join(dir, "hop.gif"), o, bgremove.Extras{})
	if err != nil {
		fmt.Println(err)
		return
	}
	fmt.Printf("%d frames of %d×%d in %g s, by %s\n", result.Frames, result.Width, result.Height, result.Duration, result.Method)
	// Output: 72 frames of 128×128 in 3 s, by fast
}
