package sheet

import (
	"cmp"
	"context"
	"image"
	"io"
	"slices"

	"github.com/bgremove/bgremove/internal/media/apng"
)

// stripRows is the height of the strips in which sprites are kept and pages drawn.
const stripRows = 64

// page writes the files of a page.
func (w *Writer) page(page int) error {
	picture, data, err := w.files(page)
	if err != nil {
		return err
	}
	filtered, err := w.filters(page)
	if err != nil {
		return err
	}
	if err := w.draw(page, picture, filtered); err != nil {
		return err
	}
	text, err := w.data(page)
	if err != nil {
		return err
	}
	_, err = data.Write(text)
	return err
}

// filters reports whether a page is smaller with PNG's filters, which is tried where
// the frames have few colours.
func (w *Writer) filters(page int) (bool, error) {
	if !w.flat {
		return true, nil
	}
	var with, without counter
	if err := w.draw(page, &with, true); err != nil {
		return false, err
	}
	if err := w.draw(page, &without, false); err != nil {
		return false, err
	}
	return with < without, nil
}

// counter counts bytes.
type counter int64

func (c *counter) Write(p []byte) (int, error) {
	*c += counter(len(p))
	return len(p), nil
}

// drawing is a page that is drawn from its top to its bottom.
type drawing struct {
	*Writer
	extrude int
	size    image.Point // of the page
	placed  []placed    // in the order of their upper edges
	strip   []byte      // rows of the page
	kept    []byte      // a strip of a sprite
}

// placed is a sprite on a page.
type placed struct {
	sprite
	at image.Point
}

func (w *Writer) draw(page int, to io.Writer, filtered bool) error {
	size := w.pages[page]
	still, err := apng.NewStill(to, size.X, size.Y, filtered)
	if err != nil {
		return err
	}
	d := &drawing{Writer: w, extrude: w.opts.Extrude, size: size, placed: w.placed(page), strip: make([]byte, 4*size.X*min(stripRows, size.Y))}
	for y := 0; y < size.Y; y += stripRows {
		if w.ctx.Err() != nil {
			return context.Cause(w.ctx)
		}
		rows := image.Rect(0, y, size.X, min(y+stripRows, size.Y))
		d.strip = d.strip[:4*size.X*rows.Dy()]
		clear(d.strip)
		for _, p := range d.placed {
			if err := d.sprite(p, rows); err != nil {
				return err
			}
		}
		if err := still.WriteRows(d.strip); err != nil {
			return err
		}
	}
	return still.Close()
}

// placed are the sprites of a page. Each place has one frame at least.
func (w *Writer) placed(page int) []placed {
	var list []placed
	done := make([]bool, len(w.places))
	for i, f := range w.frames {
		slot := w.slot(i)
		if at := w.places[slot]; at.Page == page && !done[slot] {
			done[slot] = true
			list = append(list, placed{w.sprites[f.sprite], at.At})
		}
	}
	slices.SortStableFunc(list, func(a, b placed) int { return cmp.Compare(a.at.Y, b.at.Y) })
	return list
}

// sprite draws the part of a sprite that lies in rows of the page.
func (d *drawing) sprite(p placed, rows image.Rectangle) error {
	around := image.Rectangle{Min: p.at, Max: p.at.Add(p.size)}.Inset(-d.extrude).Intersect(rows)
	loaded := -1
	for y := around.Min.Y; y < around.Max.Y; y++ {
		row := min(max(y-p.at.Y, 0), p.size.Y-1)
		if strip := row / stripRows; strip != loaded {
			if err := d.load(p.sprite, strip); err != nil {
				return err
			}
			loaded = strip
		}
		stride := 4 * p.size.X
		d.row(p.at.X, y-rows.Min.Y, d.kept[row%stripRows*stride:][:stride])
	}
	return nil
}

// load reads a strip of a sprite.
func (d *drawing) load(s sprite, strip int) error {
	n := 4 * s.size.X * min(stripRows, s.size.Y-strip*stripRows)
	if cap(d.kept) < n {
		d.kept = make([]byte, n)
	}
	d.kept = d.kept[:n]
	return d.store.Read(s.first+strip, d.kept)
}

// row copies a row of a sprite, and repeats its ends beside it.
func (d *drawing) row(x, y int, row []byte) {
	line := d.strip[4*d.size.X*y:][:4*d.size.X]
	copy(line[4*x:], row)
	for i := 1; i <= d.extrude; i++ {
		copy(line[4*(x-i):], row[:4])
		copy(line[4*x+len(row)+4*(i-1):], row[len(row)-4:])
	}
}
