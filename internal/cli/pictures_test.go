package cli_test

import (
	"os"
	"path/filepath"
	"regexp"
	"strings"
	"testing"

	"github.com/bgremove/bgremove/internal/media/inspect"
)

// The largest sizes of a page's pictures in bytes: of each, and of all with their stills.
const largestPicture, largestPictures = 150_000, 1_000_000

// A page shows each of its pictures and describes it. They move, are small, and have stills
// of the same size for readers who want no motion.
func TestMovingPictures(t *testing.T) {
	t.Parallel()
	for _, page := range []string{"cookbook", "comparison"} {
		t.Run(page, func(t *testing.T) {
			t.Parallel()
			checkPictures(t, page)
		})
	}
}

func checkPictures(t *testing.T, page string) {
	t.Helper()
	folder := "../../docs/images/" + page + "/"
	shown := map[string]string{}
	for _, found := range regexp.MustCompile(`!\[([^\]]*)\]\(images/`+page+`/([a-z]+)\.webp\)`).FindAllStringSubmatch(read(t, "../../docs/"+page+".md"), -1) {
		shown[found[2]] = found[1]
	}
	if len(shown) < 6 {
		t.Errorf("it shows %d pictures", len(shown))
	}
	for name, description := range shown {
		if strings.Count(description, " ") < 5 {
			t.Errorf("%s is described by %q", name, description)
		}
		moving, err := inspect.File(folder + name + ".webp")
		if err != nil || moving.Frames < 2 {
			t.Errorf("%s has %d frames: %v", name, moving.Frames, err)
		}
		still, err := inspect.File(folder + name + "-still.webp")
		if err != nil || still.Frames != 1 || still.Size != moving.Size {
			t.Errorf("the still of %s is %d frames of %v, not of %v: %v", name, still.Frames, still.Size, moving.Size, err)
		}
	}
	files, err := filepath.Glob(folder + "*")
	if err != nil {
		t.Fatal(err)
	}
	var all int64
	for _, path := range files {
		stat, err := os.Stat(path)
		if err != nil {
			t.Fatal(err)
		}
		all += stat.Size()
		if stat.Size() > largestPicture {
			t.Errorf("%s has %d bytes", path, stat.Size())
		}
		if name := strings.TrimSuffix(strings.TrimSuffix(filepath.Base(path), ".webp"), "-still"); shown[name] == "" {
			t.Errorf("it does not show %s", path)
		}
	}
	if all > largestPictures {
		t.Errorf("all pictures have %d bytes", all)
	}
}
