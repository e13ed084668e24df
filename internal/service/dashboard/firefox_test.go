package dashboard_test

import (
	"bytes"
	"encoding/json"
	"image/gif"
	"os"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/bgremove/bgremove/internal/browsertest"
	"github.com/bgremove/bgremove/internal/service/server"
	"github.com/bgremove/bgremove/pkg/option"
)

// inFirefox runs a script in Firefox, and reads its result.
func inFirefox[T any](t *testing.T, script string, args ...string) (got T) {
	t.Helper()
	out := browsertest.Firefox(t, "testdata/"+script, args...)
	if err := json.Unmarshal(out, &got); err != nil {
		t.Fatalf("%s prints %s: %v", script, out, err)
	}
	return got
}

// saved is the path of a file with a content.
func saved(t *testing.T, name string, content []byte) string {
	t.Helper()
	path := t.TempDir() + "/" + name
	if err := os.WriteFile(path, content, 0o600); err != nil {
		t.Fatal(err)
	}
	return path
}

// TestFirefoxJourney signs up and in, removes a clip's background, and fetches the result.
func TestFirefoxJourney(t *testing.T) {
	t.Parallel()
	s := start(t, func(c *server.Config) { c.SignUp = true })
	s.user("ada@example.com", 20)
	got := inFirefox[struct{ Path, Line, Said, Balance string }](t, "journey.mjs", s.url, password, saved(t, "hop.gif", clip(t)))
	content, err := os.ReadFile(got.Path)
	if err != nil {
		t.Fatal(err)
	}
	g, err := gif.DecodeAll(bytes.NewReader(content))
	if err != nil || len(g.Image) != 36 || g.Config.Width != 301 || g.Config.Height != 182 {
		t.Errorf("the download is %d frames of %v: %v", len(g.Image), g.Config, err)
	}
	if got.Line != "100%" || got.Said != "" || got.Balance != "16" {
		t.Errorf("the line is at %s, the viewer says %q, and the balance is %s", got.Line, got.Said, got.Balance)
	}
}

// TestFirefoxEditor marks the subject by the pointer. The new job has exactly these hints.
func TestFirefoxEditor(t *testing.T) {
	t.Parallel()
	s := following(t)
	s.user("ada@example.com", 100)
	p := s.signedIn("ada@example.com")
	id := p.jobs([]string{"two.mp4", string(twoSubjects(t))}, "method", "fast", "crop", "false", "outputFormat", "webm")[0]
	want := []option.Hint{
		{Keep: true, Click: &[2]float64{20, 22}},
		{Stroke: [][2]float64{{90, 50}, {100, 50}, {100, 60}}, Radius: 2},
	}
	if diff := cmp.Diff(want, p.hintsOf(inFirefox[string](t, "editor.mjs", s.url, password, id))); diff != "" {
		t.Errorf("hints (-want +got):\n%s", diff)
	}
}

// TestFirefoxStacked plays a stacked MP4 by the component of examples/web.
func TestFirefoxStacked(t *testing.T) {
	t.Parallel()
	got := inFirefox[struct {
		Width        int
		Clear, Solid float64
	}](t, "stacked.mjs", stackedSite(t))
	if got.Width != 200 || got.Clear < 0.3 || got.Solid < 0.1 || got.Clear+got.Solid > 1 {
		t.Errorf("it is %d pixels wide, %.2f of it are clear, and %.2f solid", got.Width, got.Clear, got.Solid)
	}
}
