package option_test

import (
	"slices"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/bgremove/bgremove/pkg/option"
)

// The API's specification names what the service takes.
func TestUploads(t *testing.T) {
	t.Parallel()
	if diff := cmp.Diff([]string{".gif", ".mp4", ".mov", ".webm"}, option.UploadExtensions()); diff != "" {
		t.Errorf("extensions (-want +got):\n%s", diff)
	}
	if diff := cmp.Diff([]string{".gif", ".mp4", ".mov", ".webm", "image/gif", "video/mp4", "video/quicktime", "video/webm"}, option.UploadTypes()); diff != "" {
		t.Errorf("types (-want +got):\n%s", diff)
	}
	for _, i := range option.ServiceInputs() {
		if i.MediaType() == option.Input("").MediaType() {
			t.Errorf("%s has no media type", i)
		}
	}
	if slices.Contains(option.ServiceInputs(), option.InputAVI) || option.IsUpload("a.avi") || !option.IsUpload("A.MOV") || !option.IsInput("a.AVI") || option.IsInput("avi") {
		t.Error("the service takes AVI, or an extension is not recognised")
	}
}

func TestList(t *testing.T) {
	t.Parallel()
	for want, parts := range map[string][]string{"": nil, "a": {"a"}, "a or b": {"a", "b"}, "a, b or c": {"a", "b", "c"}} {
		if got := option.List(parts, "or"); got != want {
			t.Errorf("%q, want %q", got, want)
		}
	}
}
