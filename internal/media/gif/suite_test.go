package gif_test

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"image"
	"image/draw"
	"image/png"
	"io"
	"os"
	"path/filepath"
	"strconv"
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"github.com/bgremove/bgremove/internal/media"
	"github.com/bgremove/bgremove/internal/media/gif"
)

// suiteDir holds the GIF test suite of pygif; see its README.md.
const suiteDir = "../../../testdata/pygif"

// frameByFrame are cases with pictures without a delay. The suite, like the
// specification, paints these together with the next picture. Browsers show
// each for 100 ms, and so do we. The frames that the suite expects are all
// there, in order and exact; the others have no delay. The suite's own runner
// compares only the last frame of each case.
var frameByFrame = map[string]int{
	"images-combine":                            4,
	"images-overlap":                            2,
	"high-color":                                4,
	"dispose-restore-previous":                  5,
	"animation-multi-image":                     7,
	"animation-multi-image-explicit-zero-delay": 7,
}

// refused are the cases that are not readable GIFs. The suite expects no frame
// from them either, except for no-data.
var refused = map[string]error{
	"zero-width":         gif.ErrNoFrames,
	"zero-height":        gif.ErrNoFrames,
	"zero-size":          gif.ErrNoFrames,
	"max-size":           gif.ErrNoFrames,
	"invalid-code":       gif.ErrMalformed,
	"overflow-codes":     gif.ErrMalformed,
	"overflow-codes-max": gif.ErrMalformed,
	"no-data":            gif.ErrNoFrames,
}

// unstated are cases with a picture for which the suite names no frame. Its
// runner accepts any result. Our result is below.
var unstated = map[string]rgba{
	"plain-text":     {0, 0, 0, 255}, // the picture; plain text is not drawn, like in browsers
	"invalid-colors": {0, 0, 0, 0},   // a colour outside the palette, like in Chromium
}

type rgba [4]uint8

// exceptions are the cases with another result than the suite's.
var exceptions = map[string]string{
	"no-data":          "no picture in the file: the suite has one transparent frame, we ErrNoFrames; browsers show a broken image",
	"gif87a-animation": "the suite has it loop for ever, but the file has no loop count: one play, as in browsers",
}

func TestSuite(t *testing.T) {
	t.Parallel()
	names := suiteNames(t)
	passed, exact := 0, 0
	for _, name := range names {
		want := readCase(t, name)
		got, err := decodeSuite(t, name)
		diff := checkCase(name, want, got, err)
		switch reason, known := exceptions[name]; {
		case diff == "" && known:
			t.Errorf("%s passes, but is listed as an exception: %s", name, reason)
		case diff == "":
			passed++
			if _, more := frameByFrame[name]; !more {
				exact++
			}
		case !known:
			t.Errorf("%s: %s", name, diff)
		default:
			t.Logf("exception %s: %s\n%s", name, reason, diff)
		}
	}
	t.Logf("%d of %d (%d of them frame for frame, the others with further frames where the suite joins pictures without a delay)",
		passed, len(names), exact)
}

// decoded is a GIF in the suite's description or as we read it.
type decoded struct {
	width, height int
	plays         int
	frames        []frame
}

type frame struct {
	delay time.Duration
	pix   []byte // NRGBA
}

// checkCase returns the fault, or "".
func checkCase(name string, want, got decoded, err error) string {
	if sentinel, bad := refused[name]; bad {
		switch {
		case !errors.Is(err, sentinel):
			return fmt.Sprintf("error %v, want %v", err, sentinel)
		case len(want.frames) > 0:
			return "refused, but the suite expects a frame"
		}
		return ""
	}
	if err != nil {
		return err.Error()
	}
	if diff := cmp.Diff([3]int{want.width, want.height, want.plays}, [3]int{got.width, got.height, got.plays}); diff != "" {
		return "width, height, plays (-want +got):\n" + diff
	}
	if c, ok := unstated[name]; ok {
		want.frames = []frame{{pix: bytes.Repeat(c[:], want.width*want.height)}}
	}
	if n, more := frameByFrame[name]; more {
		return checkSubsequence(want.frames, got.frames, n)
	}
	return checkFrames(want.frames, got.frames)
}

func checkFrames(want, got []frame) string {
	if len(want) != len(got) {
		return fmt.Sprintf("%d frames, want %d", len(got), len(want))
	}
	for i := range want {
		if want[i].delay != got[i].delay || !samePixels(want[i].pix, got[i].pix) {
			return fmt.Sprintf("frame %d differs (delay %v, want %v)", i, got[i].delay, want[i].delay)
		}
	}
	return ""
}

// checkSubsequence checks for n frames that contain the expected ones in order,
// with the last one at the end. No other frame has a delay.
func checkSubsequence(want, got []frame, n int) string {
	if len(got) != n {
		return fmt.Sprintf("%d frames, want %d", len(got), n)
	}
	for i, f := range got {
		switch {
		case len(want) > 0 && f.delay == want[0].delay && samePixels(want[0].pix, f.pix):
			want = want[1:]
		case f.delay > 0 || i == len(got)-1:
			return fmt.Sprintf("frame %d with delay %v is not as expected", i, f.delay)
		}
	}
	if len(want) > 0 {
		return fmt.Sprintf("%d expected frames are missing", len(want))
	}
	return ""
}

// samePixels compares like the suite: all transparent pixels are equal.
func samePixels(a, b []byte) bool {
	if len(a) != len(b) {
		return false
	}
	for i := 0; i < len(a); i += 4 {
		if !bytes.Equal(a[i:i+4], b[i:i+4]) && (a[i+3] != 0 || b[i+3] != 0) {
			return false
		}
	}
	return true
}

func suiteNames(t testing.TB) []string {
	t.Helper()
	list, err := os.ReadFile(filepath.Join(suiteDir, "TESTS"))
	if err != nil {
		t.Fatal(err)
	}
	names := strings.Fields(string(list))
	if len(names) != 84 {
		t.Fatalf("the suite has %d cases, want 84", len(names))
	}
	return names
}

func suiteFile(t testing.TB, name string) []byte {
	t.Helper()
	b, err := os.ReadFile(filepath.Join(suiteDir, name))
	if err != nil {
		t.Fatal(err)
	}
	return b
}

// readCase reads NAME.conf, an ini file, and the frames it names.
func readCase(t *testing.T, name string) decoded {
	t.Helper()
	sections := map[string]map[string]string{}
	var section map[string]string
	for line := range strings.Lines(string(suiteFile(t, name+".conf"))) {
		line = strings.TrimSpace(line)
		if strings.HasPrefix(line, "[") {
			section = map[string]string{}
			sections[strings.Trim(line, "[]")] = section
		} else if key, value, ok := strings.Cut(line, "="); ok {
			section[strings.TrimSpace(key)] = strings.TrimSpace(value)
		}
	}
	config := sections["config"]
	c := decoded{width: number(t, config["width"]), height: number(t, config["height"])}
	if loops := config["loop-count"]; loops != "infinite" {
		c.plays = number(t, loops) + 1
	}
	for _, id := range strings.FieldsFunc(config["frames"], func(r rune) bool { return r == ',' }) {
		f := frame{pix: suiteReadPNG(t, strings.TrimSuffix(sections[id]["pixels"], ".rgba")+".png")}
		if delay := sections[id]["delay"]; delay != "" {
			f.delay = time.Duration(number(t, delay)) * 10 * time.Millisecond
		}
		c.frames = append(c.frames, f)
	}
	return c
}

func number(t *testing.T, s string) int {
	t.Helper()
	n, err := strconv.Atoi(s)
	if err != nil {
		t.Fatal(err)
	}
	return n
}

func suiteReadPNG(t *testing.T, name string) []byte {
	t.Helper()
	src, err := png.Decode(bytes.NewReader(suiteFile(t, name)))
	if err != nil {
		t.Fatal(err)
	}
	img, ok := src.(*image.NRGBA)
	if !ok {
		img = image.NewNRGBA(src.Bounds())
		draw.Draw(img, img.Rect, src, src.Bounds().Min, draw.Src)
	}
	return img.Pix
}

// decodeSuite reads a case with Scan and with a Reader and compares them.
func decodeSuite(t *testing.T, name string) (decoded, error) {
	t.Helper()
	data := suiteFile(t, name+".gif")
	frames, _, err := readAll(bytes.NewReader(data), media.Limits{})
	info, scanErr := gif.Scan(bytes.NewReader(data), media.Limits{})
	if fmt.Sprint(err) != fmt.Sprint(scanErr) {
		t.Errorf("%s: Scan says %v, Reader %v", name, scanErr, err)
	}
	if err != nil {
		return decoded{}, err
	}
	checkInfo(t, name, info, frames)
	c := decoded{width: info.Width, height: info.Height, plays: info.Plays}
	for _, f := range frames {
		c.frames = append(c.frames, frame{delay: f.Delay, pix: f.Image.Pix})
	}
	return c, nil
}

// readAll reads until io.EOF or an error.
func readAll(r io.Reader, lim media.Limits) (frames []*media.Frame, truncated bool, err error) {
	src, err := gif.NewReader(r, lim, nil)
	if err != nil {
		return nil, false, err
	}
	defer src.Close()
	for {
		f, err := src.Next(context.Background())
		if errors.Is(err, io.EOF) {
			return frames, src.Truncated(), nil
		}
		if err != nil {
			return frames, src.Truncated(), err
		}
		frames = append(frames, f)
	}
}

// checkInfo compares the result of Scan with that of reading.
func checkInfo(t *testing.T, name string, info media.Info, frames []*media.Frame) {
	t.Helper()
	want := media.Info{
		Container: media.GIF, Codec: "gif", TimeBase: media.Rational{Num: 1, Den: 100},
		Plays: info.Plays, HasAlpha: info.HasAlpha, Truncated: info.Truncated,
		Frames: len(frames),
	}
	for i, f := range frames {
		want.Width, want.Height = f.Image.Rect.Dx(), f.Image.Rect.Dy()
		if f.PTS != want.Duration {
			t.Errorf("%s: frame %d has PTS %v, want %v", name, i, f.PTS, want.Duration)
		}
		want.Duration += f.Duration
		want.LastFrame = f.Duration
	}
	if diff := cmp.Diff(want, info); diff != "" {
		t.Errorf("%s: Scan against the frames read (-read +scan):\n%s", name, diff)
	}
}
