package dashboard_test

import (
	"bytes"
	"context"
	"fmt"
	"image/png"
	"net/http"
	"os"
	"strings"
	"testing"
	"time"

	"github.com/chromedp/cdproto/cdp"
	"github.com/chromedp/cdproto/dom"
	"github.com/chromedp/cdproto/emulation"
	"github.com/chromedp/cdproto/input"
	cdppage "github.com/chromedp/cdproto/page"
	"github.com/chromedp/chromedp"
	"github.com/chromedp/chromedp/kb"

	"github.com/bgremove/bgremove/internal/browsertest"
	"github.com/bgremove/bgremove/internal/service/account"
	"github.com/bgremove/bgremove/internal/service/server"
)

// focusSeen is a function that says why the focus cannot be seen, or nothing. The ring is an outline
// of the element, or of what is shown in its place. It contrasts by 3:1 with what it lies on
// (WCAG 2.2, 1.4.11), and the element is in the window (2.4.11).
const focusSeen = `(() => {
  const e = document.activeElement;
  const name = [e.tagName.toLowerCase(), e.name || e.className || e.innerText?.trim(), ...Object.keys(e.dataset)].join(" ");
  if (e === document.body) return "there is no focus";
  const of = (x, pseudo) => (x ? { x, style: getComputedStyle(x, pseudo) } : null);
  const places = [of(e), of(e.closest(".drop, .choice")), of(e.closest(".job")), e.matches(".split") ? of(e.nextElementSibling, "::after") : null];
  const ring = places.find((p) => p && p.style.opacity !== "0" && p.style.outlineStyle !== "none" && parseFloat(p.style.outlineWidth) >= 2);
  if (!ring) return "no ring on " + name;
  const parts = (colour) => colour.match(/[\d.]+/g).map(Number);
  const light = (colour) => {
    const [r, g, b] = parts(colour).map((v) => (v / 255 <= 0.04045 ? v / 255 / 12.92 : ((v / 255 + 0.055) / 1.055) ** 2.4));
    return 0.2126 * r + 0.7152 * g + 0.0722 * b;
  };
  let under = ring.x;
  if (ring.style.outlineOffset.startsWith("-") === false) under = ring.x.parentElement;
  while (parts(getComputedStyle(under).backgroundColor)[3] === 0 && under.parentElement) under = under.parentElement;
  const ground = ring.x === e.nextElementSibling ? ring.style.backgroundColor : getComputedStyle(under).backgroundColor;
  const [a, b] = [light(ring.style.outlineColor), light(ground)].sort();
  if ((b + 0.05) / (a + 0.05) < 3) return "the ring " + ring.style.outlineColor + " on " + ground + " is not seen on " + name;
  const at = e.getBoundingClientRect();
  if (at.bottom <= 0 || at.top >= innerHeight || at.right <= 0 || at.left >= innerWidth) return name + " is not in the window";
  return "";
})`

// keepsFocus makes every page throw an error when the focus is lost: an element had it, and
// then none has.
const keepsFocus = `(() => {
  let last;
  const look = () => {
    requestAnimationFrame(look);
    const now = document.activeElement;
    if (now && now !== document.body) last = now;
    else if (last) {
      const lost = last.outerHTML.slice(0, 200);
      last = null;
      throw new Error("the focus is lost after " + lost);
    }
  };
  requestAnimationFrame(look);
})()`

// keyboard is a browser without a pointer. Everywhere the focus must be seen, and it is never lost.
func (s *service) keyboard() *browser {
	s.Helper()
	b := s.chromium(1280, 900)
	call(b, cdppage.AddScriptToEvaluateOnNewDocument, cdppage.AddScriptToEvaluateOnNewDocumentParams{Source: keepsFocus})
	call(b, cdppage.Enable, cdppage.EnableParams{})
	call(b, emulation.SetFocusEmulationEnabled, emulation.SetFocusEmulationEnabledParams{Enabled: true})
	return b
}

// press presses keys one after another, and checks that the focus can be seen.
func (b *browser) press(keys string, options ...chromedp.KeyOption) {
	b.Helper()
	b.run("press", typed(keys, options...))
	b.seen()
}

// typed presses keys one after another. Unlike chromedp.KeyEvent, it sends a key and its character
// as one: a page that uses a key can then keep the browser from using it, too.
func typed(keys string, options ...chromedp.KeyOption) chromedp.Action[chromedp.Void] {
	return chromedp.Func(func(ctx context.Context, t *chromedp.Target) error {
		for _, r := range keys {
			events := kb.Encode(r)
			if len(events) == 3 {
				events[0].Type, events[0].Text, events[0].UnmodifiedText = input.DispatchKeyEventTypeKeyDown, events[1].Text, events[1].UnmodifiedText
				events = append(events[:1], events[2])
			}
			for _, e := range events {
				for _, o := range options {
					o(e)
				}
				if _, err := cdp.Call(ctx, t, input.DispatchKeyEvent, *e); err != nil {
					return err
				}
			}
		}
		return nil
	})
}

// seen checks that the focus can be seen.
func (b *browser) seen() {
	b.Helper()
	if wrong := ask[string](b, focusSeen+"()"); wrong != "" {
		b.Errorf("%s: %s", ask[string](b, "location.pathname"), wrong)
	}
}

// focused waits until an element has the focus.
func (b *browser) focused(selector string) {
	b.Helper()
	b.until(fmt.Sprintf("document.activeElement.matches(%q)", selector))
	b.seen()
}

// tab goes forward to an element by the tab key.
func (b *browser) tab(selector string) {
	b.Helper()
	b.reach(selector)
}

// back goes back to an element by the tab key.
func (b *browser) back(selector string) {
	b.Helper()
	b.reach(selector, chromedp.KeyModifiers(chromedp.ModifierShift))
}

// reach presses the tab key until an element has the focus.
func (b *browser) reach(selector string, options ...chromedp.KeyOption) {
	b.Helper()
	for range 120 {
		b.press(kb.Tab, options...)
		if ask[bool](b, fmt.Sprintf("document.activeElement.matches(%q)", selector)) {
			return
		}
	}
	b.Fatalf("the tab key does not reach %s", selector)
}

// pick presses Space on an input of files, and picks files in the system's dialog.
func (b *browser) pick(files ...string) {
	b.Helper()
	call(b, cdppage.SetInterceptFileChooserDialog, cdppage.SetInterceptFileChooserDialogParams{Enabled: true})
	opened := make(chan cdp.BackendNodeID, 1)
	ctx, cancel := context.WithTimeout(b.ctx, time.Minute)
	defer cancel()
	err := chromedp.Listen(ctx, func(event any) {
		if e, ok := event.(*cdppage.EventFileChooserOpened); ok {
			opened <- e.BackendNodeID
		}
	})
	if err != nil {
		b.Fatal(err)
	}
	b.press(" ")
	select {
	case id := <-opened:
		call(b, dom.SetFileInputFiles, dom.SetFileInputFilesParams{Files: files, BackendNodeID: id})
	case <-ctx.Done():
		b.Fatal("no dialog has come")
	}
}

// TestKeyboardJourney goes from the sign-up to the sign-out by keys that everybody has: Tab,
// Enter, Space, arrows and Escape.
func TestKeyboardJourney(t *testing.T) {
	t.Parallel()
	library := os.Getenv("BGREMOVE_ONNXRUNTIME")
	if library == "" {
		browsertest.Missing(t, "BGREMOVE_ONNXRUNTIME names no ONNX Runtime, make test does")
	}
	s := start(t, func(c *server.Config) {
		c.SignUp, c.Jobs.Unlimited, c.Engine.Library = true, true, library
		c.AccountRate = account.Rate{PerMinute: 1e5, Burst: 1e5}
	})
	b := s.keyboard()
	b.open("/signup")
	b.focused("#email")
	b.press("kit@example.com" + kb.Tab + password + kb.Tab)
	b.run("sign up", typed(kb.Enter))
	b.until(`document.readyState === "complete" && document.querySelector("[data-upload]")`)
	b.submits()
	b.opens()
	b.marksByKeys()
	b.tab("[data-apply]")
	before := ask[string](b, "location.pathname")
	b.run("apply", typed(kb.Enter))
	b.until(fmt.Sprintf(`location.pathname.startsWith("/jobs/job_") && location.pathname !== %q && document.querySelector("[data-view][data-state=done] canvas")`, before))
	b.tab("a[download]")
	img, err := png.Decode(bytes.NewReader(b.downloaded(typed(kb.Enter)))) // its first frame
	if err != nil {
		t.Fatal(err)
	}
	_, _, _, kept := img.At(20, 22).RGBA()
	_, _, _, dropped := img.At(92, 56).RGBA()
	if kept < 0xf000 || dropped > 0x1000 {
		t.Errorf("what was kept has alpha %d, what was dropped %d", kept>>8, dropped>>8)
	}
	b.makesKey()
	b.back(".who button")
	b.run("sign out", typed(kb.Enter))
	b.until(`location.pathname === "/signin"`)
	b.focused("#email")
}

// submits picks two clips, removes one of them, sets options and sends the other.
func (b *browser) submits() {
	b.Helper()
	b.press(kb.Tab)
	b.focused(".skip")
	b.press(kb.Enter)
	b.focused("#main")
	b.tab("input[type=file]")
	b.pick(b.file("hop.gif", clip(b)), b.file("two.mp4", twoSubjects(b)))
	b.until(`document.querySelectorAll("[data-files] li").length === 2`)
	b.tab(`[aria-label="Remove hop.gif"]`)
	b.press(kb.Enter)
	b.focused(`[aria-label="Remove two.mp4"]`)
	b.press(" ")
	b.focused("input[type=file]")
	b.pick(b.file("two.mp4", twoSubjects(b)))
	b.until(`document.querySelectorAll("[data-files] li").length === 1`)
	b.tab(".options summary")
	b.press(kb.Enter)
	b.tab("[name=outputFormat]")
	b.press(kb.ArrowRight)
	b.focused("[value=apng]:checked")
	b.tab("[name=crop]")
	b.press(kb.ArrowRight)
	b.focused("[name=crop][value=false]:checked")
	b.tab("[data-send]")
	b.press(kb.Enter)
	b.until(`document.querySelector("[data-view][data-state=done] canvas")`)
	b.focused("[data-view]")
}

// opens shows the job from the list, compares, and goes to the editor.
func (b *browser) opens() {
	b.Helper()
	b.tab(".job a")
	b.press(kb.Enter)
	b.focused("[data-view]")
	b.until(`document.querySelector(".split")`)
	b.tab(".split")
	b.press(kb.ArrowLeft)
	b.until(`document.querySelector(".split").value === "49"`)
	b.tab("[data-play]")
	b.press(" ")
	b.until(`document.querySelector("[data-play]").innerText === "Play"`)
	b.tab("[data-subject] summary")
	b.press(kb.Enter)
	b.until(`document.querySelector("[data-subject]").dataset.ready === "" && document.querySelector("[data-picture] canvas").width > 300`)
	b.tab("[data-picture] canvas")
}

// marksByKeys keeps the red square and drops the blue one, after some marks that are taken back.
func (b *browser) marksByKeys() {
	const canvas = "[data-picture] canvas"
	far := strings.Repeat // a key, by steps of 2 pixels
	b.press(kb.Enter)
	b.marks(1)
	for _, button := range []string{"[data-undo]", "[data-clear]"} {
		b.tab(button)
		b.press(kb.Enter)
		b.marks(0)
		b.focused(canvas) // the button has nothing to do any more
		b.press(kb.Enter)
		b.marks(1)
	}
	b.tab(`[aria-label^="Remove mark 1"]`)
	b.press(kb.Enter)
	b.marks(0)
	b.focused(canvas)
	b.press(far(kb.ArrowLeft, 20) + far(kb.ArrowUp, 9) + kb.Enter) // from 60, 40 to 20, 22
	b.marks(1)
	b.tab("[data-subject] [name=mark]")
	b.press(kb.ArrowRight)
	b.focused("[value=drop]:checked")
	b.back(canvas)
	b.press(far(kb.ArrowRight, 34) + far(kb.ArrowDown, 15) + " " + far(kb.ArrowRight, 4) + kb.Escape) // at 88, 52
	b.press(" " + far(kb.ArrowLeft, 2) + far(kb.ArrowDown, 4) + " ")
	b.marks(2)
	listed := ask[string](b, `[...document.querySelectorAll("[data-marks] li > :first-child")].map((e) => e.innerText).join("; ")`)
	if want := "+ keep, click at 20, 22, 0.00 s; − drop, stroke at 96, 52, 0.00 s"; listed != want {
		b.Errorf("the marks are %q, want %q", listed, want)
	}
}

// makesKey makes a key, and opens and leaves the dialog that would revoke it.
func (b *browser) makesKey() {
	b.Helper()
	b.back(`nav a[href="/keys"]`)
	b.run("to the keys", typed(kb.Enter))
	b.until(`document.querySelector("#name")`)
	b.tab("#name")
	b.run("create", typed("sticker bot"+kb.Enter))
	b.until(`document.querySelector("#secret")`)
	b.tab("[data-dialog]")
	b.press(kb.Enter)
	b.focused("dialog[open] [data-close]") // and not on what cannot be undone
	b.press(kb.Escape)
	b.focused("[data-dialog]")
	b.press(kb.Enter)
	b.focused("dialog[open] [data-close]")
	b.press(kb.Enter)
	b.focused("[data-dialog]")
}

// TestFocusStays has the focus on a part of a job that goes when the job ends.
func TestFocusStays(t *testing.T) {
	t.Parallel()
	s := start(t, func(c *server.Config) { c.Role = server.API })
	s.user("ada@example.com", 50)
	p := s.signedIn("ada@example.com")
	id := p.upload("/jobs", []string{"hop.gif", string(clip(t))}).jobID()
	b := s.keyboard()
	b.open("/")
	b.signIn("ada@example.com")
	b.open("/jobs/" + id)
	b.tab(".viewer .danger")
	p.do(http.MethodPost, "/jobs/"+id+"/cancel", "application/x-www-form-urlencoded", nil)
	b.until(`document.querySelector("[data-view][data-state=cancelled]")`)
	b.focused("[data-view]")
}

// TestKeyboard reaches everything on the workbench with the tab key.
func TestKeyboard(t *testing.T) {
	t.Parallel()
	s := start(t, nil)
	s.user("ada@example.com", 50)
	s.signedIn("ada@example.com").jobs([]string{"hop.gif", string(clip(t))})
	b := s.chromium(1280, 900)
	b.open("/")
	b.signIn("ada@example.com")
	for _, theme := range []string{"light", "dark"} {
		b.theme(theme)
		b.settled(shown{"workbench", "/"})
		var seen []string
		for {
			b.run("tab", typed(kb.Tab))
			if ask[bool](b, "document.activeElement === document.body") { // the end of the page
				break
			}
			b.seen()
			seen = append(seen, ask[string](b, `(e => [e.tagName, e.name || e.className || e.innerText?.trim(), Object.keys(e.dataset)].join(" ").toLowerCase())(document.activeElement)`))
		}
		all := strings.Join(seen, "\n")
		for _, want := range []string{"a skip", "brand", "workbench", "account", "balance", "plain", "input file", "summary", "send", "play", "time", "behind", "colour",
			"input split", "button primary", "all jobs", "a hop.gif", "api documentation"} {
			if !strings.Contains(all, want) {
				t.Errorf("the tab key does not reach %q, but:\n%s", want, all)
			}
		}
	}
}
