package main

import (
	"encoding/json"
	"fmt"
	"testing"

	"github.com/bgremove/bgremove/internal/browsertest"
)

// TestFirefox finds a flag by the site's search in Firefox, in a wide window and in one of
// 320 pixels, which is what a zoom of 400 % leaves of one of 1280.
func TestFirefox(t *testing.T) {
	t.Parallel()
	url := serve(t)
	for _, width := range []int{1280, 320} {
		t.Run(fmt.Sprint(width), func(t *testing.T) {
			t.Parallel()
			out := browsertest.Firefox(t, "testdata/search.mjs", url, "tolerance", fmt.Sprint(width))
			var got struct {
				Path, Section string
				Marked, Wide  int
			}
			if err := json.Unmarshal(out, &got); err != nil {
				t.Fatal(err)
			}
			if got.Path != "/bgremove/reference/remove/" || got.Section != "#tolerance" || got.Marked == 0 || got.Wide > width {
				t.Errorf("the result is %+v", got)
			}
		})
	}
}
