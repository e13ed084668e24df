package dashboard_test

import (
	"fmt"
	"net/http"
	"net/http/httptest"
	"path/filepath"
	"testing"
	"time"

	"github.com/chromedp/chromedp"

	"github.com/bgremove/bgremove/pkg/bgremove"
)

const stackedPage = `<!doctype html><meta charset="utf-8"><script src="/component.js"></script>
<stacked-alpha-video id="plays" src="/hop.mp4" width="200"><p>instead</p></stacked-alpha-video>
<stacked-alpha-video id="broken" src="/none.mp4"><p>instead</p></stacked-alpha-video><footer>end</footer>`

// mostOff is how far colours may be off on the mean, of 255.
const mostOff = 1.5

// compareFrames draws the component's frames, and those of the same clip in a
// format that the browser decodes itself, over grey and compares them.
const compareFrames = `async (most) => {
  const { video, canvas } = document.querySelector("#plays"), element = document.querySelector("#plays");
  video.pause();
  video.loop = false;
  const seeked = () => new Promise((resolve) => video.addEventListener("seeked", resolve, { once: true }));
  while (video.seeking) await seeked(); // to the start, because it played in a loop
  const response = await fetch("/hop.png");
  const decoder = new ImageDecoder({ data: response.body, type: "image/png", preferAnimation: true });
  await decoder.completed;
  const frames = decoder.tracks.selectedTrack.frameCount;
  const found = { frames, duration: video.duration, width: canvas.clientWidth, mean: 0, wrong: 0 };
  let start = 0;
  for (let i = 0; i < frames; i++) {
    const { image } = await decoder.decode({ frameIndex: i });
    video.currentTime = (start + image.duration / 2) / 1e6;
    await seeked();
    start += image.duration;
    const pixels = (source, behind) => {
      const c = new OffscreenCanvas(image.displayWidth, image.displayHeight).getContext("2d");
      if (behind) c.fillStyle = behind, c.fillRect(0, 0, c.canvas.width, c.canvas.height);
      c.drawImage(source, 0, 0);
      return c.getImageData(0, 0, c.canvas.width, c.canvas.height).data;
    };
    const theirs = pixels(image, "#808080"), truth = pixels(image);
    const compared = () => {
      element.draw();
      const ours = pixels(canvas, "#808080");
      element.draw();
      const alpha = pixels(canvas);
      let sum = 0, sure = 0, wrong = 0; // pixels with none or all of alpha, and those of them that differ
      for (let k = 0; k < ours.length; k++) {
        sum += Math.abs(ours[k] - theirs[k]);
        if (k % 4 !== 3 || truth[k] % 255 !== 0) continue;
        sure++;
        if (Math.abs(alpha[k] - truth[k]) > 8) wrong++;
      }
      return { mean: sum / (ours.length * 3 / 4), wrong: wrong / sure };
    };
    let at = compared();
    for (let n = 0; n < 100 && at.mean > most; n++) { // a busy browser may show the frame only after seeked
      await new Promise((resolve) => setTimeout(resolve, 50));
      at = compared();
    }
    found.wrong = Math.max(found.wrong, at.wrong);
    found.mean = Math.max(found.mean, at.mean);
    image.close();
  }
  return found;
}`

// stackedSite serves a page with the component of examples/web, and returns its address.
func stackedSite(t *testing.T) string {
	t.Helper()
	dir := t.TempDir()
	for format, name := range map[bgremove.Format]string{bgremove.Stacked: "hop.mp4", bgremove.APNG: "hop.png"} {
		o := bgremove.Defaults()
		o.Method, o.Format, o.End = bgremove.Fast, format, 400*time.Millisecond
		if _, err := bgremove.New(bgremove.Config{}).Remove(t.Context(), "../../../testdata/demo/hop.mp4", filepath.Join(dir, name), o, bgremove.Extras{}); err != nil {
			t.Fatal(err)
		}
	}
	mux := http.NewServeMux()
	mux.Handle("/", http.FileServer(http.Dir(dir)))
	mux.HandleFunc("/page", func(w http.ResponseWriter, _ *http.Request) { _, _ = w.Write([]byte(stackedPage)) })
	mux.HandleFunc("/component.js", func(w http.ResponseWriter, r *http.Request) {
		http.ServeFile(w, r, "../../../examples/web/stacked-alpha-video.js")
	})
	site := httptest.NewServer(mux)
	t.Cleanup(site.Close)
	return site.URL
}

// TestStackedVideo plays a stacked MP4 by the component.
func TestStackedVideo(t *testing.T) {
	t.Parallel()
	b := (&service{TB: t}).chromium(800, 600)
	b.url, b.expected = stackedSite(t), "404"
	b.open("/page")
	b.until(`document.querySelector("#plays").canvas.hidden === false && document.querySelector("#plays").video.currentTime > 0`)
	b.until(`document.querySelector("#broken").video.error && document.querySelector("#broken").canvas.hidden`)
	got := ask[struct {
		Frames, Width         int
		Duration, Mean, Wrong float64
	}](b, fmt.Sprintf("(%s)(%g)", compareFrames, mostOff))
	t.Logf("%+v", got)
	if got.Frames != 10 || got.Width != 200 || got.Duration < 0.39 || got.Duration > 0.43 {
		t.Errorf("it has %d frames, %v s, and is %d pixels wide", got.Frames, got.Duration, got.Width)
	}
	if got.Mean > mostOff || got.Wrong > 0.01 {
		t.Errorf("colours over grey are off by %.2f on the mean, and alpha of %.4f of the pixels with none or all", got.Mean, got.Wrong)
	}
	// Elsewhere on the page it is as large as before.
	const size = `(({canvas}) => canvas.width + "x" + canvas.height)(document.querySelector("#plays"))`
	before := ask[string](b, size)
	b.run("move", chromedp.Evaluate[chromedp.Void](`document.querySelector("footer").after(document.querySelector("#plays"))`))
	b.until(`document.querySelector("#plays").canvas.hidden === false`)
	if moved := ask[string](b, size); moved != before {
		t.Errorf("its canvas was %s, and is %s where it was moved", before, moved)
	}
}

// TestStackedViewer shows a stacked result on a job's page, put together.
func TestStackedViewer(t *testing.T) {
	t.Parallel()
	s := start(t, nil)
	s.user("ada@example.com", 100)
	id := s.signedIn("ada@example.com").jobs([]string{"hop.mp4", string(made(t, "hop.mp4", "-t", "2"))}, "outputFormat", "stacked")[0]
	b := s.chromium(1280, 900)
	b.open("/")
	b.signIn("ada@example.com")
	b.settled(shown{"stacked", "/jobs/" + id})
	b.until(`!document.querySelector("[data-play]").disabled && document.querySelector(".split")`)
	b.run("pause", chromedp.Click("[data-play]"))
	b.seek(1.35)
	b.inStep(1.35)
}
