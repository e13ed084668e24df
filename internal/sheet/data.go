package sheet

import (
	"bytes"
	"encoding/json"
	"fmt"
	"image"
	"path/filepath"
	"strconv"
	"strings"

	"github.com/bgremove/bgremove/pkg/option"
)

// PageName is the name of a page's file: the sheet's own for page 0, and with
// "-1" and so on for the others.
func PageName(path string, page int) string {
	if page == 0 {
		return path
	}
	ext := filepath.Ext(path)
	return fmt.Sprintf("%s-%d%s", strings.TrimSuffix(path, ext), page, ext)
}

// DataName is the name of the file that describes the picture at path.
func DataName(path string) string { return strings.TrimSuffix(path, filepath.Ext(path)) + ".json" }

// rect, size and point are those of both schemas, in pixels or shares of a frame.
type rect struct {
	X int `json:"x"`
	Y int `json:"y"`
	W int `json:"w"`
	H int `json:"h"`
}

type size struct {
	W int `json:"w"`
	H int `json:"h"`
}

type point struct {
	X float64 `json:"x"`
	Y float64 `json:"y"`
}

func rectOf(r image.Rectangle) rect { return rect{r.Min.X, r.Min.Y, r.Dx(), r.Dy()} }

func sizeOf(p image.Point) size { return size{p.X, p.Y} }

// frameData is a frame in both schemas. TexturePacker has no durations: readers of its
// schema pass over them. PixiJS and Phaser read anchor, others pivot.
type frameData struct {
	Filename         string `json:"filename,omitempty"`
	Frame            rect   `json:"frame"`
	Rotated          bool   `json:"rotated"`
	Trimmed          bool   `json:"trimmed"`
	SpriteSourceSize rect   `json:"spriteSourceSize"`
	SourceSize       size   `json:"sourceSize"`
	Duration         int    `json:"duration"` // milliseconds
	Anchor           *point `json:"anchor,omitempty"`
	Pivot            *point `json:"pivot,omitempty"`
}

// meta is the rest in both schemas.
type meta struct {
	App       string     `json:"app"`
	Version   string     `json:"version"`
	Image     string     `json:"image"`
	Format    string     `json:"format"`
	Size      size       `json:"size"`
	Scale     string     `json:"scale"`
	Related   []string   `json:"related_multi_packs,omitempty"`
	FrameTags []frameTag `json:"frameTags,omitempty"`
	Layers    []layer    `json:"layers,omitempty"`
	Slices    []slice    `json:"slices,omitempty"`
}

// frameTag, layer and slice are Aseprite's.
type frameTag struct {
	Name      string `json:"name"`
	From      int    `json:"from"`
	To        int    `json:"to"`
	Direction string `json:"direction"`
	Color     string `json:"color"`
	Repeat    string `json:"repeat,omitempty"` // absent: for ever
}

type layer struct {
	Name      string `json:"name"`
	Opacity   int    `json:"opacity"`
	BlendMode string `json:"blendMode"`
}

type slice struct {
	Name  string     `json:"name"`
	Color string     `json:"color"`
	Keys  []sliceKey `json:"keys"`
}

type sliceKey struct {
	Frame  int   `json:"frame"`
	Bounds rect  `json:"bounds"`
	Pivot  point `json:"pivot"`
}

// ordered are frames under their names, in their order.
type ordered []frameData

// MarshalJSON makes the object.
func (o ordered) MarshalJSON() ([]byte, error) {
	var b bytes.Buffer
	b.WriteByte('{')
	for i, f := range o {
		if i > 0 {
			b.WriteByte(',')
		}
		name, err := json.Marshal(f.Filename)
		if err != nil {
			return nil, err
		}
		f.Filename = ""
		text, err := json.Marshal(f)
		if err != nil {
			return nil, err
		}
		b.Write(name)
		b.WriteByte(':')
		b.Write(text)
	}
	b.WriteByte('}')
	return b.Bytes(), nil
}

// data is what the file of a page says.
func (w *Writer) data(page int) ([]byte, error) {
	m := meta{App: "https://github.com/bgremove/bgremove", Version: "1.0", Image: PageName(w.opts.Image, page),
		Format: "RGBA8888", Size: sizeOf(w.pages[page]), Scale: "1"}
	frames := w.frameData(page)
	var file any
	switch w.opts.Data {
	case option.TexturePacker, "":
		file = w.texturePacker(m, frames)
	case option.Aseprite:
		file = w.aseprite(m, frames)
	default:
		return nil, fmt.Errorf("nothing writes the data of a sheet for %s", w.opts.Data)
	}
	text, err := json.MarshalIndent(file, "", " ")
	return append(text, '\n'), err
}

// texturePacker is TexturePacker's "JSON (Hash)". The animation is there where one page
// has all its frames.
func (w *Writer) texturePacker(m meta, frames []frameData) any {
	animations := map[string][]string{}
	for i := range w.pages {
		if image := PageName(w.opts.Image, i); image != m.Image {
			m.Related = append(m.Related, DataName(image))
		}
	}
	for i := range frames {
		pivot := point(w.opts.Pivot)
		frames[i].Anchor, frames[i].Pivot = &pivot, &pivot
		if len(w.pages) == 1 {
			animations[w.stem()] = append(animations[w.stem()], frames[i].Filename)
		}
	}
	return struct {
		Frames     ordered             `json:"frames"`
		Animations map[string][]string `json:"animations,omitempty"`
		Meta       meta                `json:"meta"`
	}{frames, animations, m}
}

// aseprite is Aseprite's array of frames, with one tag for all and the pivot in a
// slice, as its own export has it.
func (w *Writer) aseprite(m meta, frames []frameData) any {
	tag := frameTag{Name: w.stem(), To: len(frames) - 1, Direction: "forward", Color: "#000000ff"}
	if w.opts.Plays > 0 {
		tag.Repeat = strconv.Itoa(w.opts.Plays)
	}
	whole := sizeOf(w.size)
	pivot := point{w.opts.Pivot.X * float64(whole.W), w.opts.Pivot.Y * float64(whole.H)}
	m.FrameTags = []frameTag{tag}
	m.Layers = []layer{{Name: w.stem(), Opacity: 255, BlendMode: "normal"}}
	m.Slices = []slice{{Name: "pivot", Color: "#0000ffff", Keys: []sliceKey{{Bounds: rect{W: whole.W, H: whole.H}, Pivot: pivot}}}}
	return struct {
		Frames []frameData `json:"frames"`
		Meta   meta        `json:"meta"`
	}{frames, m}
}

// frameData describes the frames of a page, in their order.
func (w *Writer) frameData(page int) []frameData {
	list := []frameData{}
	whole := image.Rectangle{Max: w.size}
	for i, f := range w.frames {
		at := w.places[w.slot(i)]
		if at.Page != page {
			continue
		}
		seen := image.Rectangle{Min: f.offset, Max: f.offset.Add(w.sprites[f.sprite].size)}
		list = append(list, frameData{
			Filename: w.frameName(i), Frame: rectOf(image.Rectangle{Min: at.At, Max: at.At.Add(seen.Size())}),
			Trimmed: seen != whole, SpriteSourceSize: rectOf(seen), SourceSize: sizeOf(w.size), Duration: f.milliseconds,
		})
	}
	return list
}

// frameName is a frame's name. PixiJS keeps those of all sheets together, and Phaser
// looks for the number alone in Aseprite's schema.
func (w *Writer) frameName(i int) string {
	if w.opts.Data == option.Aseprite {
		return strconv.Itoa(i)
	}
	return fmt.Sprintf("%s-%04d", w.stem(), i)
}

// stem is the sheet's name, and the animation's.
func (w *Writer) stem() string { return strings.TrimSuffix(w.opts.Image, filepath.Ext(w.opts.Image)) }
