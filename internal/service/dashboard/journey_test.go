package dashboard_test

import (
	"bytes"
	"fmt"
	"image"
	"image/draw"
	"image/gif"
	"net/http"
	"strings"
	"testing"

	"github.com/chromedp/chromedp"
	"github.com/chromedp/chromedp/kb"
)

// alphaAt is the alpha of the viewer's canvas at fractions of its sides.
const alphaAt = `(() => { const c = document.querySelector("canvas"); return c.getContext("2d").getImageData(c.width * %v | 0, c.height * %v | 0, 1, 1).data[3]; })()`

// TestJourney follows one person through everything that the pages offer.
func TestJourney(t *testing.T) {
	t.Parallel()
	s := start(t, nil)
	s.user("ada@example.com", 20)
	b := s.chromium(1280, 900)

	b.open("/keys")
	b.signIn("ada@example.com") // leads back to the keys page
	b.until(`location.pathname === "/keys"`)
	b.run("to the workbench", chromedp.Click(`nav a[href="/"]`), chromedp.WaitVisible("[data-upload]"))
	b.drop(".drop", b.file("hop.gif", clip(t)))
	b.until(`document.querySelector("[data-files]").innerText.includes("hop.gif")`)
	b.run("send", chromedp.Click("[data-send]"))
	b.until(`document.querySelector(".job")`)
	b.until(`document.querySelector("[data-view]")?.dataset.state === "done" && document.querySelector("canvas")`)
	b.until(`document.querySelector("[data-balance]").innerText === "16"`)
	b.compares()

	g, err := gif.DecodeAll(bytes.NewReader(b.download("a[download]")))
	if err != nil || len(g.Image) != 36 || g.Config.Width != 301 || g.Config.Height != 182 {
		t.Fatalf("the download is %d frames of %v: %v", len(g.Image), g.Config, err)
	}
	first := image.NewNRGBA(image.Rect(0, 0, g.Config.Width, g.Config.Height))
	draw.Draw(first, g.Image[0].Rect, g.Image[0], g.Image[0].Rect.Min, draw.Src)
	if a := first.NRGBAAt(1, 1).A; a != 0 {
		t.Errorf("the corner of the download has alpha %d", a)
	}
	if a := first.NRGBAAt(60, 130).A; a != 255 {
		t.Errorf("a figure of the download has alpha %d", a)
	}
	b.repeats()
	b.keys(s)

	b.open("/credits")
	b.until(`document.querySelectorAll("#ledger").length && document.querySelectorAll("tbody tr").length === 3`)
	if got := ask[string](b, `document.querySelector("tbody").innerText`); strings.Count(got, "Charge for") != 2 || !strings.Contains(got, "12") {
		t.Errorf("the ledger is %s", got)
	}
	b.run("sign out", chromedp.Click(".who button"), chromedp.WaitVisible("#password"))
}

// compares moves the time, and the line between original and result.
func (b *browser) compares() {
	b.Helper()
	b.run("pause", chromedp.Click("[data-play]"))
	b.until(`document.querySelector("[data-play]").innerText === "Play"`)
	for _, time := range []float64{0, 1.234, 2.9} {
		b.seek(time)
		b.run("only the original", chromedp.SendKeys(".split", kb.End))
		if alpha := ask[int](b, fmt.Sprintf(alphaAt, 0.01, 0.01)); alpha != 255 {
			b.Errorf("at %v s the corner of the original has alpha %d", time, alpha)
		}
		b.inStep(time)
		if alpha := ask[int](b, fmt.Sprintf(alphaAt, 0.01, 0.01)); alpha != 0 {
			b.Errorf("at %v s the corner of the result has alpha %d", time, alpha)
		}
	}
	b.run("the middle", chromedp.SendKeys(".split", strings.Repeat(kb.ArrowRight, 40)))
	if at := ask[string](b, `document.querySelector(".handle").style.left`); at != "40%" {
		b.Errorf("the line is at %s", at)
	}
	if left, right := ask[int](b, fmt.Sprintf(alphaAt, 0.3, 0.01)), ask[int](b, fmt.Sprintf(alphaAt, 0.5, 0.01)); left != 255 || right != 0 {
		b.Errorf("left of the line alpha is %d, right of it %d", left, right)
	}
	b.run("over the original", chromedp.Click(`[value=original]`))
	if alpha := ask[int](b, fmt.Sprintf(alphaAt, 0.9, 0.01)); alpha < 60 || alpha > 120 {
		b.Errorf("over the original alpha is %d", alpha)
	}
	b.run("play", chromedp.Click("[data-play]"))
	b.until(`Number(document.querySelector("[data-time]").value) !== 2.9`)
}

// seek moves to a time.
func (b *browser) seek(time float64) {
	b.Helper()
	ask[bool](b, fmt.Sprintf(`(() => { const r = document.querySelector("[data-time]"); r.value = %v; return r.dispatchEvent(new Event("input")); })()`, time))
	b.until(still)
}

// still is true when the viewer waits for no picture.
const still = `document.querySelector("[data-stage]").ariaBusy === "false"`

// pixels are the pixels of the viewer's canvas.
const pixels = `(c => c.getContext("2d").getImageData(0, 0, c.width, c.height).data)(document.querySelector("canvas"))`

// inStep checks that the result matches the original at its place and time,
// except at edges. It leaves the line at the left.
func (b *browser) inStep(time float64) {
	b.Helper()
	b.run("only the original", chromedp.SendKeys(".split", kb.End))
	b.until(still)
	ask[bool](b, `!!(window.original = `+pixels+`)`)
	b.run("only the result", chromedp.SendKeys(".split", kb.Home))
	b.until(still)
	apart := ask[float64](b, `(() => {
		const result = `+pixels+`;
		let seen = 0, apart = 0;
		for (let i = 0; i < result.length; i += 4) {
			if (result[i + 3] !== 255) continue;
			seen++;
			if (Math.abs(result[i] - original[i]) + Math.abs(result[i + 1] - original[i + 1]) + Math.abs(result[i + 2] - original[i + 2]) > 90) apart++;
		}
		return seen > 3000 ? apart / seen : 1;
	})()`)
	if apart > 0.1 {
		b.Errorf("at %v s %.0f %% of the result is not the original", time, 100*apart)
	}
}

// repeats runs the job again as a video, without an upload.
func (b *browser) repeats() {
	b.Helper()
	b.run("again", chromedp.Click(`a[href^="/?again="]`), chromedp.WaitVisible(`form.card[action$="/again"]`))
	b.run("as webm", chromedp.Click(`form.card [value=webm]`), chromedp.Click(`form.card[action$="/again"] button`))
	b.until(`location.pathname.startsWith("/jobs/job_")`)
	b.until(`document.querySelector("[data-view]").dataset.state === "done" && document.querySelector("canvas")`)
	b.until(`document.querySelector("[data-time]").max > 2.9`)
	if said := ask[string](b, `document.querySelector("[data-say]").innerText`); said != "" {
		b.Errorf("the viewer says %q", said)
	}
	b.until(`Number(document.querySelector("[data-time]").value) > 0`) // it plays
	b.run("only the result", chromedp.SendKeys(".split", kb.Home))
	if alpha := ask[int](b, fmt.Sprintf(alphaAt, 0.01, 0.01)); alpha > 7 { // VP9 adds noise
		b.Errorf("the corner of the video has alpha %d", alpha)
	}
}

// keys creates a key, uses it and revokes it.
func (b *browser) keys(s *service) {
	b.Helper()
	b.open("/keys")
	b.run("create", chromedp.SendKeys("#name", "journey"), chromedp.Submit("#name"), chromedp.WaitVisible("#secret"))
	secret := ask[string](b, `document.querySelector("#secret").innerText`)
	used := func() int {
		return s.person().get("/api/v1/jobs/job_x", "Authorization", "Bearer "+secret).status
	}
	if got := used(); got != http.StatusNotFound {
		b.Errorf("the key is answered %d", got)
	}
	b.run("revoke", chromedp.Click("[data-dialog]"), chromedp.WaitVisible("dialog[open]"))
	b.run("keep", chromedp.Click("dialog[open] [data-close]"), chromedp.WaitNotPresent("dialog[open]"))
	b.run("revoke", chromedp.Click("[data-dialog]"), chromedp.WaitVisible("dialog[open]"), chromedp.Click("dialog[open] .danger"))
	b.until(`location.search === "?after=revoked"`)
	if got := used(); got != http.StatusUnauthorized {
		b.Errorf("the revoked key is answered %d", got)
	}
}

// TestUploads uploads several files. Problems with other files appear before
// they are sent.
func TestUploads(t *testing.T) {
	t.Parallel()
	s := start(t, nil)
	s.user("ada@example.com", 50)
	b := s.chromium(380, 800)
	b.open("/")
	b.signIn("ada@example.com")
	b.drop(".drop", b.file("notes.txt", []byte("text")))
	b.until(`document.querySelector(".notice.error")?.innerText.includes("notes.txt cannot be used")`)
	b.drop(".drop", b.file("a.gif", clip(t)), b.file("broken.gif", []byte("GIF89a")))
	b.until(`!document.querySelector(".notice") && document.querySelectorAll("[data-files] li").length === 2`)
	b.drop(".drop", b.file("<img src=x>.gif", clip(t)))
	b.until(`document.querySelectorAll("[data-files] li").length === 3 && document.querySelector("[data-send]").innerText.includes("3")`)
	b.run("remove one", chromedp.Click(`[aria-label="Remove a.gif"]`))
	b.until(`document.querySelectorAll("[data-files] li").length === 2`)
	b.run("send", chromedp.Click("[data-send]"))
	b.until(`document.querySelectorAll(".job[data-state=failed]").length === 1 && document.querySelectorAll(".job[data-state=done]").length === 1`)
	b.until(`document.querySelector("[data-balance]").innerText === "46"`) // the broken one is refunded
	if ask[bool](b, `!!document.querySelector("img[src=x]")`) {
		t.Error("the name of a file is markup")
	}
	b.run("show", chromedp.Click(".job[data-state=failed] a"))
	b.until(`document.querySelector(".viewer .notice")?.innerText.includes("3 credits were refunded")`)
}

// TestFollowing checks that a page shows changes made elsewhere.
func TestFollowing(t *testing.T) {
	t.Parallel()
	s := start(t, nil)
	s.user("ada@example.com", 50)
	b := s.chromium(1280, 800)
	b.open("/")
	b.signIn("ada@example.com")
	p := s.signedIn("ada@example.com")
	id := p.upload("/jobs", []string{"elsewhere.gif", string(clip(t))}).jobID()
	b.until(fmt.Sprintf(`document.getElementById(%q)?.dataset.state === "done"`, id))
	b.until(fmt.Sprintf(`document.getElementById(%q).querySelector("img")?.complete`, id))
}
