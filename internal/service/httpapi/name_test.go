package httpapi_test

import (
	"mime"
	"net/http"
	"strings"
	"testing"

	"github.com/bgremove/bgremove/internal/service/httpapi"
)

func TestCleanName(t *testing.T) {
	t.Parallel()
	for given, want := range map[string]string{
		"clip.gif":                           "clip.gif",
		"../../etc/clip.gif":                 "clip.gif",
		`C:\Users\ada\clip.gif`:              "clip.gif",
		`a/b\c.gif`:                          "c.gif",
		"a\x00b\n\x1b[31m.gif":               "ab[31m.gif",
		"\u202efig.pilc.gif":                 "fig.pilc.gif",
		"füße 🦊.gif":                         "füße 🦊.gif",
		"\xff.gif":                           "\ufffd.gif",
		"  clip.gif ":                        "clip.gif",
		"/":                                  "",
		"":                                   "",
		strings.Repeat("x", 10_000) + ".gif": strings.Repeat("x", 251) + ".gif",
		strings.Repeat("é", 200) + ".gif":    strings.Repeat("é", 125) + ".gif",
		"a." + strings.Repeat("x", 300):      "a." + strings.Repeat("x", 253),
	} {
		if got := httpapi.CleanName(given); got != want {
			t.Errorf("%.40q becomes %q, want %q", given, got, want)
		}
	}
}

// TestDisposition reads names back as clients do.
func TestDisposition(t *testing.T) {
	t.Parallel()
	for name, header := range map[string]string{
		"clip-nobg.gif": `attachment; filename="clip-nobg.gif"`,
		`a"b\c%.gif`:    `attachment; filename="a_b_c_.gif"; filename*=UTF-8''a%22b%5Cc%25.gif`,
		"füße 🦊.gif":    `attachment; filename="f__e _.gif"; filename*=UTF-8''f%C3%BC%C3%9Fe%20%F0%9F%A6%8A.gif`,
	} {
		got := httpapi.Disposition("attachment", name)
		if got != header {
			t.Errorf("%q becomes %s, want %s", name, got, header)
		}
		if name == "clip-nobg.gif" {
			continue
		}
		_, params, err := mime.ParseMediaType(strings.Replace(got, `filename="`, `plain="`, 1))
		if err != nil || params["filename"] != name {
			t.Errorf("%s is read as %q (%v)", got, params["filename"], err)
		}
	}
}

func TestUnchanged(t *testing.T) {
	t.Parallel()
	for given, want := range map[string]bool{
		`"abc"`: true, `W/"abc"`: true, `"x", "abc"`: true, "*": true, `"x"`: false, "": false, "abc": false,
	} {
		if got := httpapi.Unchanged(http.Header{"If-None-Match": {given}}, `"abc"`); got != want {
			t.Errorf("%s: %v, want %v", given, got, want)
		}
	}
}
