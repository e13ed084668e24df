package webp_test

import (
	"bytes"
	"encoding/binary"
	"image"
	"os"
	"os/exec"
	"regexp"
	"strconv"
	"testing"

	"golang.org/x/image/webp"
)

// animation is what a file says, read by this test alone.
type animation struct {
	width, height, plays int
	alpha                bool
	frames               []shown
}

// shown is a stored frame: its rectangle, and the canvas after it.
type shown struct {
	rect         image.Rectangle
	over         bool
	milliseconds int
	canvas       *image.NRGBA
}

// read decodes an animation.
func read(t *testing.T, file []byte) animation {
	t.Helper()
	var a animation
	if size := binary.LittleEndian.Uint32(file[4:]); string(file[:4]) != "RIFF" || int(size) != len(file)-8 || string(file[8:12]) != "WEBP" {
		t.Fatalf("the head is %q in a file of %d bytes", file[:12], len(file))
	}
	var canvas *image.NRGBA
	each(t, file[12:], func(kind string, data []byte) {
		switch kind {
		case "VP8X":
			a.alpha, a.width, a.height = data[0]&0x10 != 0, u24(data[4:])+1, u24(data[7:])+1
			canvas = image.NewNRGBA(image.Rect(0, 0, a.width, a.height))
			if data[0]&0x02 == 0 {
				t.Error("the file does not say that it is animated")
			}
		case "ANIM":
			a.plays = int(binary.LittleEndian.Uint16(data[4:]))
		case "ANMF":
			at := image.Pt(2*u24(data), 2*u24(data[3:]))
			f := shown{rect: image.Rectangle{at, at.Add(image.Pt(u24(data[6:])+1, u24(data[9:])+1))}, milliseconds: u24(data[12:]), over: data[15]&2 == 0}
			if data[15]&1 != 0 {
				t.Error("a frame is disposed of")
			}
			compose(canvas, still(t, f.rect, data[16:]), f)
			f.canvas = &image.NRGBA{Pix: bytes.Clone(canvas.Pix), Stride: canvas.Stride, Rect: canvas.Rect}
			a.frames = append(a.frames, f)
		default:
			t.Errorf("there is a chunk %q", kind)
		}
	})
	return a
}

// each calls do for each chunk.
func each(t *testing.T, rest []byte, do func(kind string, data []byte)) {
	t.Helper()
	for len(rest) > 0 {
		size := int(binary.LittleEndian.Uint32(rest[4:]))
		do(string(rest[:4]), rest[8:8+size])
		rest = rest[8+size+size&1:]
	}
}

func u24(b []byte) int { return int(b[0]) | int(b[1])<<8 | int(b[2])<<16 }

// still decodes a frame's bitstream.
func still(t *testing.T, r image.Rectangle, bitstream []byte) *image.NRGBA {
	t.Helper()
	var body []byte
	if string(bitstream[:4]) == "ALPH" {
		head := []byte("VP8X\x0a\x00\x00\x00\x10\x00\x00\x00")
		for _, n := range []int{r.Dx() - 1, r.Dy() - 1} {
			head = append(head, byte(n), byte(n>>8), byte(n>>16))
		}
		body = head
	}
	body = append(append([]byte("WEBP"), body...), bitstream...)
	img, err := webp.Decode(bytes.NewReader(append(binary.LittleEndian.AppendUint32([]byte("RIFF"), uint32(len(body))), body...)))
	if err != nil {
		t.Fatal(err)
	}
	if img.Bounds().Size() != r.Size() {
		t.Fatalf("a picture of %v in %v", img.Bounds(), r)
	}
	straight := image.NewNRGBA(img.Bounds())
	switch p := img.(type) {
	case *image.NRGBA:
		return p
	case *image.NYCbCrA:
		for i := range straight.Pix {
			x, y := i/4%r.Dx(), i/4/r.Dx()
			straight.Pix[i] = component(&p.YCbCr, x, y, i%4)
			if i%4 == 3 {
				straight.Pix[i] = p.A[p.AOffset(x, y)]
			}
		}
	case *image.YCbCr:
		for i := range straight.Pix {
			straight.Pix[i] = component(p, i/4%r.Dx(), i/4/r.Dx(), i%4)
		}
	}
	return straight
}

// component is red, green or blue of a pixel, or 255. VP8 has BT.601 in limited
// range (RFC 6386, section 9.2), which the standard library does not know.
func component(p *image.YCbCr, x, y, i int) uint8 {
	c := p.COffset(x, y)
	l, b, r := 1.164*(float64(p.Y[p.YOffset(x, y)])-16), float64(p.Cb[c])-128, float64(p.Cr[c])-128
	return uint8(max(0, min(255, [4]float64{l + 1.596*r, l - 0.392*b - 0.813*r, l + 2.017*b, 255}[i]+0.5)))
}

// compose shows a frame on the canvas. Pixels over others are opaque, or on
// transparent ones: the writer promises it.
func compose(canvas, img *image.NRGBA, f shown) {
	for y := range img.Rect.Dy() {
		for x := range img.Rect.Dx() {
			p := img.NRGBAAt(x, y)
			if f.over && p.A == 0 {
				continue
			}
			if below := canvas.NRGBAAt(f.rect.Min.X+x, f.rect.Min.Y+y); f.over && p.A != 255 && below.A != 0 {
				panic("a frame is not exact")
			}
			canvas.SetNRGBA(f.rect.Min.X+x, f.rect.Min.Y+y, p)
		}
	}
}

var muxLine = regexp.MustCompile(`(?m)^ *\d+: +\d+ +\d+ +\w+ +\d+ +\d+ +(\d+) `)

// delays are the frames' times in milliseconds as Google's webpmux reads them, and
// webpinfo finds no fault in the file.
func delays(t *testing.T, path string) []int {
	t.Helper()
	if out, err := exec.CommandContext(t.Context(), "webpinfo", "-quiet", path).CombinedOutput(); err != nil || len(out) > 0 {
		t.Errorf("webpinfo: %v: %s", err, out)
	}
	out, err := exec.CommandContext(t.Context(), "webpmux", "-info", path).CombinedOutput()
	if err != nil {
		t.Fatalf("webpmux: %v: %s", err, out)
	}
	var all []int
	for _, m := range muxLine.FindAllSubmatch(out, -1) {
		n, _ := strconv.Atoi(string(m[1]))
		all = append(all, n)
	}
	return all
}

func contents(t *testing.T, path string) []byte {
	t.Helper()
	b, err := os.ReadFile(path)
	if err != nil {
		t.Fatal(err)
	}
	return b
}
