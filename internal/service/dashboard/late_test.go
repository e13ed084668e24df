package dashboard_test

import (
	"fmt"
	"os"
	"regexp"
	"strings"
	"testing"

	"github.com/chromedp/chromedp"
	"github.com/chromedp/chromedp/kb"

	"github.com/bgremove/bgremove/internal/service/server"
)

// held makes the page's requests for addresses that contain a text wait until release() is
// called. Their answers are then seen before settle() ends.
const held = `(() => {
	const whole = window.fetch, wait = new Promise((go) => { window.release = go; });
	window.fetch = async (path, asked) => {
		const answer = await whole(path, asked);
		if (String(path).includes(%q)) await wait;
		return answer;
	};
	window.settle = () => new Promise((done) => setTimeout(done, 300));
	return true;
})()`

// broken is the workbench of an account with jobs of files that cannot be read, which need no work,
// and their ids.
func broken(t *testing.T, jobs int) (b *browser, ids []string) {
	t.Helper()
	s := start(t, func(c *server.Config) { c.Role = server.API })
	s.user("ada@example.com", 100)
	var files []string
	for i := range jobs {
		files = append(files, fmt.Sprintf("broken%d.gif", i), "GIF89a")
	}
	ids = s.signedIn("ada@example.com").jobs(files)
	return s.workbench("ada@example.com"), ids
}

// TestLateAnswer shows one job and then another. The answer for the first comes last, and
// changes nothing.
func TestLateAnswer(t *testing.T) {
	t.Parallel()
	b, ids := broken(t, 3)
	ask[bool](b, fmt.Sprintf(held, ids[0]+"/view"))
	for _, id := range ids[:2] {
		b.run("show", chromedp.Click("#"+id+" a"))
	}
	b.until(`document.querySelector("[data-view]").dataset.view === "` + ids[1] + `"`)
	ask[bool](b, `(release(), settle().then(() => true))`)
	if shown := ask[string](b, `document.querySelector("[data-view]").dataset.view`); shown != ids[1] {
		t.Errorf("job %s is shown in place of %s", shown, ids[1])
	}
	if marked := ask[string](b, `document.querySelector(".job.shown").id`); marked != ids[1] {
		t.Errorf("job %s is marked in place of %s", marked, ids[1])
	}
}

// TestShownTwice shows a job, and an event shows it again. The first answer comes last. Both are
// told that it is shown: whoever clicked is led there.
func TestShownTwice(t *testing.T) {
	t.Parallel()
	b, ids := broken(t, 2)
	told := ask[[]bool](b, fmt.Sprintf(`(async () => {
		const { show } = await import(document.querySelector("script[src*='/app.js']").src.replace("app.js", "job.js"));
		const whole = window.fetch, wait = new Promise((go) => { window.release = go; });
		window.fetch = async (path, asked) => {
			const answer = await whole(path, asked);
			await wait;
			return answer;
		};
		const first = show(%[1]q);
		window.fetch = whole;
		const second = show(%[1]q);
		await second;
		release();
		return Promise.all([first, second]);
	})()`, ids[0]))
	if !told[0] || !told[1] {
		t.Errorf("a job that is shown twice is told to be shown: %v", told)
	}
}

// TestShownCardStaysCurrent has the card of the shown job renewed.
func TestShownCardStaysCurrent(t *testing.T) {
	t.Parallel()
	s := start(t, func(c *server.Config) { c.Role = server.API })
	s.user("ada@example.com", 50)
	p := s.signedIn("ada@example.com")
	id := p.upload("/jobs", []string{"hop.gif", string(clip(t))}).jobID()
	b := s.workbench("ada@example.com")
	b.until(`document.querySelector(".job.shown a")?.ariaCurrent === "true"`)
	p.post("/jobs/" + id + "/cancel")
	b.until(`document.querySelector(".job.shown[data-state=cancelled]")`)
	if current := ask[string](b, `String(document.querySelector(".job.shown a").getAttribute("aria-current"))`); current != "true" {
		t.Errorf("aria-current is %s", current)
	}
}

// TestLatestJobs lists no more than the latest jobs, and tells of changes that no list has.
func TestLatestJobs(t *testing.T) {
	t.Parallel()
	b, _ := broken(t, 15)
	b.until(`performance.getEntriesByType("resource").some((r) => r.name.includes("limit=20"))`)
	if n := ask[int](b, `new Promise((done) => setTimeout(() => done(document.querySelectorAll(".job").length), 500))`); n != 12 {
		t.Errorf("the workbench lists %d jobs", n)
	}
}

// TestAnnounced tells people who do not see a page that a job has ended.
func TestAnnounced(t *testing.T) {
	t.Parallel()
	s := start(t, func(c *server.Config) { c.Role = server.API })
	s.user("ada@example.com", 50)
	p := s.signedIn("ada@example.com")
	b := s.workbench("ada@example.com")
	for _, path := range []string{"/", "/jobs", "/jobs/ID"} {
		id := p.upload("/jobs", []string{"hop.gif", string(clip(t))}).jobID()
		if path == "/jobs/ID" {
			path = "/jobs/" + id
		}
		b.open(path)
		p.post("/jobs/" + id + "/cancel")
		b.until(`document.querySelector("[data-state=cancelled]")`)
		ask[bool](b, `new Promise((done) => setTimeout(() => done(true), 300))`)
		if said := ask[string](b, `document.querySelector("[data-announce]")?.textContent ?? "no line"`); said != "hop.gif: Cancelled" {
			t.Errorf("%s announces %q", path, said)
		}
	}
}

// TestCutAnswer loses the end of an answer. The card is renewed when the next one comes.
func TestCutAnswer(t *testing.T) {
	t.Parallel()
	s := start(t, func(c *server.Config) { c.Role = server.API })
	s.user("ada@example.com", 50)
	p := s.signedIn("ada@example.com")
	id := p.upload("/jobs", []string{"hop.gif", string(clip(t))}).jobID()
	b := s.workbench("ada@example.com")
	ask[bool](b, `(() => {
		const whole = window.fetch;
		window.fetch = (path, asked) => {
			if (!/(card|view)$/.test(path)) return whole(path, asked);
			window.cut = (window.cut ?? 0) + 1;
			if (window.cut > 2) return whole(path, asked);
			return Promise.resolve(new Response(new ReadableStream({ start: (c) => c.error(new TypeError("network error")) })));
		};
		return true;
	})()`)
	p.post("/jobs/" + id + "/cancel")
	b.until(`window.cut >= 2`)
	ask[bool](b, `document.dispatchEvent(new Event("visibilitychange"))`)
	b.until(`document.querySelector(".job").dataset.state === "cancelled" && document.querySelector("[data-view]").dataset.state === "cancelled"`)
}

// TestSentOnce clicks twice on what costs credits.
func TestSentOnce(t *testing.T) {
	t.Parallel()
	s := start(t, nil)
	s.user("ada@example.com", 50)
	id := s.signedIn("ada@example.com").jobs([]string{"hop.gif", string(clip(t))})[0]
	b := s.workbench("ada@example.com")
	b.open("/?again=" + id)
	ask[bool](b, `!!(window.sent = [], addEventListener("submit", (event) => { sent.push(!event.defaultPrevented); event.preventDefault(); }))|| true`)
	const button = `document.querySelector("form[action$='/again'] button").click()`
	if sent := ask[[]bool](b, button+","+button+",sent"); len(sent) != 2 || !sent[0] || sent[1] {
		t.Errorf("two clicks send the form: %v", sent)
	}
	ask[bool](b, `window.dispatchEvent(new PageTransitionEvent("pageshow", { persisted: true }))`)
	if sent := ask[[]bool](b, button+",sent"); len(sent) != 3 || !sent[2] {
		t.Errorf("after a return to the page a click sends the form: %v", sent)
	}
}

// TestBalanceInOrder asks for the balance twice. The first answer comes last, and is not shown.
func TestBalanceInOrder(t *testing.T) {
	t.Parallel()
	s := start(t, func(c *server.Config) { c.Role = server.API })
	s.user("ada@example.com", 50)
	b := s.workbench("ada@example.com")
	shown := ask[string](b, `(async () => {
		const { refreshBalance } = await import(document.querySelector("script[src*='/app.js']").src);
		const answers = [];
		window.fetch = () => new Promise((answer) => { answers.push((credits) => answer(Response.json({ credits }))); });
		const asked = [refreshBalance(), refreshBalance()];
		answers[1](30);
		await asked[1];
		answers[0](40);
		await asked[0];
		return document.querySelector("[data-balance]").textContent;
	})()`)
	if shown != "30" {
		t.Errorf("%s credits are shown", shown)
	}
}

// TestDropped drops a file where nothing can be uploaded, and moves text to where files can be.
func TestDropped(t *testing.T) {
	t.Parallel()
	s := start(t, func(c *server.Config) { c.Role = server.API })
	s.user("ada@example.com", 50)
	p := s.signedIn("ada@example.com")
	id := p.upload("/jobs", []string{"hop.gif", string(clip(t))}).jobID()
	p.post("/jobs/" + id + "/cancel")
	b := s.chromium(1280, 900)
	b.open("/")
	b.signIn("ada@example.com")
	for _, path := range []string{"/", "/?again=" + id} {
		b.open(path) // to the end of its scripts
		if got := ask[string](b, `(() => {
			const over = (data) => {
				const event = new DragEvent("dragover", { bubbles: true, cancelable: true, dataTransfer: data });
				document.querySelector("#o-pad").dispatchEvent(event);
				return event.defaultPrevented;
			};
			const text = new DataTransfer(), file = new DataTransfer();
			text.items.add("12", "text/plain");
			file.items.add(new File(["GIF89a"], "a.gif"));
			return [over(text), over(file)].join();
		})()`); got != "false,true" {
			t.Errorf("%s takes over text and files: %s", path, got)
		}
	}
	b.open("/?again=" + id)
	ask[bool](b, `!!(document.querySelector("#o-pad").value = "9")`)
	b.drop("form.card", b.file("hop.gif", clip(t)))
	if left := ask[string](b, `new Promise((done) => setTimeout(() => done(location.search + " " + document.querySelector("#o-pad")?.value), 500))`); left != "?again="+id+" 9" {
		t.Errorf("after a drop it is %s", left)
	}
}

// TestHiddenMistake has a wrong option in a part of the form that is closed.
func TestHiddenMistake(t *testing.T) {
	t.Parallel()
	s := start(t, func(c *server.Config) { c.Role = server.API })
	s.user("ada@example.com", 50)
	b := s.workbench("ada@example.com")
	b.drop(".drop", b.file("hop.gif", clip(t)))
	b.until(`document.querySelector("[data-files] li")`)
	ask[bool](b, `!!(document.querySelector("#o-pad").value = "999")`)
	b.run("send", chromedp.Click("[data-send]"))
	b.until(`document.querySelector(".options").open && document.activeElement.id === "o-pad"`)
}

// TestFilesChosenMeanwhile chooses a file while others are being sent.
func TestFilesChosenMeanwhile(t *testing.T) {
	t.Parallel()
	s := start(t, func(c *server.Config) { c.Role = server.API })
	s.user("ada@example.com", 50)
	b := s.workbench("ada@example.com")
	ask[bool](b, `(() => {
		const send = XMLHttpRequest.prototype.send, wait = new Promise((go) => { window.release = go; });
		XMLHttpRequest.prototype.send = function (body) { wait.then(() => send.call(this, body)); };
		return true;
	})()`)
	b.drop(".drop", b.file("first.gif", clip(t)))
	b.until(`document.querySelector("[data-files] li")`)
	b.run("send", chromedp.Click("[data-send]"))
	b.drop(".drop", b.file("second.gif", clip(t)))
	b.until(`document.querySelectorAll("[data-files] li").length === 2`)
	ask[bool](b, `(release(), true)`)
	b.until(`document.querySelector(".job")`)
	b.until(`document.querySelector("[data-files]").innerText.includes("second.gif") && !document.querySelector("[data-files]").innerText.includes("first.gif")`)
}

// TestApplyUnanswered gets no answer, or half of one, when marks are applied. They can be
// applied again, and the person learns where a job would be.
func TestApplyUnanswered(t *testing.T) {
	t.Parallel()
	s := following(t)
	s.user("ada@example.com", 50)
	id := s.signedIn("ada@example.com").jobs([]string{"hop.gif", string(clip(t))}, "method", "fast")[0]
	b := s.workbench("ada@example.com")
	b.choosing(id)
	for name, answer := range map[string]string{
		"none": `Promise.reject(new TypeError("network error"))`,
		"half": `Promise.resolve(new Response(new ReadableStream({ start: (c) => c.error(new TypeError("network error")) }), { status: 202 }))`,
	} {
		ask[bool](b, `!!(window.whole ??= window.fetch, window.fetch = (path, asked) => path.endsWith("/again") ? `+answer+` : whole(path, asked))`)
		b.run("mark", chromedp.Focus("[data-picture] canvas"), chromedp.KeyEvent(kb.Enter), chromedp.Click("[data-apply]"))
		b.until(`document.querySelector("[data-apply]").ariaDisabled === "false"`)
		if said := ask[string](b, `document.querySelector("[data-said]").textContent`); !strings.Contains(said, "listed under Jobs") {
			t.Errorf("%s: it says %q", name, said)
		}
	}
}

// TestRefusalInView sends a form that is longer than the window from its end. Its mistake is
// told at its beginning, and there the window goes. The next try takes it away.
func TestRefusalInView(t *testing.T) {
	t.Parallel()
	s := start(t, func(c *server.Config) { c.Role = server.API })
	s.user("ada@example.com", 50)
	b := s.workbench("ada@example.com")
	b.expected = "400"
	b.drop(".drop", b.file("hop.gif", clip(t)))
	b.until(`document.querySelector("[data-files] li")`)
	b.run("options", chromedp.Click(".options summary"), chromedp.Click("[name=harmonise][value=true]"), chromedp.Click("[data-send]"))
	b.until(`document.querySelector(".notice.error")?.innerText.includes("Harmonise needs a background")`)
	if in := ask[bool](b, `(({ top, bottom }) => top >= 0 && bottom <= innerHeight)(document.querySelector(".notice.error").getBoundingClientRect())`); !in {
		t.Error("what is wrong is outside the window")
	}
	if said := ask[string](b, `document.querySelector("[data-announce]").textContent`); said != "Looking at it…" {
		t.Errorf("it announces %q", said)
	}
	ask[bool](b, `!!(XMLHttpRequest.prototype.send = () => {})|| true`)
	b.run("once more", chromedp.Click("[data-send]"))
	b.until(`!document.querySelector(".notice.error")`)
}

// TestQuiet checks that what counts quickly is not read out at each step.
func TestQuiet(t *testing.T) {
	t.Parallel()
	for name, file := range map[string]string{"clock": "parts", "at": "parts", "progress-text": "workbench"} {
		text, err := os.ReadFile("templates/" + file + ".html.tmpl")
		if err != nil {
			t.Fatal(err)
		}
		tag := regexp.MustCompile(`<[^<>]* data-` + name + `>`).FindString(string(text))
		if !strings.HasPrefix(tag, "<span ") || strings.Contains(tag, "role=") || strings.Contains(tag, "aria-live") {
			t.Errorf("%s is %q", name, tag)
		}
	}
}

// TestCardNotShown follows a card whose job cannot be shown beside the form. Its own page opens.
func TestCardNotShown(t *testing.T) {
	t.Parallel()
	b, ids := broken(t, 2)
	ask[bool](b, `!!(window.fetch = () => Promise.reject(new TypeError("network error")))`)
	b.run("show", chromedp.Click("#"+ids[0]+" a"))
	b.until(`location.pathname === "/jobs/` + ids[0] + `"`)
}
