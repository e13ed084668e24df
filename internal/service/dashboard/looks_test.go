package dashboard_test

import (
	"encoding/json"
	"fmt"
	"net/http"
	"os"
	"path/filepath"
	"testing"

	"github.com/chromedp/chromedp"

	"github.com/bgremove/bgremove/internal/browsertest"
	"github.com/bgremove/bgremove/internal/service/mailer/mailertest"
	"github.com/bgremove/bgremove/internal/service/server"
)

// axe is the script of axe-core.
func axe(t testing.TB) string {
	t.Helper()
	script, err := os.ReadFile(os.Getenv("BGREMOVE_TEST_AXE"))
	if err != nil {
		browsertest.Missing(t, "BGREMOVE_TEST_AXE names no script of axe-core, make test does: %v", err)
	}
	return string(script)
}

// jobs submits files one after another and waits for the jobs.
func (p *person) jobs(files []string, options ...string) (ids []string) {
	p.Helper()
	got := p.upload("/api/jobs", files, options...)
	var made struct{ Jobs []struct{ ID string } }
	if err := json.Unmarshal([]byte(got.body), &made); err != nil || got.status != http.StatusAccepted {
		p.Fatalf("%d %s: %v", got.status, got.body, err)
	}
	for _, j := range made.Jobs {
		p.ended(j.ID)
		ids = append(ids, j.ID)
	}
	return ids
}

// shown is a page to look at.
type shown struct{ name, path string }

// furnished is a service with something on every page.
func furnished(t *testing.T) (s *service, before, after []shown) {
	t.Helper()
	post := mailertest.Start(t, mailertest.Config{})
	s = start(t, func(c *server.Config) {
		public(t, c)
		c.SignUp = true
		c.Shop = newTill(t).sells()
		c.Mail = mails(post)
	})
	s.user("ada@example.com", 150)
	p := s.signedIn("ada@example.com")
	gif := string(clip(t))
	mp4, err := os.ReadFile("../../../testdata/demo/hop.mp4")
	if err != nil {
		t.Fatal(err)
	}
	failed := p.jobs([]string{"broken <b>.gif", "GIF89a", "hop on and on, with a very long name.gif", gif, "small.gif", gif}, "pad", "4")[0]
	video := p.jobs([]string{"hop.mp4", string(mp4)}, "outputFormat", "webm", "crop", "false")[0]
	p.jobs([]string{"banner.mp4", string(mp4)}, "outputFormat", "mp4", "bgColor", "#ffcc00")
	done := p.jobs([]string{"hop.gif", gif})[0]
	p.post("/keys", "name", "sticker bot").says(http.StatusCreated)
	p.post("/keys", "name", "my laptop").says(http.StatusCreated)
	before = []shown{{"signin", "/signin"}, {"signup", "/signup"}, {"reset", "/reset"}, {"newpassword", "/reset/x"}, {"confirm", "/confirm/x"}}
	after = []shown{
		{"workbench", "/"}, {"again", "/?again=" + done}, {"jobs", "/jobs"}, {"none", "/jobs?state=queued"}, {"job", "/jobs/" + done},
		{"video", "/jobs/" + video}, {"failed", "/jobs/" + failed}, {"keys", "/keys"}, {"webhooks", "/webhooks"}, {"credits", "/credits"}, {"account", "/account"},
	}
	return s, before, after
}

// TestLooks opens every page in both themes, wide and narrow. It allows no
// serious problems by axe-core, nothing wider than the window, nothing that
// jumps, and little to load. BGREMOVE_SCREENSHOTS names a folder for pictures
// of all pages.
func TestLooks(t *testing.T) {
	t.Parallel()
	script := axe(t)
	browsertest.Chromium(t)
	s, before, after := furnished(t)
	for _, width := range []int64{1280, 380} {
		b := s.chromium(width, 900)
		look := func(pages []shown) {
			for _, page := range pages {
				b.weigh(page)
				for _, theme := range []string{"light", "dark"} {
					b.theme(theme)
					b.settled(page)
					b.picture(fmt.Sprintf("%s-%d-%s.png", page.name, width, theme))
					for _, v := range b.violations(script) {
						t.Errorf("%s, %d wide, %s: %s", page.name, width, theme, v)
					}
					b.narrow(page.name)
				}
			}
		}
		look(before)
		b.open("/signin")
		b.signIn("ada@example.com")
		look(after)
		b.open("/keys")
		b.run("create", chromedp.SendKeys("#name", "shown once"), chromedp.Submit("#name"), chromedp.WaitVisible("#secret"))
		for _, v := range b.violations(script) {
			t.Errorf("a new key, %d wide: %s", width, v)
		}
		b.run("sign out", chromedp.Click(".who button"), chromedp.WaitVisible("#password"))
		b.open("/signup")
		b.run("sign up", chromedp.SendKeys("#email", fmt.Sprintf("eve%d@example.com", width)), chromedp.SendKeys("#password", password), chromedp.Submit("#password"),
			chromedp.WaitVisible("[data-upload]"))
		look([]shown{{"unconfirmed", "/"}})
	}
}

// TestZoom opens every page as at a zoom of 400 % in a window of 1,280 pixels. Nothing is wider.
func TestZoom(t *testing.T) {
	t.Parallel()
	browsertest.Chromium(t)
	s, before, after := furnished(t)
	b := s.chromium(320, 256)
	look := func(pages []shown) {
		for _, page := range pages {
			b.settled(page)
			b.narrow(page.name)
		}
	}
	look(before)
	b.open("/signin")
	b.signIn("ada@example.com")
	look(after)
}

// TestForcedColours shows states, the shown job and the viewer's handle in a contrast theme of
// the system, which replaces the pages' colours.
func TestForcedColours(t *testing.T) {
	t.Parallel()
	browsertest.Chromium(t)
	s := start(t, func(*server.Config) {})
	s.user("ada@example.com", 20)
	id := s.signedIn("ada@example.com").jobs([]string{"hop.gif", string(clip(t))})[0]
	b := s.chromium(1280, 900)
	b.open("/signin")
	b.signIn("ada@example.com")
	b.prefers(map[string]string{"forced-colors": "active"})
	const apart = `((selector) => {
  const e = document.querySelector(selector), style = getComputedStyle(e, "::before");
  const canvas = getComputedStyle(document.body).backgroundColor;
  return style.backgroundColor !== canvas || style.borderStyle !== "none" || style.boxShadow !== "none" ? "" : selector + " is of the colour behind it";
})`
	b.open("/")
	ask[bool](b, `document.querySelector(".job").classList.toggle("shown", true)`)
	if style := ask[string](b, `getComputedStyle(document.querySelector(".job.shown")).outlineStyle`); style != "solid" {
		t.Errorf("the shown job has the outline %s", style)
	}
	for path, selectors := range map[string][]string{"/": {".state"}, "/jobs/" + id: {".state", ".handle"}} {
		b.settled(shown{path: path})
		b.until(`matchMedia("(forced-colors: active)").matches`)
		for _, selector := range selectors {
			b.until(fmt.Sprintf("document.querySelector(%q)", selector))
			if wrong := ask[string](b, fmt.Sprintf("%s(%q)", apart, selector)); wrong != "" {
				t.Errorf("%s: %s", path, wrong)
			}
		}
	}
}

// settled opens a page and waits until its scripts have finished.
func (b *browser) settled(page shown) {
	b.Helper()
	b.open(page.path)
	b.until(`document.readyState === "complete" && (!document.querySelector("[data-after]") || document.querySelector("canvas"))`)
}

// picture saves a picture of the whole page if requested.
func (b *browser) picture(name string) {
	b.Helper()
	folder := os.Getenv("BGREMOVE_SCREENSHOTS")
	if folder == "" {
		return
	}
	png, err := chromedp.Run(b.ctx, chromedp.FullScreenshot(100))
	if err == nil {
		err = os.WriteFile(filepath.Join(folder, name), png, 0o600)
	}
	if err != nil {
		b.Fatal(err)
	}
}

// heaviest is the largest size of a page in bytes as sent, without pictures and
// clips.
const heaviest = 60_000

// weigh measures a page with an empty cache.
func (b *browser) weigh(page shown) {
	b.Helper()
	b.theme("light")
	b.settled(page)
	b.until(`performance.getEntriesByName("first-contentful-paint").length`)
	got := ask[struct{ Sent, Paint, Shift float64 }](b, `new Promise(resolve => {
		const loaded = [...performance.getEntriesByType("navigation"), ...performance.getEntriesByType("resource")
			.filter(e => /\.(js|css)$/.test(e.name))];
		let shift = 0;
		new PerformanceObserver(list => { for (const e of list.getEntries()) shift += e.value; }).observe({type: "layout-shift", buffered: true});
		requestAnimationFrame(() => setTimeout(() => resolve({
			Sent: loaded.reduce((sum, e) => sum + e.encodedBodySize, 0),
			Paint: performance.getEntriesByName("first-contentful-paint")[0].startTime,
			Shift: shift,
		})));
	})`)
	b.Logf("%-11s %5.1f kB without pictures, first paint after %.0f ms, layout shift %.3f", page.name, got.Sent/1000, got.Paint, got.Shift)
	if got.Sent > heaviest || got.Sent == 0 {
		b.Errorf("%s weighs %.0f bytes", page.name, got.Sent)
	}
	if got.Shift > 0.01 {
		b.Errorf("%s jumps by %.3f", page.name, got.Shift)
	}
}
