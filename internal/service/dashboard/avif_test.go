package dashboard_test

import (
	"math"
	"net/http"
	"net/http/httptest"
	"path/filepath"
	"testing"
	"time"

	"github.com/chromedp/chromedp"

	"github.com/bgremove/bgremove/internal/service/account"
	"github.com/bgremove/bgremove/internal/service/server"
	"github.com/bgremove/bgremove/pkg/bgremove"
)

// compareAVIF compares the frames of an AVIF with those of the same clip in APNG, alpha
// and colours over grey, and their times with 24 a second, in microseconds.
const compareAVIF = `(async () => {
  const open = async (url, type) => {
    const decoder = new ImageDecoder({ data: (await fetch(url)).body, type, preferAnimation: true });
    await decoder.completed;
    return decoder;
  };
  const ours = await open("/hop.avif", "image/avif"), theirs = await open("/hop.png", "image/png");
  const track = ours.tracks.selectedTrack;
  const found = { frames: track.frameCount, wanted: theirs.tracks.selectedTrack.frameCount, repetitions: track.repetitionCount,
    late: 0, colours: 0, alpha: 0, transparent: 0, durations: [] };
  for (let i = 0; i < found.frames; i++) {
    const [a, b] = await Promise.all([ours, theirs].map(async (d) => (await d.decode({ frameIndex: i })).image));
    found.late = Math.max(found.late, Math.abs(a.timestamp - i * 1e6 / 24));
    found.durations.push(a.duration);
    const pixels = (image, behind) => {
      const c = new OffscreenCanvas(image.displayWidth, image.displayHeight).getContext("2d");
      if (behind) c.fillStyle = behind, c.fillRect(0, 0, c.canvas.width, c.canvas.height);
      c.drawImage(image, 0, 0);
      return c.getImageData(0, 0, c.canvas.width, c.canvas.height).data;
    };
    const differ = (p, q, first, step) => {
      let sum = 0;
      for (let k = first; k < p.length; k += step) sum += Math.abs(p[k] - q[k]);
      return sum / (p.length / step);
    };
    found.colours = Math.max(found.colours, differ(pixels(a, "#808080"), pixels(b, "#808080"), 1, 4));
    const alpha = pixels(a);
    found.alpha = Math.max(found.alpha, differ(alpha, pixels(b), 3, 4));
    found.transparent += alpha.filter((v, k) => k % 4 === 3 && v === 0).length;
    a.close(), b.close();
  }
  return found;
})()`

// TestAVIF has Chromium read a sequence: frames, times, loop, alpha and colours.
func TestAVIF(t *testing.T) {
	t.Parallel()
	dir := t.TempDir()
	for format, name := range map[bgremove.Format]string{bgremove.AVIF: "hop.avif", bgremove.APNG: "hop.png"} {
		o := bgremove.Defaults()
		o.Method, o.Format, o.Loop, o.End = bgremove.Fast, format, new(3), 400*time.Millisecond
		if _, err := bgremove.New(bgremove.Config{}).Remove(t.Context(), "../../../testdata/demo/hop.mp4", filepath.Join(dir, name), o, bgremove.Extras{}); err != nil {
			t.Fatal(err)
		}
	}
	mux := http.NewServeMux()
	mux.Handle("/", http.FileServer(http.Dir(dir)))
	mux.HandleFunc("/page", func(w http.ResponseWriter, _ *http.Request) {
		_, _ = w.Write([]byte(`<!doctype html><meta charset="utf-8"><img src="/hop.avif"><footer>end</footer>`))
	})
	site := httptest.NewServer(mux)
	defer site.Close()
	b := (&service{TB: t}).chromium(800, 600)
	b.url, b.expected = site.URL, "404" // there is no icon
	b.open("/page")
	b.until(`document.querySelector("img").naturalWidth > 0`)
	got := ask[struct {
		Frames, Wanted, Repetitions       int
		Late, Colours, Alpha, Transparent float64
		Durations                         []float64
	}](b, compareAVIF)
	t.Logf("%+v", got)
	if got.Frames != 10 || got.Wanted != 10 || got.Repetitions != 2 {
		t.Errorf("it has %d frames of %d, and is repeated %d times", got.Frames, got.Wanted, got.Repetitions)
	}
	for i, d := range got.Durations {
		want := 1e6 / 24
		if i == 9 {
			want = 400_000 - 9e6/24 // it is cut short
		}
		if math.Abs(d-want) > 1000 {
			t.Errorf("frame %d is shown for %.0f µs, want %.0f", i, d, want)
		}
	}
	if got.Late > 1000 || got.Transparent == 0 || got.Alpha > 1 || got.Colours > 2 {
		t.Errorf("times are off by %.0f µs, colours over grey by %.2f, alpha by %.2f; %.0f pixels are transparent", got.Late, got.Colours, got.Alpha, got.Transparent)
	}
}

// TestAVIFViewer shows a sequence on a job's page.
func TestAVIFViewer(t *testing.T) {
	t.Parallel()
	// On a slow machine the page asks for a job's state often: the limit is not tested here.
	s := start(t, func(c *server.Config) { c.AccountRate = account.Rate{PerMinute: 1e5, Burst: 1e5} })
	s.user("ada@example.com", 100)
	id := s.signedIn("ada@example.com").jobs([]string{"hop.mp4", string(made(t, "hop.mp4", "-t", "2"))}, "outputFormat", "avif")[0]
	b := s.chromium(1280, 900)
	b.open("/")
	b.signIn("ada@example.com")
	b.settled(shown{"avif", "/jobs/" + id})
	b.until(`!document.querySelector("[data-play]").disabled && document.querySelector(".split")`)
	b.run("pause", chromedp.Click("[data-play]"))
	b.seek(1.35)
	b.inStep(1.35)
}
