package gif_test

import (
	"bytes"
	"context"
	"errors"
	"io"
	"strings"
	"testing"
	"testing/iotest"
	"time"

	"github.com/google/go-cmp/cmp"

	"github.com/bgremove/bgremove/internal/media"
	"github.com/bgremove/bgremove/internal/media/gif"
)

// Pieces of small files: a canvas with the colours black, white, red and green,
// and pictures of one white pixel.
const (
	palette4   = "\x00\x00\x00\xff\xff\xff\xff\x00\x00\x00\xff\x00"
	header1x1  = "GIF89a\x01\x00\x01\x00\x91\x00\x00" + palette4
	header2x1  = "GIF89a\x02\x00\x01\x00\x91\x00\x00" + palette4
	whiteData  = "\x02\x02\x4c\x01\x00"
	dot        = ",\x00\x00\x00\x00\x01\x00\x01\x00\x00" + whiteData
	dotRight   = ",\x01\x00\x00\x00\x01\x00\x01\x00\x00" + whiteData
	loop       = "!\xff\x0bNETSCAPE2.0\x03\x01"
	trailer    = ";"
	delay5     = "!\xf9\x04\x00\x05\x00\x00\x00"
	delay1     = "!\xf9\x04\x00\x01\x00\x00\x00"
	delay2     = "!\xf9\x04\x00\x02\x00\x00\x00"
	background = "!\xf9\x04\x08\x05\x00\x00\x00"
	previous   = "!\xf9\x04\x0c\x05\x00\x00\x00"
	hidden     = "!\xf9\x04\x01\x05\x00\x01" // white is transparent
)

func TestErrors(t *testing.T) {
	t.Parallel()
	tests := map[string]struct {
		data string
		lim  media.Limits
		want error
	}{
		"empty":                     {"", media.Limits{}, gif.ErrMalformed},
		"png":                       {"\x89PNG\r\n\x1a\n....................", media.Limits{}, gif.ErrMalformed},
		"cut in the header":         {header1x1[:9], media.Limits{}, gif.ErrMalformed},
		"cut in the colour table":   {header1x1[:20], media.Limits{}, gif.ErrMalformed},
		"cut in the first picture":  {header1x1 + dot[:11], media.Limits{}, gif.ErrMalformed},
		"no block":                  {header1x1, media.Limits{}, gif.ErrMalformed},
		"no picture":                {header1x1 + loop + "\x00\x00\x00" + trailer, media.Limits{}, gif.ErrNoFrames},
		"garbage":                   {header1x1 + "garbage", media.Limits{}, gif.ErrMalformed},
		"code size 1":               {header1x1 + dot[:10] + "\x01" + whiteData[1:] + trailer, media.Limits{}, gif.ErrMalformed},
		"canvas without area":       {"GIF89a\x00\x00\x01\x00\x00\x00\x00" + ",\x00\x00\x00\x00\x00\x00\x01\x00\x00" + whiteData, media.Limits{}, gif.ErrMalformed},
		"canvas side of the header": {"GIF89a\xff\xff\xff\xff\x00\x00\x00", media.Limits{MaxSide: 65534}, &media.LimitError{What: "picture side", Got: 65535, Max: 65534}},
		"canvas side of a picture":  {header1x1 + ",\x00\x00\x00\x00\x05\x00\x01\x00\x00", media.Limits{MaxSide: 4}, &media.LimitError{What: "picture side", Got: 5, Max: 4}},
		"canvas area":               {"GIF89a\xff\xff\xff\xff\x00\x00\x00" + dot, media.Limits{MaxPixels: 1e6}, &media.LimitError{What: "pixels of all frames", Got: 65535 * 65535, Max: 1e6}},
		"frames":                    {header1x1 + dot + dot + dot, media.Limits{MaxFrames: 2}, &media.LimitError{What: "frames", Got: 3, Max: 2}},
		"pixels":                    {header2x1 + dot + dot + dot, media.Limits{MaxPixels: 5}, &media.LimitError{What: "pixels of all frames", Got: 6, Max: 5}},
		"picture beyond the canvas": {header1x1 + dot + ",\x00\x00\x00\x00\xff\xff\xff\xff\x00" + whiteData, media.Limits{MaxPixels: 1e6}, &media.LimitError{What: "pixels of all frames", Got: 65535*65535 + 1, Max: 1e6}},
	}
	for name, tt := range tests {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			_, scanErr := gif.Scan(strings.NewReader(tt.data), tt.lim)
			_, _, readErr := readAll(strings.NewReader(tt.data), tt.lim)
			for _, err := range []error{scanErr, readErr} {
				var want *media.LimitError
				if !errors.As(tt.want, &want) {
					if !errors.Is(err, tt.want) {
						t.Errorf("error %v, want %v", err, tt.want)
					}
					continue
				}
				var got *media.LimitError
				if !errors.As(err, &got) {
					t.Fatalf("error %v, want a LimitError", err)
				}
				if diff := cmp.Diff(want, got); diff != "" {
					t.Error(diff)
				}
			}
		})
	}
}

// TestTolerance reads faulty files. A frame is written as its pixels: W white,
// R red, - transparent.
func TestTolerance(t *testing.T) {
	t.Parallel()
	tests := map[string]struct {
		data      string
		want      string // frames, separated by blanks
		truncated bool
	}{
		"1x1":                        {header1x1 + dot + trailer, "W", false},
		"no trailer":                 {header1x1 + dot, "W", true},
		"bytes after the trailer":    {header1x1 + dot + trailer + "rest", "W", false},
		"garbage after a picture":    {header1x1 + dot + "garbage", "W", true},
		"cut in a later picture":     {header2x1 + dot + dotRight[:13], "W-", true},
		"cut in the data of a still": {header1x1 + dot[:13], "W", true},
		"later code size 12":         {header1x1 + dot + dot[:10] + "\x0c" + whiteData[1:] + dot, "W", true},
		"later data impossible":      {header1x1 + dot + dot[:10] + "\x02\x01\xff\x00" + dot, "W", true},
		"data that stop making sense": {
			header2x1 + ",\x00\x00\x00\x00\x02\x00\x01\x00\x00\x02\x02\xcc\x01\x00" + dotRight + trailer, "W- WW", true,
		},
		"missing pixels":        {header2x1 + ",\x00\x00\x00\x00\x02\x00\x01\x00\x00" + whiteData + trailer, "W-", false},
		"empty data":            {header1x1 + dot[:10] + "\x02\x00" + trailer, "-", false},
		"no colour table":       {"GIF89a\x01\x00\x01\x00\x00\x00\x00" + dot + trailer, "-", false},
		"right of the canvas":   {header1x1 + dot + dotRight + trailer, "W W", false},
		"zero canvas":           {"GIF89a\x00\x00\x00\x00\x91\x00\x00" + palette4 + dotRight + trailer, "-W", false},
		"picture beyond canvas": {header1x1 + ",\x00\x00\x00\x00\x02\x00\x01\x00\x00" + whiteData + trailer, "W-", false},
		"picture of no width":   {header1x1 + ",\x00\x00\x00\x00\x00\x00\x01\x00\x00" + whiteData + trailer, "W", false},
		"short control":         {header1x1 + "!\xf9\x02\x01\x05\x00" + dot + trailer, "W", false},
		"transparent":           {header1x1 + hidden + "\x00" + dot + trailer, "-", false},
		"to background":         {header2x1 + background + dot + dotRight + trailer, "W- -W", false},
		"to previous":           {header2x1 + dot + previous + dotRight + dot + trailer, "W- WW W-", false},
		"to background outside": {header1x1 + dot + background + dotRight + dot + trailer, "W W W", false},
	}
	for name, tt := range tests {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			frames, truncated, err := readAll(strings.NewReader(tt.data), media.Limits{})
			if err != nil {
				t.Fatal(err)
			}
			if got := sketch(frames); got != tt.want || truncated != tt.truncated {
				t.Errorf("frames %q, truncated %v; want %q, %v", got, truncated, tt.want, tt.truncated)
			}
			info, err := gif.Scan(strings.NewReader(tt.data), media.Limits{})
			if err != nil {
				t.Fatal(err)
			}
			checkInfo(t, name, info, frames)
		})
	}
}

func sketch(frames []*media.Frame) string {
	var all []string
	for _, f := range frames {
		var s strings.Builder
		for p := f.Image.Pix; len(p) > 0; p = p[4:] {
			switch [4]byte(p) {
			case [4]byte{}:
				s.WriteByte('-')
			case [4]byte{255, 255, 255, 255}:
				s.WriteByte('W')
			default:
				s.WriteByte('?')
			}
		}
		all = append(all, s.String())
	}
	return strings.Join(all, " ")
}

func TestScanInfo(t *testing.T) {
	t.Parallel()
	cut := header1x1 + dot
	tests := map[string]struct {
		data  string
		plays int
		alpha bool
		dur   time.Duration
	}{
		"no loop":                    {header1x1 + dot + trailer, 1, false, 100 * time.Millisecond},
		"for ever":                   {header1x1 + loop + "\x00\x00\x00" + dot + trailer, 0, false, 100 * time.Millisecond},
		"three plays":                {header1x1 + loop + "\x02\x00\x00" + dot + trailer, 3, false, 100 * time.Millisecond},
		"loop after the picture":     {header1x1 + dot + loop + "\x00\x00\x00" + trailer, 0, false, 100 * time.Millisecond},
		"delays":                     {header1x1 + delay5 + dot + delay1 + dot + delay2 + dot + trailer, 1, false, 170 * time.Millisecond},
		"canvas not covered":         {header2x1 + dot + trailer, 1, true, 100 * time.Millisecond},
		"covered later":              {header2x1 + dot + dotRight + trailer, 1, true, 200 * time.Millisecond},
		"transparent colour":         {header1x1 + hidden + "\x00" + dot + trailer, 1, true, 50 * time.Millisecond},
		"colour that shows through":  {header1x1 + dot + hidden + "\x00" + dot + trailer, 1, false, 150 * time.Millisecond},
		"erased and covered":         {header1x1 + background + dot + dot + trailer, 1, false, 150 * time.Millisecond},
		"erased, then see-through":   {header1x1 + background + dot + hidden + "\x00" + dot + trailer, 1, true, 100 * time.Millisecond},
		"erased at the end":          {header1x1 + dot + background + dot + trailer, 1, false, 150 * time.Millisecond},
		"transparent beyond colours": {header1x1 + "!\xf9\x04\x01\x05\x00\x09\x00" + dot + trailer, 1, false, 50 * time.Millisecond},
		"cut in a still":             {cut[:len(cut)-1], 1, true, 100 * time.Millisecond},
	}
	for name, tt := range tests {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			info, err := gif.Scan(strings.NewReader(tt.data), media.Limits{})
			if err != nil {
				t.Fatal(err)
			}
			if info.Plays != tt.plays || info.HasAlpha != tt.alpha || info.Duration != tt.dur {
				t.Errorf("plays %d, alpha %v, duration %v; want %d, %v, %v",
					info.Plays, info.HasAlpha, info.Duration, tt.plays, tt.alpha, tt.dur)
			}
		})
	}
}

func TestReaderDelays(t *testing.T) {
	t.Parallel()
	frames, _, err := readAll(strings.NewReader(header1x1+delay5+dot+delay1+dot+dot+delay2+dot+trailer), media.Limits{})
	if err != nil {
		t.Fatal(err)
	}
	var got [][3]time.Duration
	for _, f := range frames {
		got = append(got, [3]time.Duration{f.PTS / time.Millisecond, f.Duration / time.Millisecond, f.Delay / time.Millisecond})
	}
	want := [][3]time.Duration{{0, 50, 50}, {50, 100, 10}, {150, 100, 0}, {250, 20, 20}}
	if diff := cmp.Diff(want, got); diff != "" {
		t.Errorf("PTS, duration, delay in ms (-want +got):\n%s", diff)
	}
}

// endless repeats a picture after a header.
type endless struct {
	head, body string
	at         int
}

func (e *endless) Read(b []byte) (int, error) {
	n := 0
	for n < len(b) {
		if e.at < len(e.head) {
			k := copy(b[n:], e.head[e.at:])
			n, e.at = n+k, e.at+k
			continue
		}
		k := copy(b[n:], e.body[(e.at-len(e.head))%len(e.body):])
		n, e.at = n+k, e.at+k
	}
	return n, nil
}

// TestBombs reads endless files. They are refused after the limit and at most
// one buffer more.
func TestBombs(t *testing.T) {
	t.Parallel()
	const maxFrames = 10_000
	tests := map[string]struct {
		head  string
		lim   media.Limits
		what  string
		bytes int
	}{
		"frames":           {header1x1, media.Limits{MaxFrames: maxFrames}, "frames", maxFrames * len(dot)},
		"pixels":           {header1x1, media.Limits{MaxPixels: maxFrames}, "pixels of all frames", maxFrames * len(dot)},
		"huge canvas":      {"GIF89a\xff\xff\xff\xff\x91\x00\x00" + palette4, media.Limits{MaxPixels: 1 << 30}, "pixels of all frames", 0},
		"long canvas side": {"GIF89a\x01\x00\xff\xff\x91\x00\x00" + palette4, media.Limits{MaxSide: 4096}, "picture side", 0},
	}
	for name, tt := range tests {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			refuse := func(read func(r io.Reader) error) {
				r := &endless{head: tt.head, body: dot}
				var limit *media.LimitError
				if err := read(r); !errors.As(err, &limit) || limit.What != tt.what {
					t.Errorf("error %v, want a limit on %s", err, tt.what)
				}
				if r.at > tt.bytes+1<<16 {
					t.Errorf("%d bytes were read before", r.at)
				}
			}
			refuse(func(r io.Reader) error { _, err := gif.Scan(r, tt.lim); return err })
			refuse(func(r io.Reader) error { _, _, err := readAll(r, tt.lim); return err })
		})
	}
}

// TestMillionFrames scans a million frames in constant memory.
func TestMillionFrames(t *testing.T) {
	t.Parallel()
	const n = 1_000_000
	r := io.LimitReader(&endless{head: header1x1, body: dot}, int64(len(header1x1)+n*len(dot)))
	info, err := gif.Scan(r, media.Limits{})
	if err != nil || info.Frames != n {
		t.Errorf("%d frames, error %v", info.Frames, err)
	}
}

// TestScanAllocates checks that Scan's memory does not depend on the file.
func TestScanAllocates(t *testing.T) {
	data := []byte("GIF89a\xff\xff\xff\xff\x91\x00\x00" + palette4 + strings.Repeat(dot, 1000) + trailer)
	per := testing.AllocsPerRun(5, func() {
		if _, err := gif.Scan(bytes.NewReader(data), media.Limits{}); err != nil {
			t.Fatal(err)
		}
	})
	if per > 20 {
		t.Errorf("%v allocations for 1000 pictures", per)
	}
}

func TestReadErrors(t *testing.T) {
	t.Parallel()
	broken := errors.New("broken disk")
	data := header1x1 + dot + dot
	for n := range len(data) {
		r := func() io.Reader {
			return iotest.OneByteReader(io.MultiReader(strings.NewReader(data[:n]), iotest.ErrReader(broken)))
		}
		if _, err := gif.Scan(r(), media.Limits{}); !errors.Is(err, broken) || errors.Is(err, gif.ErrMalformed) {
			t.Errorf("after %d bytes Scan says %v", n, err)
		}
		if _, _, err := readAll(r(), media.Limits{}); !errors.Is(err, broken) {
			t.Errorf("after %d bytes Reader says %v", n, err)
		}
	}
}

func TestNextAfterTheEnd(t *testing.T) {
	t.Parallel()
	r, err := gif.NewReader(strings.NewReader(header1x1+dot+dot+trailer), media.Limits{}, new(media.Pool))
	if err != nil {
		t.Fatal(err)
	}
	ctx, cancel := context.WithCancel(context.Background())
	cancel()
	if _, err := r.Next(ctx); !errors.Is(err, context.Canceled) {
		t.Errorf("Next with a cancelled context: %v", err)
	}
	if _, err := r.Next(context.Background()); err != nil {
		t.Error(err)
	}
	for range 2 {
		if err := r.Close(); err != nil {
			t.Error(err)
		}
		if _, err := r.Next(context.Background()); !errors.Is(err, io.EOF) {
			t.Errorf("Next after Close: %v", err)
		}
	}
}

// A file that ends within a picture is reported as cut. A file that only lacks
// its trailer, as many do, is not.
func TestScanTruncated(t *testing.T) {
	t.Parallel()
	for name, tt := range map[string]struct {
		data string
		want bool
	}{
		"whole":                {header1x1 + dot + trailer, false},
		"no trailer":           {header1x1 + dot, false},
		"cut in a still":       {header1x1 + dot[:13], true},
		"cut in a later frame": {header2x1 + dot + dotRight[:13], true},
		"cut in a descriptor":  {header2x1 + dot + dotRight[:5], true},
		"cut in an extension":  {header2x1 + dot + hidden[:3], true},
		"garbage behind":       {header1x1 + dot + trailer + "garbage", false},
	} {
		info, err := gif.Scan(strings.NewReader(tt.data), media.Limits{})
		if err != nil || info.Truncated != tt.want {
			t.Errorf("%s: truncated %v, %v; want %v", name, info.Truncated, err, tt.want)
		}
	}
}
