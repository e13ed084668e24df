package dashboard_test

import (
	"bytes"
	"errors"
	"math"
	"net/http"
	"os"
	"os/exec"
	"path/filepath"
	"testing"

	"github.com/chromedp/cdproto/network"
	cdppage "github.com/chromedp/cdproto/page"
	"github.com/chromedp/chromedp"
	"github.com/chromedp/chromedp/kb"

	"github.com/bgremove/bgremove/internal/service/account"
	"github.com/bgremove/bgremove/internal/service/server"
)

// made converts the sample clip with ffmpeg.
func made(t testing.TB, name string, args ...string) []byte {
	t.Helper()
	return madeOf(t, name, append([]string{"-i", "../../../testdata/demo/hop.mp4"}, args...)...)
}

// madeOf makes a clip with ffmpeg.
func madeOf(t testing.TB, name string, args ...string) []byte {
	t.Helper()
	path := filepath.Join(t.TempDir(), name)
	args = append([]string{"-v", "error"}, append(args, path)...)
	if out, err := exec.CommandContext(t.Context(), "ffmpeg", args...).CombinedOutput(); err != nil {
		t.Fatal(errors.New(string(out)))
	}
	content, err := os.ReadFile(path)
	if err != nil {
		t.Fatal(err)
	}
	return content
}

// TestViewer shows results beside originals of other kinds, sizes and times.
func TestViewer(t *testing.T) {
	t.Parallel()
	// On a slow machine the page asks for a job's state often: the limit is not tested here.
	s := start(t, func(c *server.Config) { c.AccountRate = account.Rate{PerMinute: 1e5, Burst: 1e5} })
	s.user("ada@example.com", 100)
	p := s.signedIn("ada@example.com")
	b := s.chromium(1280, 900)
	b.open("/")
	b.signIn("ada@example.com")
	idle := made(t, "idle.gif", "-vf", "fps=10,scale=240:-1,tpad=start_mode=clone:start_duration=1,split[a][b];[a]palettegen[p];[b][p]paletteuse=dither=none")
	large := made(t, "large.gif", "-vf", "fps=20,scale=1200:-1,split[a][b];[a]palettegen[p];[b][p]paletteuse=dither=none")
	for name, test := range map[string]struct {
		file, content string
		options       []string
	}{
		"trimmed":   {"idle.gif", string(idle), []string{"trim", "true", "outputFormat", "apng"}},
		"on canvas": {"hop.gif", string(clip(t)), []string{"canvasW", "200", "canvasH", "300", "anchor", "bottom"}},
		"large":     {"large.gif", string(large), []string{"canvasW", "600"}}, // too large to keep decoded
		"videos":    {"hop.webm", string(made(t, "hop.webm", "-b:v", "1M")), []string{"outputFormat", "webm"}},
	} {
		b.settled(shown{name, "/jobs/" + p.jobs([]string{test.file, test.content}, test.options...)[0]})
		b.until(`!document.querySelector("[data-play]").disabled && document.querySelector(".split")`)
		b.run("pause", chromedp.Click("[data-play]"))
		for _, time := range []float64{0.05, 1.35} {
			b.seek(time)
			b.inStep(time)
		}
	}
}

// TestPlainViewer uses a browser that cannot decode animations by itself.
func TestPlainViewer(t *testing.T) {
	t.Parallel()
	s := start(t, nil)
	s.user("ada@example.com", 100)
	id := s.signedIn("ada@example.com").jobs([]string{"hop.gif", string(clip(t))})[0]
	b := s.chromium(1280, 900)
	call(b, cdppage.AddScriptToEvaluateOnNewDocument, cdppage.AddScriptToEvaluateOnNewDocumentParams{Source: "delete globalThis.ImageDecoder"})
	b.open("/")
	b.signIn("ada@example.com")
	b.open("/jobs/" + id)
	b.until(`document.querySelector(".layer img")?.complete && document.querySelector("[data-say]").innerText.includes("on its own")`)
	b.run("to the left", chromedp.SendKeys(".split", kb.Home))
	if clip := ask[string](b, `document.querySelector(".layer").style.clipPath`); clip != "inset(0px 100% 0px 0px)" {
		t.Errorf("the original is clipped by %s", clip)
	}
	if !ask[bool](b, `document.querySelector("[data-play]").disabled`) {
		t.Error("what cannot be held has a button for it")
	}
}

// TestUnknownCodec has an original that the browser cannot play.
func TestUnknownCodec(t *testing.T) {
	t.Parallel()
	s := start(t, nil)
	s.user("ada@example.com", 100)
	id := s.signedIn("ada@example.com").jobs([]string{"hop.mov", string(made(t, "hop.mov", "-t", "0.5", "-c:v", "prores_ks"))})[0]
	b := s.chromium(1280, 900)
	b.open("/")
	b.signIn("ada@example.com")
	b.open("/jobs/" + id)
	b.until(`document.querySelector("canvas") && document.querySelector("[data-say]").innerText.includes("does not know its codec")`)
	if ask[bool](b, `!!document.querySelector(".split")`) {
		t.Error("there is a line, and nothing to compare")
	}
	if name := ask[string](b, `document.querySelector("canvas").ariaLabel`); name != "The result" {
		t.Errorf("the canvas is called %q", name)
	}
}

// TestResultDoesNotPlay has an original that opens, and a result that does not.
func TestResultDoesNotPlay(t *testing.T) {
	t.Parallel()
	s := start(t, nil)
	s.user("ada@example.com", 100)
	id := s.signedIn("ada@example.com").jobs([]string{"hop.gif", string(clip(t))})[0]
	b := s.chromium(1280, 900)
	call(b, cdppage.AddScriptToEvaluateOnNewDocument, cdppage.AddScriptToEvaluateOnNewDocumentParams{Source: `
		const whole = window.fetch, close = ImageDecoder.prototype.close;
		window.fetch = (path, asked) => (String(path).endsWith("/download") ? Promise.resolve(new Response("", { status: 502 })) : whole(path, asked));
		ImageDecoder.prototype.close = function () { window.ended = (window.ended ?? 0) + 1; return close.call(this); };
	`})
	b.open("/")
	b.signIn("ada@example.com")
	b.open("/jobs/" + id)
	b.until(`document.querySelector("[data-say]").innerText.includes("does not play this result")`)
	b.until(`window.ended === 1`)
}

// TestWithoutEvents follows jobs by polling, as behind a proxy that drops
// events.
func TestWithoutEvents(t *testing.T) {
	t.Parallel()
	s := start(t, nil)
	s.user("ada@example.com", 100)
	b := s.chromium(1280, 900)
	b.expected = "/api/jobs/events"
	call(b, network.Enable, network.EnableParams{})
	call(b, network.SetBlockedURLs, network.SetBlockedURLsParams{URLPatterns: []*network.BlockPattern{{URLPattern: "*://*:*/api/jobs/events", Block: true}}})
	b.open("/")
	b.signIn("ada@example.com")
	b.drop(".drop", b.file("hop.gif", clip(t)))
	b.until(`document.querySelector("[data-files] li")`)
	b.run("send", chromedp.Click("[data-send]"))
	b.until(`document.querySelector("[data-view]")?.dataset.state === "done" && document.querySelector("canvas")`)
	id := s.signedIn("ada@example.com").jobs([]string{"elsewhere.gif", string(clip(t))})[0]
	b.until(`document.getElementById("` + id + `")?.dataset.state === "done"`)
}

// delayed is the sample clip as a GIF in which each frame has a delay, in hundredths of a second.
func delayed(t testing.TB, delay byte) []byte {
	t.Helper()
	control := []byte{0x21, 0xf9, 4} // begins the block with a frame's delay
	parts := bytes.Split(bytes.Clone(clip(t)), control)
	for _, p := range parts[1:] {
		p[1], p[2] = delay, 0
	}
	return bytes.Join(parts, control)
}

// TestShortDelays shows animations with delays that browsers do not keep. The page has the
// times of the service.
func TestShortDelays(t *testing.T) {
	t.Parallel()
	s := start(t, nil)
	s.user("ada@example.com", 100)
	p := s.signedIn("ada@example.com")
	b := s.workbench("ada@example.com")
	for _, test := range []struct {
		name, content, format, duration string
		want                            float64
	}{
		{"none.gif", string(delayed(t, 0)), "gif", ">3.60 s<", 3.6},
		{"quick.gif", string(delayed(t, 1)), "apng", ">3.60 s<", 3.6},
		{"quick.webm", string(made(t, "quick.webm", "-vf", "fps=120,scale=160:-2", "-t", "0.25")), "apng", ">0.25 s<", 0.25},
	} {
		id := p.jobs([]string{test.name, test.content}, "method", "fast", "outputFormat", test.format)[0]
		p.get("/jobs/"+id).says(http.StatusOK, test.duration)
		b.open("/jobs/" + id)
		b.until(`!document.querySelector("[data-play]").disabled`)
		if end := ask[float64](b, `Number(document.querySelector("[data-time]").max)`); math.Abs(end-test.want) > 0.02 {
			t.Errorf("%s as %s lasts %v s", test.name, test.format, end)
		}
	}
}

// TestPartOfVideo shows a part of a video that becomes an animation. The original begins with its part.
func TestPartOfVideo(t *testing.T) {
	t.Parallel()
	s := start(t, nil)
	s.user("ada@example.com", 100)
	mp4 := made(t, "hop.webm", "-b:v", "1M")
	id := s.signedIn("ada@example.com").jobs([]string{"hop.webm", string(mp4)}, "method", "fast", "start", "1.3", "outputFormat", "apng")[0]
	b := s.chromium(1280, 900)
	b.theme("light") // and still
	b.open("/")
	b.signIn("ada@example.com")
	b.settled(shown{"a part", "/jobs/" + id})
	b.until(`!document.querySelector("[data-play]").disabled && document.querySelector(".split")`)
	b.until(still)
	b.inStep(0)
}
