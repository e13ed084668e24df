package dashboard_test

import (
	"context"
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"sync"
	"testing"
	"time"

	cdpbrowser "github.com/chromedp/cdproto/browser"
	"github.com/chromedp/cdproto/cdp"
	"github.com/chromedp/cdproto/emulation"
	"github.com/chromedp/cdproto/input"
	"github.com/chromedp/cdproto/log"
	"github.com/chromedp/cdproto/runtime"
	"github.com/chromedp/chromedp"

	"github.com/bgremove/bgremove/internal/browsertest"
)

// browser is a Chromium that a test drives. Errors on its pages fail the test,
// such as something that the content security policy refuses.
type browser struct {
	testing.TB
	ctx       context.Context
	url       string
	downloads string // a folder
	expected  string // part of expected errors; empty: none is expected
}

// chromium starts a browser for a test, with pages of the given width.
func (s *service) chromium(width, height int64) *browser {
	s.Helper()
	options := append(chromedp.DefaultExecAllocatorOptions[:], chromedp.ExecPath(browsertest.Chromium(s)),
		chromedp.UserDataDir(s.TempDir()), chromedp.Flag("force-color-profile", "srgb"))
	if os.Getuid() == 0 {
		options = append(options, chromedp.NoSandbox)
	}
	ctx, cancel := chromedp.NewExecAllocator(s.Context(), options...)
	s.Cleanup(cancel)
	ctx, cancel = chromedp.NewContext(ctx)
	s.Cleanup(cancel)
	if err := chromedp.Do(ctx); err != nil { // it lives as long as this context, which never ends
		s.Fatal(err)
	}
	ctx, cancel = context.WithTimeout(ctx, 5*time.Minute)
	s.Cleanup(cancel)
	b := &browser{TB: s.TB, ctx: ctx, url: s.url, downloads: s.TempDir()}
	b.listen()
	b.run("start", chromedp.EmulateViewport(width, height))
	call(b, log.Enable, cdp.Empty{})
	enabled := true
	if _, err := chromedp.CallBrowser(ctx, cdpbrowser.SetDownloadBehavior, cdpbrowser.SetDownloadBehaviorParams{
		Behavior: cdpbrowser.SetDownloadBehaviorBehaviorAllowAndName, DownloadPath: b.downloads, EventsEnabled: &enabled,
	}); err != nil {
		b.Fatal(err)
	}
	return b
}

// listen reports errors on pages.
func (b *browser) listen() {
	b.Helper()
	var mu sync.Mutex
	var wrong []string
	err := chromedp.Listen(b.ctx, func(event any) {
		mu.Lock()
		defer mu.Unlock()
		switch e := event.(type) {
		case *runtime.EventExceptionThrown:
			wrong = append(wrong, exception(e.ExceptionDetails))
		case *log.EventEntryAdded:
			if e.Entry.Level == log.EntryLevelError {
				wrong = append(wrong, e.Entry.Text+" "+e.Entry.URL)
			}
		}
	})
	if err != nil {
		b.Fatal(err)
	}
	b.Cleanup(func() {
		mu.Lock()
		defer mu.Unlock()
		for _, w := range wrong {
			if b.expected != "" && strings.Contains(w, b.expected) {
				continue
			}
			b.Errorf("the browser says: %s", w)
		}
	})
}

// call runs a command of the browser's protocol.
func call[P, R any](b *browser, command cdp.Command[P, R], params P) {
	b.Helper()
	if _, err := chromedp.Call(b.ctx, command, params); err != nil {
		b.Fatal(command.Method, err)
	}
}

// run does steps one after another.
func (b *browser) run(what string, steps ...chromedp.Action[chromedp.Void]) {
	b.Helper()
	ctx, cancel := context.WithTimeout(b.ctx, time.Minute)
	defer cancel()
	if err := chromedp.Do(ctx, steps...); err != nil {
		b.lost(what, err)
	}
}

// lost ends the test because the browser makes no progress.
func (b *browser) lost(what string, err error) {
	b.Helper()
	shown, _ := chromedp.Run(b.ctx, chromedp.Evaluate[string]("location.href + \"\\n\" + document.body.innerText"))
	b.Fatalf("%s: %v\nthe page shows: %s", what, err, shown)
}

func (b *browser) open(path string) {
	b.Helper()
	b.run(path, chromedp.Navigate(b.url+path), chromedp.WaitVisible("footer"))
}

// theme selects light or dark.
func (b *browser) theme(name string) {
	b.Helper()
	b.prefers(map[string]string{"prefers-color-scheme": name, "prefers-reduced-motion": "reduce"})
}

// prefers sets what the system is said to prefer, by media features.
func (b *browser) prefers(features map[string]string) {
	b.Helper()
	var all []*emulation.MediaFeature
	for name, value := range features {
		all = append(all, &emulation.MediaFeature{Name: name, Value: value})
	}
	call(b, emulation.SetEmulatedMedia, emulation.SetEmulatedMediaParams{Features: all})
}

// narrow reports what is wider than the window, and makes the page so, and links of the
// navigation that are outside.
func (b *browser) narrow(page string) {
	b.Helper()
	const wide = `(() => {
  const width = document.documentElement.clientWidth, all = document.documentElement.scrollWidth;
  const outside = [...document.querySelectorAll(".top a")].filter((e) => e.getBoundingClientRect().right > width + 1);
  if (outside.length) return "without " + outside.map((e) => e.innerText).join();
  if (all <= width) return "";
  const over = [...document.querySelectorAll("body *")].filter((e) => e.getBoundingClientRect().right > width + 1);
  return all + " wide in a window of " + width + ": " + over.map((e) => e.tagName + "." + e.className).join(" ");
})()`
	if found := ask[string](b, wide); found != "" {
		b.Errorf("%s is %s", page, found)
	}
}

// ask evaluates an expression, and waits for it if it is a promise.
func ask[T any](b *browser, expression string) T {
	b.Helper()
	v, err := chromedp.Run(b.ctx, chromedp.Evaluate[T](expression, chromedp.EvalAwaitPromise))
	if err != nil {
		b.lost(expression, err)
	}
	return v
}

// until waits for an expression to become true, even across navigations.
func (b *browser) until(expression string) {
	b.Helper()
	deadline := time.After(time.Minute)
	for tick := time.NewTicker(20 * time.Millisecond); ; {
		got, err := chromedp.Run(b.ctx, chromedp.Evaluate[bool]("!!("+expression+")"))
		if err == nil && got {
			return
		}
		select {
		case <-tick.C:
		case <-deadline:
			b.lost("wait until "+expression, err)
		case <-b.ctx.Done():
			b.lost("wait until "+expression, b.ctx.Err())
		}
	}
}

// signIn fills in the sign-in form.
func (b *browser) signIn(email string) {
	b.Helper()
	b.run("sign in", chromedp.SendKeys("#email", email), chromedp.SendKeys("#password", password), chromedp.Submit("#password"), chromedp.WaitVisible("nav"))
}

// workbench is a browser with the workbench of somebody who is signed in, whose scripts have run.
func (s *service) workbench(email string) *browser {
	s.Helper()
	b := s.chromium(1280, 900)
	b.open("/")
	b.signIn(email)
	b.open("/") // to the end of its scripts
	return b
}

// drop drops files on an element, as from a file manager.
func (b *browser) drop(selector string, files ...string) {
	b.Helper()
	at := ask[struct{ X, Y float64 }](b, fmt.Sprintf(
		`(() => { const r = document.querySelector(%q).getBoundingClientRect(); return {X: r.x + r.width / 2, Y: r.y + r.height / 2}; })()`, selector))
	data := &input.DragData{Items: []*input.DragDataItem{}, Files: files, DragOperationsMask: 1}
	for _, kind := range []input.DispatchDragEventType{input.DispatchDragEventTypeDragEnter, input.DispatchDragEventTypeDragOver, input.DispatchDragEventTypeDrop} {
		call(b, input.DispatchDragEvent, input.DispatchDragEventParams{Type: kind, X: at.X, Y: at.Y, Data: data})
	}
}

// file creates a file on the machine of the browser.
func (b *browser) file(name string, content []byte) string {
	b.Helper()
	path := filepath.Join(b.TempDir(), name)
	if err := os.WriteFile(path, content, 0o600); err != nil {
		b.Fatal(err)
	}
	return path
}

// download follows a link to a file, and reads the file.
func (b *browser) download(selector string) []byte {
	b.Helper()
	return b.downloaded(chromedp.Click(selector))
}

// downloaded does a step that begins a download, and reads the file.
func (b *browser) downloaded(step chromedp.Action[chromedp.Void]) []byte {
	b.Helper()
	done := make(chan string, 1)
	ctx, cancel := context.WithCancel(b.ctx)
	defer cancel()
	err := chromedp.ListenBrowser(ctx, func(event any) {
		if e, ok := event.(*cdpbrowser.EventDownloadProgress); ok && e.State == cdpbrowser.DownloadProgressStateCompleted {
			done <- e.GUID
		}
	})
	if err != nil {
		b.Fatal(err)
	}
	b.run("download", step)
	select {
	case id := <-done:
		content, err := os.ReadFile(filepath.Join(b.downloads, id))
		if err != nil {
			b.Fatal(err)
		}
		return content
	case <-b.ctx.Done():
		b.Fatal("no download has come")
		return nil
	}
}

// violations are the problems that axe-core calls serious or critical.
func (b *browser) violations(axe string) []string {
	b.Helper()
	b.run("axe", chromedp.Evaluate[chromedp.Void](axe))
	return ask[[]string](b, `axe.run(document).then(r => (r.passes.length < 5 ? [{impact: "serious", id: "axe did not run", nodes: []}] : r.violations)
		.filter(v => ["serious", "critical"].includes(v.impact)).map(v => v.id + ": " + v.nodes.map(n => n.html + " " + n.failureSummary).join("; ")))`)
}

func exception(e *runtime.ExceptionDetails) string {
	if e.Exception != nil {
		return e.Text + " " + e.Exception.Description
	}
	return e.Text
}
