// Package sheettest reads sprite sheets back, as engines do: by their data alone.
package sheettest

import (
	"bytes"
	"encoding/json"
	"fmt"
	"image"
	"image/draw"
	"image/png"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"
)

// Frame is a frame of a sheet, whole and at its size.
type Frame struct {
	Name         string
	Image        *image.NRGBA
	Milliseconds int
	At           image.Rectangle // on its page
	Page         string          // the page's file
}

// Data is a file that describes a page.
type Data struct {
	Frames     json.RawMessage     `json:"frames"`
	Animations map[string][]string `json:"animations"`
	Meta       struct {
		Image     string   `json:"image"`
		Size      Size     `json:"size"`
		Related   []string `json:"related_multi_packs"`
		FrameTags []struct {
			Name     string `json:"name"`
			From, To int
			Repeat   string `json:"repeat"`
		} `json:"frameTags"`
	} `json:"meta"`
}

// Size is that of a page or a frame.
type Size struct{ W, H int }

type entry struct {
	Filename         string                   `json:"filename"`
	Frame            struct{ X, Y, W, H int } `json:"frame"`
	Rotated          bool                     `json:"rotated"`
	Trimmed          bool                     `json:"trimmed"`
	SpriteSourceSize struct{ X, Y, W, H int } `json:"spriteSourceSize"`
	SourceSize       Size                     `json:"sourceSize"`
	Duration         int                      `json:"duration"`
	Pivot            *struct{ X, Y float64 }  `json:"pivot"`
}

// Parse reads the file at path.
func Parse(t testing.TB, path string) Data {
	t.Helper()
	text, err := os.ReadFile(path)
	if err != nil {
		t.Fatal(err)
	}
	var d Data
	if err := json.Unmarshal(text, &d); err != nil {
		t.Fatalf("%s: %v", path, err)
	}
	return d
}

// Read reads all frames of the sheet at path, in the order of their names.
func Read(t testing.TB, path string) []Frame {
	t.Helper()
	d := Parse(t, path)
	var all []Frame
	for _, name := range append([]string{filepath.Base(path)}, d.Meta.Related...) {
		file := filepath.Join(filepath.Dir(path), name)
		all = append(all, frames(t, filepath.Dir(path), Parse(t, file))...)
	}
	slices.SortStableFunc(all, func(a, b Frame) int {
		if n := len(a.Name) - len(b.Name); n != 0 {
			return n
		}
		return strings.Compare(a.Name, b.Name)
	})
	return all
}

// frames cuts the frames out of a page.
func frames(t testing.TB, dir string, d Data) []Frame {
	t.Helper()
	page := Picture(t, filepath.Join(dir, d.Meta.Image))
	if page.Rect.Size() != image.Pt(d.Meta.Size.W, d.Meta.Size.H) {
		t.Errorf("%s has %v, and its data says %v", d.Meta.Image, page.Rect, d.Meta.Size)
	}
	list, err := entries(d.Frames)
	if err != nil {
		t.Fatal(err)
	}
	var all []Frame
	for _, e := range list {
		at := image.Rect(e.Frame.X, e.Frame.Y, e.Frame.X+e.Frame.W, e.Frame.Y+e.Frame.H)
		s := e.SpriteSourceSize
		whole := image.NewNRGBA(image.Rect(0, 0, e.SourceSize.W, e.SourceSize.H))
		to := image.Rect(s.X, s.Y, s.X+s.W, s.Y+s.H)
		if e.Rotated || to.Size() != at.Size() || !at.In(page.Rect) || !to.In(whole.Rect) || e.Trimmed == (to == whole.Rect) {
			t.Fatalf("%s cannot be cut out: %+v", e.Filename, e)
		}
		for y := range at.Dy() {
			copy(whole.Pix[whole.PixOffset(to.Min.X, to.Min.Y+y):][:4*at.Dx()], page.Pix[page.PixOffset(at.Min.X, at.Min.Y+y):])
		}
		all = append(all, Frame{e.Filename, whole, e.Duration, at, d.Meta.Image})
	}
	return all
}

// entries are the frames of an array, or of an object in its order.
func entries(raw json.RawMessage) ([]entry, error) {
	var list []entry
	if bytes.HasPrefix(raw, []byte("[")) {
		return list, json.Unmarshal(raw, &list)
	}
	d := json.NewDecoder(bytes.NewReader(raw))
	if _, err := d.Token(); err != nil {
		return nil, err
	}
	for d.More() {
		name, err := d.Token()
		if err != nil {
			return nil, err
		}
		var e entry
		if err := d.Decode(&e); err != nil {
			return nil, err
		}
		e.Filename = fmt.Sprint(name)
		list = append(list, e)
	}
	return list, nil
}

// Picture reads a PNG, with straight alpha.
func Picture(t testing.TB, path string) *image.NRGBA {
	t.Helper()
	f, err := os.Open(path)
	if err != nil {
		t.Fatal(err)
	}
	defer f.Close()
	img, err := png.Decode(f)
	if err != nil {
		t.Fatalf("%s: %v", path, err)
	}
	if straight, ok := img.(*image.NRGBA); ok {
		return straight
	}
	straight := image.NewNRGBA(img.Bounds())
	draw.Draw(straight, straight.Rect, img, img.Bounds().Min, draw.Src)
	return straight
}
