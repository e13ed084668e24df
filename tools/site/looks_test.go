package main

import (
	"context"
	"fmt"
	"net/http"
	"net/http/httptest"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/chromedp/cdproto/cdp"
	"github.com/chromedp/cdproto/emulation"
	"github.com/chromedp/cdproto/log"
	"github.com/chromedp/cdproto/network"
	"github.com/chromedp/chromedp"
)

// looked are the pages that TestLooks opens: one of each kind.
var looked = []string{"", "reference/remove/", "api/code/", "api/operations/", "formats/", "cookbook/", "comparison/"}

// TestLooks opens pages of the site that make site has built, in both themes, wide and
// narrow: 320 is what a zoom of 400 % leaves of 1280. It allows no serious problem by axe-core, nothing wider than the window, no
// error, and no request to another host. BGREMOVE_SCREENSHOTS names a folder for pictures.
func TestLooks(t *testing.T) {
	t.Parallel()
	for _, width := range []int64{1280, 380, 320} {
		b := open(t, width)
		for _, page := range looked {
			for _, theme := range []string{"light", "dark"} {
				b.show(page, theme)
				at := fmt.Sprintf("%s-%d-%s", strings.ReplaceAll("page/"+page, "/", "-"), width, theme)
				b.picture(at + ".png")
				for _, v := range b.violations() {
					t.Errorf("%s: %s", at, v)
				}
				if wide := ask[int64](b, "document.documentElement.scrollWidth"); wide > width {
					t.Errorf("%s is %d wide", at, wide)
				}
			}
		}
	}
}

// TestStill opens the cookbook for readers with and without a wish for less motion.
func TestStill(t *testing.T) {
	t.Parallel()
	b := open(t, 1280)
	b.show("cookbook/", "light")
	const all = `[...document.querySelectorAll("article picture img")]`
	moving := ask[int](b, all+".length")
	if still := ask[int](b, all+`.filter((e) => e.currentSrc.endsWith("-still.webp")).length`); still < 6 || still != moving {
		t.Errorf("%d of %d pictures stand still", still, moving)
	}
	call(b, emulation.SetEmulatedMedia, emulation.SetEmulatedMediaParams{Features: []*emulation.MediaFeature{{Name: "prefers-reduced-motion", Value: "no-preference"}}})
	if still := ask[int](b, `new Promise((r) => setTimeout(r, 100)).then(() => `+all+`.filter((e) => e.currentSrc.endsWith("-still.webp")).length)`); still != 0 {
		t.Errorf("%d pictures stand still without a wish for it", still)
	}
}

// TestSearch finds a flag by a word of its meaning, on this site alone.
func TestSearch(t *testing.T) {
	t.Parallel()
	b := open(t, 1280)
	b.show("", "light")
	b.run("search", chromedp.SendKeys("input.md-search__input", "tolerance"),
		chromedp.WaitVisible(".md-search-result__item a[href*='reference/remove/'][href*='#tolerance']"))
}

// browser is a Chromium that shows the site.
type browser struct {
	testing.TB
	ctx context.Context
	url string
	axe string
}

// serve serves the built site until the test ends, at the address that it returns.
func serve(t *testing.T) string {
	t.Helper()
	folder := os.Getenv("BGREMOVE_TEST_SITE")
	if folder == "" {
		t.Skip("BGREMOVE_TEST_SITE names no built site; make site-test does")
	}
	files := httptest.NewServer(http.StripPrefix("/bgremove/", http.FileServer(http.Dir(folder))))
	t.Cleanup(files.Close)
	return files.URL + "/bgremove/"
}

// open starts a browser with pages of a width. An error on a page, and a request to
// another host, fail the test.
func open(t *testing.T, width int64) *browser {
	t.Helper()
	url := serve(t)
	axe, err := os.ReadFile(os.Getenv("BGREMOVE_TEST_AXE"))
	if err != nil {
		t.Fatal(err)
	}
	b := &browser{TB: t, ctx: chromium(t), url: url, axe: string(axe)}
	b.listen()
	b.run("start", chromedp.EmulateViewport(width, 900))
	call(b, log.Enable, cdp.Empty{})
	call(b, network.Enable, network.EnableParams{})
	return b
}

func chromium(t *testing.T) context.Context {
	t.Helper()
	options := append(chromedp.DefaultExecAllocatorOptions[:], chromedp.UserDataDir(t.TempDir()), chromedp.Flag("force-color-profile", "srgb"))
	for _, name := range []string{"chromium", "chromium-browser", "google-chrome"} {
		if path, err := exec.LookPath(name); err == nil {
			options = append(options, chromedp.ExecPath(path))
			break
		}
	}
	if os.Getuid() == 0 {
		options = append(options, chromedp.NoSandbox)
	}
	ctx, cancel := chromedp.NewExecAllocator(t.Context(), options...)
	t.Cleanup(cancel)
	ctx, cancel = chromedp.NewContext(ctx)
	t.Cleanup(cancel)
	if err := chromedp.Do(ctx); err != nil { // it lives as long as this context
		t.Fatal(err)
	}
	ctx, cancel = context.WithTimeout(ctx, 5*time.Minute)
	t.Cleanup(cancel)
	return ctx
}

// listen reports what pages ask other hosts for, and errors, such as something that the
// content security policy refuses.
func (b *browser) listen() {
	b.Helper()
	var mu sync.Mutex
	wrong := map[string]bool{}
	err := chromedp.Listen(b.ctx, func(event any) {
		mu.Lock()
		defer mu.Unlock()
		switch e := event.(type) {
		case *network.EventRequestWillBeSent:
			if !strings.HasPrefix(e.Request.URL, b.url) && !strings.HasPrefix(e.Request.URL, "data:") {
				wrong["request to "+e.Request.URL] = true
			}
		case *log.EventEntryAdded:
			if e.Entry.Level == log.EntryLevelError {
				wrong[e.Entry.Text+" "+e.Entry.URL] = true
			}
		}
	})
	if err != nil {
		b.Fatal(err)
	}
	b.Cleanup(func() {
		mu.Lock()
		defer mu.Unlock()
		for w := range wrong {
			b.Errorf("the browser says: %s", w)
		}
	})
}

// show opens a page where the system has a theme, which the site follows.
func (b *browser) show(page, theme string) {
	b.Helper()
	call(b, emulation.SetEmulatedMedia, emulation.SetEmulatedMediaParams{Features: []*emulation.MediaFeature{
		{Name: "prefers-color-scheme", Value: theme}, {Name: "prefers-reduced-motion", Value: "reduce"},
	}})
	scheme := map[string]string{"light": "default", "dark": "slate"}[theme]
	b.run(page+" in "+theme, chromedp.Navigate(b.url+page), chromedp.WaitReady(`body[data-md-color-scheme="`+scheme+`"]`))
}

func (b *browser) picture(name string) {
	b.Helper()
	folder := os.Getenv("BGREMOVE_SCREENSHOTS")
	if folder == "" {
		return
	}
	png, err := chromedp.Run(b.ctx, chromedp.CaptureScreenshot())
	if err == nil {
		err = os.WriteFile(filepath.Join(folder, name), png, 0o600)
	}
	if err != nil {
		b.Fatal(err)
	}
}

// violations are the problems that axe-core calls serious or critical. The theme lets the
// keyboard reach code that scrolls where there is a mouse, which a test's browser lacks.
func (b *browser) violations() []string {
	b.Helper()
	b.run("axe", chromedp.Evaluate[chromedp.Void](b.axe))
	return ask[[]string](b, `axe.run(document).then(r => (r.passes.length < 5 ? [{impact: "serious", id: "axe did not run", nodes: [{}]}] : r.violations)
		.filter(v => ["serious", "critical"].includes(v.impact))
		.map(v => ({id: v.id, nodes: v.nodes.filter(n => v.id !== "scrollable-region-focusable" || !n.html.startsWith("<code"))}))
		.filter(v => v.nodes.length)
		.map(v => v.id + ": " + v.nodes.slice(0, 3).map(n => n.html + " " + n.failureSummary).join("; ")))`)
}

// run does steps one after another.
func (b *browser) run(what string, steps ...chromedp.Action[chromedp.Void]) {
	b.Helper()
	ctx, cancel := context.WithTimeout(b.ctx, time.Minute)
	defer cancel()
	if err := chromedp.Do(ctx, steps...); err != nil {
		b.Fatalf("%s: %v", what, err)
	}
}

// ask evaluates an expression, and waits for it if it is a promise.
func ask[T any](b *browser, expression string) T {
	b.Helper()
	v, err := chromedp.Run(b.ctx, chromedp.Evaluate[T](expression, chromedp.EvalAwaitPromise))
	if err != nil {
		b.Fatalf("%s: %v", expression, err)
	}
	return v
}

// call runs a command of the browser's protocol.
func call[P, R any](b *browser, command cdp.Command[P, R], params P) {
	b.Helper()
	if _, err := chromedp.Call(b.ctx, command, params); err != nil {
		b.Fatal(command.Method, err)
	}
}
