package heif_test

import (
	"bytes"
	"encoding/binary"
	"errors"
	"image"
	"io"
	"strings"
	"testing"

	"github.com/bgremove/bgremove/internal/media"
	"github.com/bgremove/bgremove/internal/media/heif"
)

func box(kind string, parts ...[]byte) []byte {
	body := bytes.Join(parts, nil)
	return append(append(binary.BigEndian.AppendUint32(nil, uint32(len(body)+8)), kind...), body...)
}

func full(kind string, version int, parts ...[]byte) []byte {
	return box(kind, append([][]byte{u32(version << 24)}, parts...)...)
}

func u16(n ...int) (b []byte) {
	for _, v := range n {
		b = binary.BigEndian.AppendUint16(b, uint16(v))
	}
	return b
}

func u32(n ...int) (b []byte) {
	for _, v := range n {
		b = binary.BigEndian.AppendUint32(b, uint32(v))
	}
	return b
}

// item is a part of a file that a test makes.
type item struct {
	kind       string
	data       []byte
	properties []int // from 1
}

// drawing is a file of a test.
type drawing struct {
	items      []item // numbered from 1; the first is the primary one
	properties [][]byte
	references [][]byte
	length     int    // of the last item's data, if it is not what it says
	parts      int    // of each item's data, 0 is 1
	same       bool   // all items have the data of the first
	more       []byte // a further box of what items have
}

// bytes is the file.
func (d drawing) bytes() []byte {
	var infos, places, has, data []byte
	for i, it := range d.items {
		infos = append(infos, full("infe", 2, u16(i+1, 0), []byte(it.kind), []byte{0})...)
		length := len(it.data)
		if d.length != 0 && i == len(d.items)-1 {
			length = d.length
		}
		at, parts := len(data), max(1, d.parts)
		if d.same {
			at, length = 0, len(d.items[0].data)
		}
		places = append(places, u16(i+1, 1, 0, parts)...) // in idat
		places = append(places, bytes.Repeat(u32(at, length), parts)...)
		data = append(data, it.data...)
		has = append(append(has, u16(i+1)...), byte(len(it.properties)))
		for _, p := range it.properties {
			has = append(has, byte(p)|0x80)
		}
	}
	meta := full("meta", 0, full("hdlr", 0, u32(0), []byte("pict"), u32(0, 0, 0), []byte{0}), full("pitm", 0, u16(1)),
		full("iloc", 1, []byte{0x44, 0}, u16(len(d.items)), places), full("iinf", 0, u16(len(d.items)), infos),
		full("iref", 0, d.references...), box("iprp", box("ipco", d.properties...), full("ipma", 0, u32(len(d.items)), has), d.more), box("idat", data))
	return append(box("ftyp", []byte("avif"), u32(0), []byte("mif1")), meta...)
}

// with gives an item further properties.
func with(d drawing, item int, properties ...[]byte) drawing {
	for _, p := range properties {
		d.properties = append(d.properties, p)
		d.items[item].properties = append(d.items[item].properties, len(d.properties))
	}
	return d
}

func size(w, h int) []byte { return full("ispe", 0, u32(w, h)) }

// The properties of drawings.
var (
	config   = box("av1C", []byte{0x81, 0, 0b1100, 0})
	alphaOf  = full("auxC", 0, []byte("urn:mpeg:mpegB:cicp:systems:auxiliary:alpha\x00"))
	aperture = box("clap", u32(20, 1, 10, 1, -5, 1, 5, 2))
	coding   = box("colr", []byte("nclx"), u16(9, 16, 9), []byte{0x80})
)

func reference(kind string, from int, to ...int) []byte {
	return box(kind, u16(from, len(to)), u16(to...))
}

// single is a picture with alpha, which is cropped, turned and mirrored.
func single() drawing {
	return drawing{
		items: []item{{"av01", []byte("colours"), []int{1, 2, 4, 5, 6, 7}}, {"av01", []byte("alpha"), []int{1, 2, 3}}},
		properties: [][]byte{size(64, 48), config, alphaOf, coding, aperture,
			box("irot", []byte{3}), box("imir", []byte{1})},
		references: [][]byte{reference("auxl", 2, 1), reference("prem", 1, 2)},
	}
}

// tiled is a grid of two tiles, each with its own alpha.
func tiled() drawing {
	return drawing{
		items: []item{{"grid", append([]byte{0, 0, 0, 1}, u16(60, 30)...), []int{3}},
			{"av01", []byte("left"), []int{1, 2}}, {"av01", []byte("right"), []int{1, 2}},
			{"av01", []byte("alpha left"), []int{1, 2, 4}}, {"av01", []byte("alpha right"), []int{1, 2, 4}}},
		properties: [][]byte{size(32, 32), config, size(60, 30), alphaOf},
		references: [][]byte{reference("dimg", 1, 2, 3), reference("auxl", 4, 2), reference("auxl", 5, 3)},
	}
}

func read(b []byte) (*heif.Picture, error) { return heif.Read(bytes.NewReader(b), int64(len(b))) }

func TestRead(t *testing.T) {
	t.Parallel()
	file := single().bytes()
	p, err := read(file)
	if err != nil {
		t.Fatal(err)
	}
	if want := (heif.Coding{Primaries: 9, Transfer: 16, Matrix: 9, Full: true}); p.Coding == nil || *p.Coding != want {
		t.Errorf("coding %+v", p.Coding)
	}
	if p.Size() != image.Pt(10, 20) || p.Crop != image.Rect(17, 21, 37, 31) || p.Turns != 3 || p.Mirror != heif.LeftRight || !p.Premultiplied {
		t.Errorf("it is %+v", p)
	}
	if !p.Colours.Subsampled() || p.Alpha == nil {
		t.Fatalf("colours %+v, alpha %+v", p.Colours, p.Alpha)
	}
	for want, l := range map[string]*heif.Layer{"colours": &p.Colours, "alpha": p.Alpha} {
		if data, err := l.Read(bytes.NewReader(file), 0); string(data) != want || err != nil {
			t.Errorf("data %q: %v", data, err)
		}
	}
}

// All of what is coded may be chosen by name, and alpha be turned as its colours.
func TestChosen(t *testing.T) {
	t.Parallel()
	for _, d := range []drawing{with(single(), 0, box("a1op", []byte{0}), box("lsel", u16(0xFFFF))), with(single(), 1, box("irot", []byte{3}))} {
		if _, err := read(d.bytes()); err != nil {
			t.Error(err)
		}
	}
}

func TestTiles(t *testing.T) {
	t.Parallel()
	file := tiled().bytes()
	p, err := read(file)
	if err != nil {
		t.Fatal(err)
	}
	if p.Size() != image.Pt(60, 30) || p.Colours.Columns != 2 || p.Colours.Rows != 1 || p.Colours.Tile != image.Pt(32, 32) || p.Alpha == nil {
		t.Fatalf("it is %+v", p)
	}
	if data, err := p.Alpha.Read(bytes.NewReader(file), 1); string(data) != "alpha right" || err != nil {
		t.Errorf("data %q: %v", data, err)
	}
}

// Alpha of tiles says for each that its colours are premultiplied.
func TestPremultipliedTiles(t *testing.T) {
	t.Parallel()
	d := tiled()
	d.references = append(d.references, reference("prem", 2, 4), reference("prem", 3, 5))
	if p, err := read(d.bytes()); err != nil || !p.Premultiplied {
		t.Errorf("it is %+v: %v", p, err)
	}
}

// Every fault has an error that says whether the file is damaged or only not read.
func TestErrors(t *testing.T) {
	t.Parallel()
	const damaged, notRead = "damaged", "does not read"
	for name, tt := range map[string]struct {
		make func() drawing
		want string
	}{
		"no item":          {func() drawing { return drawing{} }, damaged},
		"other codec":      {func() drawing { d := single(); d.items[0].kind = "jpeg"; return d }, "the type jpeg; bgremove does not read that"},
		"overlay":          {func() drawing { d := single(); d.items[0].kind = "iov\x01"; return d }, "the type iov?; bgremove does not read that"},
		"other alpha":      {func() drawing { d := single(); d.items[1].kind = "jpeg"; return d }, notRead},
		"property":         {func() drawing { d := single(); d.properties[4] = box("else"); return d }, "the property else; bgremove does not read that"},
		"grid's property":  {func() drawing { return with(tiled(), 0, box("else")) }, "the property else"},
		"turned tile":      {func() drawing { return with(tiled(), 2, box("irot", []byte{1})) }, "cropped or turned"},
		"turned alpha":     {func() drawing { return with(tiled(), 4, box("imir", []byte{1})) }, "cropped or turned"},
		"a layer":          {func() drawing { return with(single(), 1, box("lsel", u16(1))) }, "the property lsel"},
		"operating point":  {func() drawing { return with(single(), 0, box("a1op", []byte{1})) }, "the property a1op"},
		"turned twice":     {func() drawing { return with(single(), 0, box("irot", []byte{1})) }, "order"},
		"mirror, turn":     {func() drawing { return with(tiled(), 0, box("imir", []byte{1}), box("irot", []byte{1})) }, "order"},
		"turn, crop":       {func() drawing { return with(tiled(), 0, box("irot", []byte{1}), aperture) }, "order"},
		"short aperture":   {func() drawing { return with(tiled(), 0, box("clap", u32(20, 1, 10, 1))) }, damaged},
		"short turn":       {func() drawing { return with(tiled(), 0, box("irot")) }, damaged},
		"own turn":         {func() drawing { return with(single(), 1, box("irot", []byte{1})) }, "otherwise than its colours"},
		"no size":          {func() drawing { d := single(); d.properties[0] = size(0, 48); return d }, damaged},
		"huge":             {func() drawing { d := single(); d.properties[0] = size(1<<31, 1<<31); return d }, damaged},
		"no config":        {func() drawing { d := single(); d.properties[1] = box("free"); return d }, notRead},
		"short config":     {func() drawing { d := single(); d.properties[1] = box("av1C"); return d }, damaged},
		"aperture outside": {func() drawing { d := single(); d.properties[4] = box("clap", u32(65, 1, 10, 1, 0, 1, 0, 1)); return d }, damaged},
		"aperture of zero": {func() drawing { d := single(); d.properties[4] = box("clap", u32(1, 0, 10, 1, 0, 1, 0, 1)); return d }, damaged},
		"outside":          {func() drawing { d := single(); d.length = 1 << 30; return d }, "incomplete"},
		"no data":          {func() drawing { d := single(); d.items[1].data = nil; return d }, "incomplete"},
		"no property":      {func() drawing { d := single(); d.items[0].properties[0] = 99; return d }, damaged},
		"tiles missing":    {func() drawing { d := tiled(); d.references[0] = reference("dimg", 1, 2); return d }, damaged},
		"tile of itself":   {func() drawing { d := tiled(); d.references[0] = reference("dimg", 1, 1, 2); return d }, notRead},
		"tile twice":       {func() drawing { d := tiled(); d.references[0] = reference("dimg", 1, 2, 2); return d }, damaged},
		"tiles twice": {func() drawing {
			d := tiled()
			d.references = append(d.references, reference("dimg", 1, 2, 3))
			return d
		}, damaged},
		"properties twice": {func() drawing { d := single(); d.more = full("ipma", 0, u32(1), u16(1), []byte{1, 1}); return d }, damaged},
		"many parts":       {func() drawing { d := single(); d.parts = 65; return d }, "too many parts"},
		"tile not there":   {func() drawing { d := tiled(); d.references[0] = reference("dimg", 1, 2, 9); return d }, damaged},
		"small tiles":      {func() drawing { d := tiled(); d.properties[0] = size(16, 16); return d }, damaged},
		"needless tiles":   {func() drawing { d := tiled(); d.properties[0] = size(60, 60); return d }, damaged},
		"odd tiles":        {func() drawing { d := tiled(); d.properties[0] = size(31, 31); return d }, notRead},
		"differing tiles":  {func() drawing { d := tiled(); d.items[2].properties = []int{3, 2}; return d }, notRead},
		"some alpha":       {func() drawing { d := tiled(); d.references = d.references[:2]; return d }, notRead},
		"some premultiplied": {func() drawing {
			d := tiled()
			d.references = append(d.references, reference("prem", 2, 4))
			return d
		}, "premultiplied"},
		"short grid": {func() drawing { d := tiled(); d.items[0].data = []byte{0, 0, 0, 1}; return d }, damaged},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			_, err := read(tt.make().bytes())
			if err == nil || !strings.Contains(err.Error(), tt.want) {
				t.Errorf("the error is %v", err)
			}
			checkKind(t, err)
		})
	}
}

func checkKind(t *testing.T, err error) {
	t.Helper()
	if err != nil && !errors.As(err, new(*media.UnreadableError)) && !errors.As(err, new(*heif.NotReadError)) {
		t.Errorf("the error %v is of the type %T", err, err)
	}
}

// A file that ends anywhere is refused.
func TestIncomplete(t *testing.T) {
	t.Parallel()
	file := tiled().bytes()
	for n := range file {
		if _, err := read(file[:n]); err == nil {
			t.Errorf("the first %d bytes of %d are a picture", n, len(file))
		} else {
			checkKind(t, err)
		}
	}
}

// Many tiles of the same bytes are more work than a small file may ask for.
func TestRepeated(t *testing.T) {
	t.Parallel()
	for parts, want := range map[int]string{1: "more bytes", 64: "too many parts"} {
		d := drawing{
			items:      []item{{"grid", append(append([]byte{0, 0, 31, 63}, u16(32*64, 32*32)...), make([]byte, 1<<10)...), []int{1}}},
			properties: [][]byte{size(32, 32), config}, parts: parts, same: true,
		}
		var tiles []int
		for i := range 32 * 64 {
			d.items, tiles = append(d.items, item{"av01", nil, []int{1, 2}}), append(tiles, i+2)
		}
		d.references = [][]byte{reference("dimg", 1, tiles...)}
		if _, err := read(d.bytes()); err == nil || !strings.Contains(err.Error(), want) {
			t.Errorf("of %d parts: %v", parts, err)
		}
	}
}

// endless is a file of boxes of eight bytes. It counts the reads.
type endless int

func (e *endless) ReadAt(p []byte, _ int64) (int, error) {
	*e++
	return copy(p, "\x00\x00\x00\x08free"), io.EOF
}

// A file of nothing but small boxes is not read to its end.
func TestManyBoxes(t *testing.T) {
	t.Parallel()
	var reads endless
	const size, enough = 1 << 25, 100_000
	if _, err := heif.Read(&reads, size); !errors.As(err, new(*media.UnreadableError)) || reads > enough {
		t.Errorf("%v after %d reads", err, reads)
	}
}

func FuzzRead(f *testing.F) {
	f.Add(single().bytes())
	f.Add(tiled().bytes())
	f.Fuzz(func(t *testing.T, file []byte) {
		p, err := read(file)
		checkKind(t, err)
		if err != nil {
			return
		}
		for _, l := range []*heif.Layer{&p.Colours, p.Alpha} {
			for i := 0; l != nil && i < l.Count(); i++ {
				if data, err := l.Read(bytes.NewReader(file), i); err != nil || len(data) > len(file)*2 {
					t.Fatalf("tile %d has %d bytes: %v", i, len(data), err)
				}
			}
		}
	})
}
