package bgremove_test

import (
	"context"
	"encoding/base64"
	"fmt"
	"image"
	"math"
	"net/http"
	"net/http/httptest"
	"os"
	"path/filepath"
	"testing"
	"time"

	"github.com/chromedp/chromedp"

	"github.com/bgremove/bgremove/internal/browsertest"
	"github.com/bgremove/bgremove/pkg/bgremove"
)

// drawn is what an engine draws of an animation: each frame over magenta, as RGBA in
// base64, and how long it is shown.
type drawn struct {
	Frames []string  `json:"frames"`
	Times  []float64 `json:"times"` // milliseconds
}

// drawPixi loads walk.json with PixiJS, in the order of the names, and draws all
// frames with their anchor in the middle.
const drawPixi = `(async () => {
	await PIXI.Assets.load("walk.json");
	const data = [await (await fetch("walk.json")).json()];
	for (const name of data[0].meta.related_multi_packs || []) data.push(await (await fetch(name)).json());
	const frames = Object.assign({}, ...data.map(d => d.frames));
	const {w, h} = Object.values(frames)[0].sourceSize;
	const app = new PIXI.Application();
	await app.init({width: w, height: h, background: "#ff00ff", autoStart: false, antialias: false, preserveDrawingBuffer: true, preference: "webgl"});
	const sprite = new PIXI.Sprite();
	sprite.position.set(w / 2, h);
	app.stage.addChild(sprite);
	const out = {frames: [], times: []};
	for (const name of Object.keys(frames).sort()) {
		sprite.texture = PIXI.Assets.get(name);
		sprite.anchor.copyFrom(sprite.texture.defaultAnchor);
		app.render();
		out.frames.push(read(app.canvas, w, h));
		out.times.push(frames[name].duration);
	}
	return out;
})()`

// drawPhaser loads walk.json with Phaser as Aseprite's, and draws the frames of the
// animation that Phaser makes of it.
const drawPhaser = `new Promise((resolve, reject) => {
	new Phaser.Game({type: Phaser.CANVAS, width: 96, height: 64, backgroundColor: "#ff00ff", banner: false, audio: {noAudio: true}, scene: {
		preload() { this.load.aseprite("walk", "walk.png", "walk.json"); this.load.on("loaderror", f => reject(f.key)); },
		create() {
			const [animation] = this.anims.createFromAseprite("walk");
			const first = animation.frames[0].frame;
			this.scale.resize(first.realWidth, first.realHeight);
			const sprite = this.add.sprite(0, 0, "walk").setOrigin(0, 0), out = {frames: [], times: []};
			let i = 0;
			const show = () => sprite.setFrame(animation.frames[i].textureFrame);
			show();
			this.game.events.on("postrender", () => {
				if (i >= animation.frames.length) return;
				out.frames.push(read(this.game.canvas, first.realWidth, first.realHeight));
				out.times.push(animation.frames[i].duration);
				if (++i < animation.frames.length) show(); else resolve(out);
			});
		},
	}});
})`

const readCanvas = `<!doctype html><script>
function read(canvas, w, h) {
	const copy = Object.assign(document.createElement("canvas"), {width: w, height: h}).getContext("2d", {willReadFrequently: true});
	copy.drawImage(canvas, 0, 0);
	let text = "";
	for (const v of copy.getImageData(0, 0, w, h).data) text += String.fromCharCode(v);
	return btoa(text);
}
</script><script src="engine.js"></script>`

// TestSheetInEngines loads sheets into PixiJS and Phaser in a browser, and compares
// what they draw with the frames of an APNG.
func TestSheetInEngines(t *testing.T) {
	t.Parallel()
	const demo = "../../testdata/demo/hop.mp4"
	o := bgremove.Defaults()
	o.Method, o.Format, o.CanvasW, o.End, o.Anchor = bgremove.Fast, bgremove.APNG, 120, time.Second, bgremove.Bottom
	clip := filepath.Join(t.TempDir(), "clip.apng")
	result := remove(t, demo, clip, o)
	want := pixels(t, clip, result.Width, result.Height)
	for name, c := range map[string]struct {
		library, draw string
		change        func(*bgremove.Options)
	}{
		"pixi":       {"pixi.js/dist/pixi.min.js", drawPixi, func(*bgremove.Options) {}},
		"pixi pages": {"pixi.js/dist/pixi.min.js", drawPixi, func(o *bgremove.Options) { o.SheetMax = 300 }},
		"phaser":     {"phaser/dist/phaser.min.js", drawPhaser, func(o *bgremove.Options) { o.SheetData = bgremove.Aseprite }},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			library := filepath.Join(os.Getenv("BGREMOVE_TEST_ENGINES"), c.library)
			if _, err := os.Stat(library); err != nil {
				browsertest.Missing(t, "BGREMOVE_TEST_ENGINES names no folder with %s; make setup fills it", c.library)
			}
			dir, o := t.TempDir(), o
			c.change(&o)
			sheet := writeSheet(t, demo, "", filepath.Join(dir, "walk.png"), o)
			if (len(sheet.Sheet.Pages) > 1) != (o.SheetMax > 0) {
				t.Errorf("%d pages", len(sheet.Sheet.Pages))
			}
			checkDrawn(t, inBrowser(t, dir, library, c.draw), want, result.Duration)
		})
	}
}

// inBrowser runs a script in Chromium on a page with a library, beside the files of a
// folder.
func inBrowser(t *testing.T, dir, library, script string) drawn {
	t.Helper()
	program := browsertest.Chromium(t)
	mux := http.NewServeMux()
	mux.Handle("/", http.FileServer(http.Dir(dir)))
	mux.HandleFunc("/page.html", func(w http.ResponseWriter, _ *http.Request) { fmt.Fprint(w, readCanvas) })
	mux.HandleFunc("/engine.js", func(w http.ResponseWriter, r *http.Request) { http.ServeFile(w, r, library) })
	server := httptest.NewServer(mux)
	t.Cleanup(server.Close)
	options := append(chromedp.DefaultExecAllocatorOptions[:], chromedp.ExecPath(program), chromedp.UserDataDir(t.TempDir()),
		chromedp.Flag("force-color-profile", "srgb"), chromedp.Flag("enable-unsafe-swiftshader", true))
	if os.Getuid() == 0 {
		options = append(options, chromedp.NoSandbox)
	}
	ctx, cancel := chromedp.NewExecAllocator(t.Context(), options...)
	t.Cleanup(cancel)
	ctx, cancel = chromedp.NewContext(ctx)
	t.Cleanup(cancel)
	if err := chromedp.Do(ctx); err != nil { // it lives as long as this context, which never ends
		t.Fatal(err)
	}
	ctx, cancel = context.WithTimeout(ctx, 2*time.Minute)
	defer cancel()
	if err := chromedp.Do(ctx, chromedp.Navigate(server.URL+"/page.html")); err != nil {
		t.Fatal(err)
	}
	out, err := chromedp.Run(ctx, chromedp.Evaluate[drawn](script, chromedp.EvalAwaitPromise))
	if err != nil {
		t.Fatal(err)
	}
	return out
}

// checkDrawn compares frames over magenta, as GPUs round, and their times.
func checkDrawn(t *testing.T, got drawn, want []*image.NRGBA, duration float64) {
	t.Helper()
	if len(got.Frames) != len(want) || len(want) == 0 {
		t.Fatalf("%d frames are drawn of %d", len(got.Frames), len(want))
	}
	total := 0.0
	for i, text := range got.Frames {
		total += got.Times[i]
		pix, err := base64.StdEncoding.DecodeString(text)
		if err != nil || len(pix) != len(want[i].Pix) {
			t.Fatalf("frame %d has %d bytes, want %d: %v", i, len(pix), len(want[i].Pix), err)
		}
		worst := 0
		for at := 0; at < len(pix); at += 4 {
			p := want[i].Pix[at : at+4]
			for channel, behind := range [3]int{255, 0, 255} {
				over := (int(p[channel])*int(p[3]) + behind*(255-int(p[3])) + 127) / 255
				worst = max(worst, over-int(pix[at+channel]), int(pix[at+channel])-over)
			}
		}
		if worst > 1 {
			t.Errorf("frame %d is off by %d", i, worst)
		}
	}
	if math.Abs(total-1000*duration) > 1 {
		t.Errorf("the animation takes %v ms, want %v s", total, duration)
	}
}
