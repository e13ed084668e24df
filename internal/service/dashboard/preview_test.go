package dashboard_test

import (
	"bytes"
	"encoding/json"
	"fmt"
	"image"
	"image/png"
	"net/http"
	"strings"
	"testing"

	"github.com/chromedp/cdproto/input"
	"github.com/chromedp/chromedp"

	"github.com/bgremove/bgremove/internal/service/server"
)

// preview asks for the matte of a frame until the clip has been studied.
func (p *person) preview(id string, t float64, hints string) page {
	p.Helper()
	for {
		got := p.do(http.MethodPost, "/jobs/"+id+"/preview", "application/json", strings.NewReader(fmt.Sprintf(`{"t": %v, "hints": %s}`, t, hints)), "X-Fragment", "1")
		if got.status != http.StatusAccepted {
			return got
		}
		var body struct{ Share *float64 }
		if err := json.Unmarshal([]byte(got.body), &body); err != nil || body.Share == nil || *body.Share < 0 || *body.Share > 1 {
			p.Fatalf("202 with %q: %v", got.body, err)
		}
	}
}

// kept reports whether a matte keeps a place, in pixels of twoSubjects.
func kept(t *testing.T, matte image.Image, x, y float64) bool {
	t.Helper()
	r := matte.Bounds()
	grey, _, _, _ := matte.At(int((x+0.5)*float64(r.Dx())/120), int((y+0.5)*float64(r.Dy())/80)).RGBA()
	return grey > 0x7fff
}

// TestPreview shows what hints make of a frame, for nothing.
func TestPreview(t *testing.T) {
	t.Parallel()
	s := following(t)
	who := s.user("ada@example.com", 100)
	s.user("eve@example.com", 0)
	p := s.signedIn("ada@example.com")
	id := p.jobs([]string{"two.mp4", string(twoSubjects(t))}, "method", "fast", "outputFormat", "webm")[0]
	before := s.balance(who)
	for name, c := range map[string]struct {
		hints     string
		red, blue bool
	}{
		"nothing": {`[]`, true, true},
		"drop":    {`[{"keep": false, "click": [84, 56], "t": 1}]`, true, false},
		"both":    {`[{"keep": true, "click": [28, 22], "t": 1}, {"keep": false, "click": [84, 56], "t": 1}]`, true, false},
	} {
		got := p.preview(id, 1, c.hints)
		got.says(http.StatusOK)
		matte, err := png.Decode(bytes.NewReader([]byte(got.body)))
		if err != nil {
			t.Fatalf("%s: %v", name, err)
		}
		if red, blue := kept(t, matte, 28, 22), kept(t, matte, 84, 56); red != c.red || blue != c.blue {
			t.Errorf("%s: red %v, blue %v", name, red, blue)
		}
	}
	if now := s.balance(who); now != before {
		t.Errorf("it cost %d credits", before-now)
	}
	for name, c := range map[string]struct{ body string }{
		"no JSON":   {`t=1`},
		"no hints":  {`{"t": 1}`},
		"outside":   {`{"t": 1, "hints": [{"keep": true, "click": [120, 1], "t": 1}]}`},
		"too late":  {`{"t": 1, "hints": [{"keep": true, "click": [1, 1], "t": 9}]}`},
		"a mask":    {`{"t": 1, "hints": [{"keep": true, "mask": "/etc/passwd"}]}`},
		"before":    {`{"t": -1, "hints": []}`},
		"too large": {`{"t": 1, "hints": [` + strings.Repeat(" ", 70_000) + `]}`},
	} {
		if got := p.do(http.MethodPost, "/jobs/"+id+"/preview", "application/json", strings.NewReader(c.body), "X-Fragment", "1"); got.status != http.StatusBadRequest {
			t.Errorf("%s: %d %s", name, got.status, got.body)
		}
	}
	if got := s.signedIn("eve@example.com").preview(id, 1, `[]`); got.status != http.StatusNotFound {
		t.Errorf("another account's job: %d", got.status)
	}
	if got := s.person().preview(id, 1, `[]`); got.status != http.StatusUnauthorized {
		t.Errorf("nobody: %d", got.status)
	}
}

// TestPreviewWithoutNetwork says that there are none.
func TestPreviewWithoutNetwork(t *testing.T) {
	t.Parallel()
	s := start(t, func(c *server.Config) { c.Engine.Library = t.TempDir() })
	s.user("ada@example.com", 100)
	p := s.signedIn("ada@example.com")
	id := p.jobs([]string{"hop.gif", string(clip(t))})[0]
	if got := p.preview(id, 0, `[]`); got.status != http.StatusNotFound {
		t.Errorf("%d %s", got.status, got.body)
	}
}

// TestVeil marks one of two subjects by a click and drops the other by a stroke. The page
// veils what goes, and the clip that comes out is like it.
func TestVeil(t *testing.T) {
	t.Parallel()
	s := following(t)
	s.user("ada@example.com", 100)
	p := s.signedIn("ada@example.com")
	id := p.jobs([]string{"two.mp4", string(twoSubjects(t))}, "crop", "false", "outputFormat", "apng")[0]
	b := s.chromium(1280, 900)
	b.open("/")
	b.signIn("ada@example.com")
	b.choosing(id)
	b.moment(1)
	shows := func(name string, red, blue bool) {
		t.Helper()
		b.until(fmt.Sprintf(`(() => { const c = document.querySelector("[data-picture] canvas"); const d = c.getContext("2d");
			const at = (x, y) => [...d.getImageData(x * c.width / 120, y * c.height / 80, 1, 1).data];
			const [r, g] = at(22, 28), [s, h, k] = at(78, 60); // beside the marks
			return (r > 235 && g < 30) === %v && (k > 225 && s < 30) === %v; })()`, red, blue))
	}
	b.until(`performance.getEntriesByName("preview").length > 0`) // the clip has been studied
	shows("the whole", true, true)
	b.mouse(input.MouseButtonLeft, centre(28, 22))
	b.mouse(input.MouseButtonRight, centre(76, 50), centre(84, 56), centre(90, 60))
	b.marks(2)
	shows("the red one", true, false)
	b.picture("subject-1280-veil.png")
	took := ask[float64](b, `performance.getEntriesByName("preview").at(-1).duration`)
	t.Logf("what a mark makes of its frame was seen after %.0f ms", took)
	b.run("undo", chromedp.Click("[data-undo]"))
	b.marks(1)
	b.run("no veil", chromedp.Click("[data-veils]"))
	shows("no veil", true, true)
	b.run("a veil", chromedp.Click("[data-veils]"))
	shows("what is kept", true, false)
	const said = `document.querySelector("[data-study]").textContent`
	ask[bool](b, `window.whole = window.fetch; window.fetch = (path, asked) => asked?.method === "POST" && path.includes("preview")
		? new Promise((answer) => setTimeout(() => answer(new Response('{"following": true, "share": 0}', { status: 202 })), 20))
		: whole(path, asked); true`) // as if the frame were far from the mark
	b.mouse(input.MouseButtonRight, centre(76, 50), centre(84, 56), centre(90, 60))
	b.until(said + ` === "Your marks are being followed to this frame. Then what goes is veiled."`)
	b.run("back", chromedp.Click("[data-undo]"))
	shows("what is kept alone", true, false)
	b.until(said + ` === ""`)
	b.mouse(input.MouseButtonRight, centre(76, 50), centre(84, 56), centre(90, 60))
	ask[bool](b, `window.fetch = whole; true`)
	shows("the red one again", true, false)
	b.until(said + ` === ""`)
	second := b.applied(id)
	p.ended(second)
	out := p.get("/api/jobs/" + second + "/download")
	img, err := png.Decode(bytes.NewReader([]byte(out.body))) // its first frame
	if err != nil {
		t.Fatal(err)
	}
	_, _, _, red := img.At(20, 22).RGBA()
	_, _, _, blue := img.At(92, 56).RGBA()
	if red < 0xf000 || blue > 0x1000 {
		t.Errorf("the first frame's red has alpha %d, its blue %d", red>>8, blue>>8)
	}
}

// TestVeilComesLate has previews that fail for a while.
func TestVeilComesLate(t *testing.T) {
	t.Parallel()
	s := following(t)
	s.user("ada@example.com", 100)
	id := s.signedIn("ada@example.com").jobs([]string{"two.mp4", string(twoSubjects(t))}, "method", "fast")[0]
	b := s.chromium(1280, 900)
	b.open("/")
	b.signIn("ada@example.com")
	b.open("/jobs/" + id)
	ask[bool](b, `(() => {
		const whole = window.fetch, failures = [
			() => Promise.reject(new TypeError("network error")),
			() => Promise.resolve(new Response("", { status: 503, headers: { "Retry-After": "1" } })),
			() => Promise.resolve(new Response("", { status: 502 })),
			() => Promise.resolve(new Response("", { status: 429, headers: { "Retry-After": "1" } })),
			() => Promise.resolve(new Response(new ReadableStream({ start: (c) => c.error(new TypeError("network error")) }))),
		];
		window.fetch = (path, asked) => (asked?.method === "POST" && path.endsWith("/preview") && failures.shift() || (() => whole(path, asked)))();
		return true;
	})()`)
	b.run("choose", chromedp.Click("[data-subject] summary"))
	b.until(`document.querySelector("[data-study]").textContent.startsWith("The service is busy")`)
	b.until(`performance.getEntriesByName("preview").length > 0`)
	if said := ask[string](b, `document.querySelector("[data-study]").textContent`); said != "" {
		t.Errorf("it says %q", said)
	}
}
