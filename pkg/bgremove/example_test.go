package bgremove_test

import (
	"context"
	"errors"
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

// A cause tells errors apart, and the fields of an Error are the facts.
func ExampleError() {
	inputs := []string{"absent.gif", "example_test.go", "../../testdata/pygif/animation.gif"}
	for _, input := range inputs {
		_, err := bgremove.New(bgremove.Config{}).Remove(context.Background(), input, "example_test.go", bgremove.Defaults(), bgremove.Extras{})
		var e *bgremove.Error
		switch {
		case errors.Is(err, bgremove.OutputExists):
			fmt.Println("not overwritten")
		case errors.Is(err, bgremove.NoCodec) && errors.As(err, &e):
			fmt.Println("get an ffmpeg with", e.Name)
		case errors.As(err, &e) && e.Kind == bgremove.Unreadable:
			fmt.Println("skipped", e.Path)
		default:
			fmt.Println(err)
		}
	}
	// Output:
	// absent.gif: no such file
	// skipped example_test.go
	// not overwritten
}
