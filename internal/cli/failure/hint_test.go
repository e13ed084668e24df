package failure_test

import (
	"testing"

	"github.com/bgremove/bgremove/internal/cli/failure"
	"github.com/bgremove/bgremove/internal/service/removal/removaltest"
	"github.com/bgremove/bgremove/pkg/bgremove"
)

// Each cause has words for the shell, with its facts filled in.
func TestHints(t *testing.T) {
	t.Parallel()
	for _, file := range []string{"../../../pkg/bgremove/cause.go", "../../batch/cause.go", "../../bucket/cause.go", "hint.go"} {
		for _, cause := range removaltest.Causes(t, file) {
			if failure.Hint(&bgremove.Error{Cause: cause}) == "" {
				t.Errorf("%s: no words for %s", file, cause)
			}
		}
	}
	for want, e := range map[string]*bgremove.Error{
		"bgremove models pull u2netp; --method fast works without it": {Cause: bgremove.ModelNotInstalled, Name: "u2netp", Without: bgremove.Fast},
		"--method fast works without it":                              {Cause: bgremove.NoAVX, Without: bgremove.Fast},
		"install a release build, or a C compiler (Debian: gcc and libc6-dev) and build again; --method fast works without it": {Cause: bgremove.NoNetworks, Without: bgremove.Fast},
		"install an ffmpeg build with libx264; `bgremove doctor` shows what is found":                                          {Cause: bgremove.NoCodec, Name: "libx264"},
		"bgremove batch 'my clips' --out FOLDER takes all clips in it":                                                         {Cause: "folder_given", Path: "my clips"},
		"make it first: mkdir -p 'not there'":                                                                                  {Cause: "folder_missing", Path: "not there/a.png"},
	} {
		if got := failure.Hint(e); got != want {
			t.Errorf("%s: %s", e.Cause, got)
		}
	}
}
