package dashboard_test

import (
	"encoding/json"
	"fmt"
	"net/http"
	"os"
	"testing"
	"time"

	"github.com/chromedp/cdproto/input"
	"github.com/chromedp/cdproto/network"
	"github.com/chromedp/chromedp"
	"github.com/chromedp/chromedp/kb"
	"github.com/google/go-cmp/cmp"

	"github.com/bgremove/bgremove/internal/browsertest"
	"github.com/bgremove/bgremove/internal/service/account"
	"github.com/bgremove/bgremove/internal/service/server"
	"github.com/bgremove/bgremove/pkg/option"
)

// twoSubjects is a clip of 120 × 80 pixels and 2 s with a red and a blue square that move.
func twoSubjects(t testing.TB) []byte {
	t.Helper()
	return madeOf(t, "two.mp4", "-f", "lavfi", "-i", "color=white:size=120x80:rate=10:duration=2,format=yuv420p", "-f", "lavfi", "-i", "color=red:size=24x24:rate=10:duration=2",
		"-f", "lavfi", "-i", "color=blue:size=24x24:rate=10:duration=2", "-filter_complex", "[0][1]overlay=x=8+8*t:y=10[a];[a][2]overlay=x=80-8*t:y=44", "-t", "2")
}

// mouse presses a button at fractions of the picture's sides, drags to the other places,
// and lets it go.
func (b *browser) mouse(button input.MouseButton, places ...[2]float64) {
	b.Helper()
	at := b.pictureAt()
	send := func(kind input.DispatchMouseEventType, p [2]float64) {
		call(b, input.DispatchMouseEvent, input.DispatchMouseEventParams{
			Type: kind, X: at.X + p[0]*at.W, Y: at.Y + p[1]*at.H, Button: button, ClickCount: 1,
		})
	}
	send(input.DispatchMouseEventTypeMousePressed, places[0])
	for _, p := range places[1:] {
		send(input.DispatchMouseEventTypeMouseMoved, p)
	}
	send(input.DispatchMouseEventTypeMouseReleased, places[len(places)-1])
}

// box is a place on the page.
type box struct{ X, Y, W, H float64 }

// pictureAt is where the picture is, after it has come into view.
func (b *browser) pictureAt() box {
	b.Helper()
	return ask[box](b, `(() => { const c = document.querySelector("[data-picture] canvas"); c.scrollIntoView({block: "center"});
		const r = c.getBoundingClientRect(); return {X: r.x, Y: r.y, W: r.width, H: r.height}; })()`)
}

// centre is the middle of a pixel of the clip, as fractions of its sides.
func centre(x, y float64) [2]float64 { return [2]float64{(x + 0.5) / 120, (y + 0.5) / 80} }

// choosing opens the part of a job's page where its subject is chosen.
func (b *browser) choosing(id string) {
	b.Helper()
	b.open("/jobs/" + id)
	b.run("choose", chromedp.Click("[data-subject] summary"))
	b.until(`document.querySelector("[data-subject]").dataset.ready === "" && document.querySelector("[data-picture] canvas").width > 300`)
}

// marks is the number of marks that are listed.
func (b *browser) marks(n int) {
	b.Helper()
	b.until(fmt.Sprintf(`document.querySelectorAll("[data-marks] li").length === %d`, n))
}

// moment shows the frame of a time.
func (b *browser) moment(time float64) {
	b.Helper()
	ask[bool](b, fmt.Sprintf(`(() => { const r = document.querySelector("[data-moment]"); r.value = %v; return r.dispatchEvent(new Event("input")); })()`, time))
	b.until(`document.querySelector("[data-picture] canvas").ariaBusy !== "true"`)
}

// hintsOf are the hints of a job, by the API.
func (p *person) hintsOf(id string) (hints []option.Hint) {
	p.Helper()
	var j struct {
		Options struct{ Hints []option.Hint }
	}
	if err := json.Unmarshal([]byte(p.get("/api/jobs/"+id).body), &j); err != nil {
		p.Fatal(err)
	}
	return j.Options.Hints
}

// applied presses the button, and returns the id of the new job.
func (b *browser) applied(id string) string {
	b.Helper()
	b.run("apply", chromedp.Focus("[data-apply]"), chromedp.KeyEvent(kb.Enter))
	b.until(`location.pathname.startsWith("/jobs/job_") && location.pathname !== "/jobs/` + id + `" && document.querySelector("[data-view]")`)
	return ask[string](b, `location.pathname.slice("/jobs/".length)`)
}

// TestChooseSubject marks the subject by a pointer on a picture that is scaled, and by the
// keyboard. The new job has exactly these hints, in pixels of the input.
func TestChooseSubject(t *testing.T) {
	t.Parallel()
	s := following(t)
	who := s.user("ada@example.com", 100)
	p := s.signedIn("ada@example.com")
	id := p.jobs([]string{"two.mp4", string(twoSubjects(t))}, "method", "fast", "crop", "false", "pad", "7", "outputFormat", "webm")[0]
	b := s.chromium(1280, 900)
	b.open("/")
	b.signIn("ada@example.com")
	b.choosing(id)
	if wide := ask[float64](b, `document.querySelector("[data-picture] canvas").getBoundingClientRect().width`); wide < 240 {
		t.Fatalf("the picture is %v wide, and not scaled", wide)
	}
	if !ask[bool](b, `document.querySelector("[data-apply]").disabled && document.querySelector("[data-undo]").disabled`) {
		t.Error("there is nothing to apply or to undo, and a button for it")
	}
	b.moment(1)
	b.mouse(input.MouseButtonLeft, centre(28, 22))
	b.marks(1)
	b.mouse(input.MouseButtonRight, centre(50, 5))
	b.marks(2)
	b.run("undo", chromedp.KeyEvent("z", chromedp.KeyModifiers(chromedp.ModifierCtrl)))
	b.marks(1)
	b.run("drop", chromedp.KeyEvent("d"))
	b.until(`document.querySelector("[data-subject] [value=drop]").checked`)
	ask[bool](b, `(() => { const r = document.querySelector("[data-subject] [data-brush]"); r.value = 3; return r.dispatchEvent(new Event("input")); })()`)
	ask[bool](b, `document.querySelector("[data-picture] canvas").dispatchEvent(new WheelEvent("wheel", {deltaY: -100})) || true`)
	b.until(`document.querySelector("[data-subject] [data-brush]").value === "4"`)
	b.run("a smaller brush", chromedp.KeyEvent("-"))
	b.mouse(input.MouseButtonLeft, centre(76, 50), centre(80, 50), centre(90, 50), centre(90, 60))
	b.marks(2)
	listed := ask[[]string](b, `[...document.querySelectorAll("[data-marks] li > :first-child")].map((e) => e.innerText)`)
	if diff := cmp.Diff([]string{"+ keep, click at 28, 22, 1.00 s", "− drop, stroke at 76, 50, 1.00 s"}, listed); diff != "" {
		t.Errorf("marks (-want +got):\n%s", diff)
	}
	before := s.balance(who)
	second := b.applied(id)
	want := []option.Hint{
		{Keep: true, At: time.Second, Click: &[2]float64{28, 22}},
		{At: time.Second, Stroke: [][2]float64{{76, 50}, {90, 50}, {90, 60}}, Radius: 3},
	}
	if diff := cmp.Diff(want, p.hintsOf(second)); diff != "" {
		t.Errorf("hints (-want +got):\n%s", diff)
	}
	if cost := before - s.balance(who); cost != 3 {
		t.Errorf("it cost %d credits", cost)
	}
	p.ended(second)
	p.get("/jobs/"+second).says(http.StatusOK, "method auto", "not cropped", "keep 28,22@1", "drop stroke@1", "webm")
	p.get("/?again="+second).says(http.StatusOK, `name="hints" value="[{&#34;keep&#34;:true,&#34;click&#34;:[28,22],&#34;t&#34;:1}`)
	b.byKeys(p, second)
}

// byKeys changes the marks of a job by the keyboard alone.
func (b *browser) byKeys(p *person, id string) {
	b.Helper()
	b.choosing(id)
	b.marks(2)
	b.run("remove", chromedp.Focus(`[aria-label^="Remove mark 2"]`), chromedp.KeyEvent(kb.Enter))
	b.marks(1)
	if at := ask[string](b, `document.activeElement.getAttribute("aria-label")`); at != "Remove mark 1: keep, click at 28, 22, 1.00 s" {
		b.Errorf("the focus is on %q", at)
	}
	shift := chromedp.KeyModifiers(chromedp.ModifierShift)
	b.run("to the picture", chromedp.Focus("[data-picture] canvas"))
	b.run("a click", chromedp.KeyEvent(kb.ArrowRight), chromedp.KeyEvent(kb.ArrowDown, shift), chromedp.KeyEvent("d"), chromedp.KeyEvent(kb.Enter))
	b.marks(2)
	b.run("a stroke", chromedp.KeyEvent(" "+kb.ArrowLeft+kb.ArrowLeft+"+ "))
	b.marks(3)
	want := []option.Hint{
		{Keep: true, At: time.Second, Click: &[2]float64{28, 22}},
		{Click: &[2]float64{62, 41}},
		{Stroke: [][2]float64{{62, 41}, {58, 41}}, Radius: 3},
	}
	if diff := cmp.Diff(want, p.hintsOf(b.applied(id))); diff != "" {
		b.Errorf("hints by keys (-want +got):\n%s", diff)
	}
}

// TestChooseSubjectByTouch marks an animation on a phone, where it is scaled down. What the
// service refuses is told on the spot, and no mark is lost.
func TestChooseSubjectByTouch(t *testing.T) {
	t.Parallel()
	s := following(t)
	s.user("ada@example.com", 5)
	p := s.signedIn("ada@example.com")
	id := p.jobs([]string{"hop.gif", string(clip(t))}, "method", "fast")[0] // 360 × 203 pixels, for 4 credits
	b := s.chromium(380, 800)
	b.expected = "402"
	b.open("/")
	b.signIn("ada@example.com")
	b.choosing(id)
	b.moment(1.26)
	at := b.pictureAt()
	if at.W > 340 {
		t.Errorf("the picture is %v wide on a phone", at.W)
	}
	point := &input.TouchPoint{X: at.X + at.W*60.5/360, Y: at.Y + at.H*130.5/203}
	call(b, input.DispatchTouchEvent, input.DispatchTouchEventParams{Type: input.DispatchTouchEventTypeTouchStart, TouchPoints: []*input.TouchPoint{point}})
	call(b, input.DispatchTouchEvent, input.DispatchTouchEventParams{Type: input.DispatchTouchEventTypeTouchEnd, TouchPoints: []*input.TouchPoint{}})
	b.marks(1)
	if said := ask[string](b, `document.querySelector("[data-said]").innerText`); said != "Marked: keep, click at 60, 130, 1.26 s." {
		t.Errorf("it says %q", said)
	}
	where := `document.querySelector("[data-apply]").getBoundingClientRect().top`
	told := `(document.querySelector("[data-study]").textContent = "The clip is being studied.", ` + where + `)`
	if quiet, busy := ask[float64](b, where), ask[float64](b, told); quiet != busy {
		t.Errorf("while the clip is studied, the button to apply is at %v in place of %v", busy, quiet)
	}
	b.run("apply", chromedp.Click("[data-apply]"))
	b.until(`document.querySelector("[data-refused] .notice.error")?.innerText.includes("not enough credits") && !document.querySelector("[data-apply]").disabled`)
	b.marks(1)
	for _, theme := range []string{"light", "dark"} {
		b.theme(theme)
		b.picture("subject-380-" + theme + ".png")
		for _, v := range b.violations(axe(t)) {
			t.Errorf("%s: %s", theme, v)
		}
	}
	b.narrow("the job")
	b.run("remove all", chromedp.Click("[data-clear]"))
	b.marks(0)
	b.run("undo", chromedp.Click("[data-undo]"))
	b.marks(1)
}

// TestLongMarks has marks that no form may be longer than.
func TestLongMarks(t *testing.T) {
	t.Parallel()
	s := following(t)
	s.user("ada@example.com", 20)
	id := s.signedIn("ada@example.com").jobs([]string{"hop.gif", string(clip(t))}, "method", "fast")[0]
	b := s.chromium(1280, 900)
	b.open("/")
	b.signIn("ada@example.com")
	b.open("/jobs/" + id)
	ask[bool](b, `!!(document.querySelector("[data-subject]").dataset.bytes = "100")`)
	b.run("choose", chromedp.Click("[data-subject] summary"))
	b.until(`document.querySelector("[data-subject]").dataset.ready === ""`)
	b.run("mark", chromedp.Focus("[data-picture] canvas"), chromedp.KeyEvent(kb.Enter+kb.ArrowLeft+kb.Enter))
	b.marks(2)
	b.run("one more", chromedp.KeyEvent(kb.ArrowLeft+kb.Enter))
	b.until(`document.querySelector("[data-said]").textContent === "There are 2 marks. More are not possible."`)
	b.marks(2)
}

// TestSubjectOfExpiredClip tells that nothing can be marked, and why.
func TestSubjectOfExpiredClip(t *testing.T) {
	t.Parallel()
	s := following(t)
	s.user("ada@example.com", 20)
	p := s.signedIn("ada@example.com")
	id := p.jobs([]string{"hop.gif", string(clip(t))}, "method", "fast")[0]
	p.get("/jobs/"+id).says(http.StatusOK, "Choose the subject", `data-width="360" data-height="203"`, `data-most="64" data-points="256" data-bytes="65536" data-radius="500"`)
	if _, err := s.db.ExecContext(t.Context(), "UPDATE jobs SET input_key = NULL WHERE id = $1", id); err != nil {
		t.Fatal(err)
	}
	p.get("/jobs/"+id).says(http.StatusOK, "The clip has expired, so its subject cannot be chosen here any more.")
}

// following starts a service with a network that follows hints, where submissions choose
// among models, if there are any. Tests of browsers ask often, so it has no limit on that.
func following(t testing.TB, models ...string) *service {
	t.Helper()
	library := os.Getenv("BGREMOVE_ONNXRUNTIME")
	if library == "" {
		browsertest.Missing(t, "BGREMOVE_ONNXRUNTIME names no ONNX Runtime, make test does")
	}
	return start(t, func(c *server.Config) {
		c.Engine.Library, c.Models = library, models
		c.AccountRate = account.Rate{PerMinute: 1e5, Burst: 1e5}
	})
}

// TestModel checks that a form offers the service's networks, and that a job keeps the one
// that was chosen, also where it is run again.
func TestModel(t *testing.T) {
	t.Parallel()
	s := following(t, "bundled")
	s.user("ada@example.com", 20)
	p := s.signedIn("ada@example.com")
	if diff := cmp.Diff(control{Values: []string{"", "bundled"}, Chosen: []string{""}}, controls(p.get("/").body)["model"]); diff != "" {
		t.Errorf("the form (-want +got):\n%s", diff)
	}
	p.jobs([]string{"own.gif", string(clip(t))}, "method", "fast", "model", "")
	id := p.jobs([]string{"hop.gif", string(clip(t))}, "method", "rembg", "model", "bundled")[0]
	p.get("/jobs/"+id).says(http.StatusOK, "network bundled", `name="model" value="bundled"`)
}

// TestSubjectNotLoaded cannot load the script, as after an update of the service.
func TestSubjectNotLoaded(t *testing.T) {
	t.Parallel()
	s := following(t)
	s.user("ada@example.com", 20)
	id := s.signedIn("ada@example.com").jobs([]string{"hop.gif", string(clip(t))}, "method", "fast")[0]
	b := s.workbench("ada@example.com")
	b.expected = "/subject.js"
	call(b, network.Enable, network.EnableParams{})
	call(b, network.SetBlockedURLs, network.SetBlockedURLsParams{URLPatterns: []*network.BlockPattern{{URLPattern: "*://*:*/*/subject.js", Block: true}}})
	b.open("/jobs/" + id)
	b.run("choose", chromedp.Click("[data-subject] summary"))
	b.until(`document.querySelector("[data-said]").textContent.startsWith("This part of the page cannot be loaded.")`)
}
