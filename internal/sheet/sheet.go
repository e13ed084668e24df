// Package sheet writes sprite sheets: the frames of an animation on one picture or
// more, and files that say which is where, in the schemas of Aseprite and
// TexturePacker.
//
// Frames are kept, compressed, in a temporary file until all are known. Pages are
// then drawn and compressed in strips of rows, so that the memory that they take
// depends neither on their height nor on the number of frames: a strip of a page, the
// same filtered, and one of a frame, up to 4 MiB each on the widest page. While frames
// come in, one is held, and some hundred bytes of each.
package sheet

import (
	"context"
	"crypto/sha256"
	"fmt"
	"image"
	"io"

	"github.com/bgremove/bgremove/internal/media"
	"github.com/bgremove/bgremove/internal/media/apng"
	"github.com/bgremove/bgremove/internal/records"
	"github.com/bgremove/bgremove/pkg/option"
)

// PagesError says that a schema has one page, and the frames need more.
type PagesError struct{ Pages, Max int }

func (e *PagesError) Error() string {
	return fmt.Sprintf("the frames need %d pages of at most %d×%[2]d pixels, and Aseprite's data describes one", e.Pages, e.Max)
}

// Point is a place in a frame, in shares of its sides from the top left corner.
type Point struct{ X, Y float64 }

// Options say how a sheet is written.
type Options struct {
	Limits
	// Data is the schema; empty is TexturePacker's.
	Data option.SheetData
	// Pack is Tight, also when empty, or Rows: then frames are neither trimmed nor
	// left out where they are equal, so that rows can be read without the data.
	Pack option.SheetPack
	// Pivot is where engines place the frames.
	Pivot Point
	// Plays is how often the animation plays; 0 means for ever.
	Plays int
	// Image is the name of the first page's file, without a folder. Its stem names
	// the animation.
	Image string
	// Pool takes the images back; it may be nil.
	Pool *media.Pool
	// TempDir is where frames are kept; empty is the system's.
	TempDir string
}

// Files opens the files of a page: its picture and its data. It is called once for each,
// in the order of pages. The caller closes them.
type Files func(page int) (picture, data io.Writer, err error)

// Writer is a media.Sink that writes a sheet. It is used by one goroutine and has to
// be ended by Close or Abort.
type Writer struct {
	media.Ending
	ctx   context.Context // ends the drawing of pages, which Close does
	opts  Options
	files Files
	size  image.Point // of the frames
	store *records.File
	flat  bool // all sprites are

	frames  []frame
	sprites []sprite
	known   map[key]int // sprites by what they look like
	times   media.Milliseconds
	pix     []byte

	places []Place
	pages  []image.Point
}

// frame is a sprite at a time.
type frame struct {
	sprite       int
	offset       image.Point // of the sprite in the frame
	milliseconds int
}

// sprite is a picture of the sheet. Its strips are records.
type sprite struct {
	size  image.Point
	first int // record
}

// key is the same for sprites that look alike.
type key struct {
	size image.Point
	sum  [sha256.Size]byte
}

var _ media.Sink = (*Writer)(nil)

// NewWriter makes a writer of a sheet of frames of a size. The end of ctx also ends
// Close.
func NewWriter(ctx context.Context, width, height int, files Files, o Options) (*Writer, error) {
	store, err := records.Create(o.TempDir)
	if err != nil {
		return nil, err
	}
	w := &Writer{ctx: ctx, opts: o, files: files, size: image.Pt(width, height), store: store, flat: true, known: map[key]int{}}
	w.Ending = media.NewEnding(w.finish, w.release)
	return w, nil
}

// Pages are the sizes of the pages, once Close has returned nil.
func (w *Writer) Pages() []image.Point { return w.pages }

// Sprites is how many different pictures there are.
func (w *Writer) Sprites() int { return len(w.sprites) }

// Write takes the next frame. An error ends the writer: all later calls return it.
func (w *Writer) Write(ctx context.Context, f *media.Frame) error {
	err := w.add(ctx, f)
	w.opts.Pool.Put(f.Image)
	return err
}

// add takes a copy of the next frame.
func (w *Writer) add(ctx context.Context, f *media.Frame) error {
	return w.Attempt(func() error {
		if ctx.Err() != nil {
			return context.Cause(ctx)
		}
		if f.Image.Rect != (image.Rectangle{Max: w.size}) || f.Image.Stride != 4*w.size.X {
			return fmt.Errorf("sheet: frame %d is %v with stride %d, want %v", len(w.frames), f.Image.Rect, f.Image.Stride, w.size)
		}
		return w.keep(f)
	})
}

// keep keeps a frame, and its sprite if that is new.
func (w *Writer) keep(f *media.Frame) error {
	part := f.Image.Rect
	if w.opts.Pack != option.Rows {
		part = visible(f.Image)
	}
	if _, err := w.opts.cell(part.Size()); err != nil {
		return err
	}
	w.pix = crop(w.pix[:0], f.Image, part)
	media.ClearHidden(w.pix)
	k := key{part.Size(), sha256.Sum256(w.pix)}
	at, ok := w.known[k]
	if !ok {
		at = len(w.sprites)
		w.known[k] = at
		w.sprites = append(w.sprites, sprite{part.Size(), w.store.Len()})
		w.flat = w.flat && apng.Flat(w.pix)
		stride := 4 * part.Dx() * stripRows
		for rest := w.pix; len(rest) > 0; rest = rest[min(stride, len(rest)):] {
			if err := w.store.Append(rest[:min(stride, len(rest))]); err != nil {
				return err
			}
		}
	}
	w.frames = append(w.frames, frame{at, part.Min, w.times.Next(f, 0)})
	return nil
}

// visible is the smallest rectangle with all that is seen of a frame, or one pixel
// where nothing is.
func visible(img *image.NRGBA) image.Rectangle {
	seen := image.Rectangle{}
	for y := range img.Rect.Dy() {
		row := img.Pix[y*img.Stride:][:4*img.Rect.Dx()]
		first, last := len(row), -1
		for i := 3; i < len(row); i += 4 {
			if row[i] > 0 {
				first = min(first, i)
				last = i
			}
		}
		if last >= 0 {
			seen = seen.Union(image.Rect(first/4, y, last/4+1, y+1))
		}
	}
	if seen.Empty() {
		return image.Rect(0, 0, 1, 1)
	}
	return seen
}

// crop appends the pixels of a part of a picture.
func crop(dst []byte, img *image.NRGBA, part image.Rectangle) []byte {
	for y := part.Min.Y; y < part.Max.Y; y++ {
		dst = append(dst, img.Pix[y*img.Stride+4*part.Min.X:y*img.Stride+4*part.Max.X]...)
	}
	return dst
}

// finish places the frames and writes the files.
func (w *Writer) finish() error {
	if len(w.frames) == 0 {
		return media.ErrNoFrames
	}
	if err := w.pack(); err != nil {
		return err
	}
	if len(w.pages) > 1 && w.opts.Data == option.Aseprite {
		return &PagesError{len(w.pages), w.opts.side()}
	}
	for page := range w.pages {
		if err := w.page(page); err != nil {
			return err
		}
	}
	return nil
}

// pack places the sprites, or in rows the frames.
func (w *Writer) pack() (err error) {
	switch w.opts.Pack {
	case option.Rows:
		w.places, w.pages, err = Grid(w.size, len(w.frames), w.opts.Limits)
	case option.Tight, "":
		sizes := make([]image.Point, len(w.sprites))
		for i, s := range w.sprites {
			sizes[i] = s.size
		}
		w.places, w.pages, err = Pack(sizes, w.opts.Limits)
	default:
		err = fmt.Errorf("nothing packs a sheet %s", w.opts.Pack)
	}
	return err
}

// slot is the index of a frame's place.
func (w *Writer) slot(frame int) int {
	if w.opts.Pack == option.Rows {
		return frame
	}
	return w.frames[frame].sprite
}

// release drops what was kept.
func (w *Writer) release(error) {
	_ = w.store.Close() // a temporary file that is not needed any more
	w.pix, w.known = nil, nil
}
