package term

import (
	"fmt"
	"io"
	"os"
	"slices"
	"strings"
	"sync"
	"time"
	"unicode"

	"github.com/rivo/uniseg"
	"github.com/schollz/progressbar/v3"
	xterm "golang.org/x/term"
)

// Board shows the progress of many things on the last lines of standard error:
// one bar for all, and below it one for each running thing. Without a terminal
// it only shows messages. It is safe for concurrent use.
type Board struct {
	s    *Streams
	file *os.File // the terminal, or nil

	mu        sync.Mutex
	total     *Line
	lines     []*Line
	drawn     int // lines on the screen
	lastDrawn time.Time
}

// Line is one bar of a Board.
type Line struct {
	board *Board
	bar   *progressbar.ProgressBar
}

// redrawInterval is the least time between two pictures.
const redrawInterval = 100 * time.Millisecond

// NewBoard returns a board without bars, silent if progress is not wanted.
func (s *Streams) NewBoard(progress bool) *Board {
	b := &Board{s: s}
	if f, ok := s.Err.(*os.File); ok && progress && IsTerminal(f) && supportsEscapes(f) {
		b.file = f
		b.total = b.newLine("", progressbar.OptionSetPredictTime(true))
	}
	return b
}

func (b *Board) newLine(title string, o ...progressbar.Option) *Line {
	o = append(o, progressbar.OptionSetWriter(io.Discard), progressbar.OptionSetDescription(fixedWidth(title)), progressbar.OptionSetWidth(16))
	// With an unknown length, -1, the bar would draw itself from a goroutine.
	return &Line{b, progressbar.NewOptions(1, o...)}
}

// SetTotal moves the bar for everything to done of total, in any unit, under a
// title.
func (b *Board) SetTotal(title string, done, total int) {
	b.mu.Lock()
	defer b.mu.Unlock()
	if b.file != nil {
		b.total.set(done, total)
		b.total.bar.Describe(fixedWidth(title))
		b.draw(false)
	}
}

// Line adds a bar; Close removes it.
func (b *Board) Line(title string) *Line {
	b.mu.Lock()
	defer b.mu.Unlock()
	if b.file == nil {
		return nil
	}
	l := b.newLine(title, progressbar.OptionShowCount(), progressbar.OptionSetPredictTime(false))
	b.lines = append(b.lines, l)
	l.set(0, 1)
	b.draw(true)
	return l
}

// Set moves the bar to done of total steps. It does nothing on a nil Line.
func (l *Line) Set(done, total int) {
	if l == nil {
		return
	}
	l.board.mu.Lock()
	defer l.board.mu.Unlock()
	l.set(done, total)
	l.board.draw(false)
}

func (l *Line) set(done, total int) {
	l.bar.ChangeMax(max(total, 1))
	_ = l.bar.Set(min(done, total-1)) // a full bar would not move again
}

// Close removes the bar.
func (l *Line) Close() {
	if l == nil {
		return
	}
	b := l.board
	b.mu.Lock()
	defer b.mu.Unlock()
	b.lines = slices.DeleteFunc(b.lines, func(other *Line) bool { return other == l })
	b.draw(true)
}

// Above calls write, which writes whole lines to the terminal, above the bars.
func (b *Board) Above(write func()) {
	b.mu.Lock()
	defer b.mu.Unlock()
	b.clear()
	write()
	b.draw(true)
}

// Close removes all bars.
func (b *Board) Close() {
	b.mu.Lock()
	defer b.mu.Unlock()
	b.clear()
	b.file = nil
}

func (b *Board) clear() {
	if b.drawn > 0 {
		fmt.Fprintf(b.file, "\x1b[%dA\r\x1b[J", b.drawn)
		b.drawn = 0
	}
}

// draw redraws the bars in place, unless the last time was too recent.
func (b *Board) draw(now bool) {
	if b.file == nil || !now && time.Since(b.lastDrawn) < redrawInterval {
		return
	}
	b.lastDrawn = time.Now()
	width, height, err := xterm.GetSize(int(b.file.Fd()))
	if err != nil || width <= 0 || height <= 0 {
		width, height = 80, 24
	}
	var text strings.Builder
	if b.drawn > 0 {
		fmt.Fprintf(&text, "\x1b[%dA\r", b.drawn)
	}
	b.drawn = 0
	for _, l := range append([]*Line{b.total}, b.lines...) {
		if b.drawn+1 >= height { // the cursor needs the last line
			break
		}
		b.drawn++
		text.WriteString(truncate(strings.TrimLeft(l.bar.String(), "\r"), width-1) + "\x1b[K\n")
	}
	text.WriteString("\x1b[J")
	_, _ = io.WriteString(b.file, text.String())
}

// titleWidth is the width of titles.
const titleWidth = 24

// fixedWidth is a title cut or padded to a width, so that bars line up. It contains
// nothing that moves the cursor.
func fixedWidth(title string) string {
	title = strings.Map(func(r rune) rune {
		if !unicode.IsPrint(r) {
			return -1
		}
		return r
	}, title)
	if uniseg.StringWidth(title) > titleWidth {
		title = truncate(title, titleWidth-1) + "…"
	}
	return title + strings.Repeat(" ", titleWidth-uniseg.StringWidth(title))
}

// truncate is the longest beginning of a text that is at most width wide.
func truncate(text string, width int) string {
	end := 0
	for g := uniseg.NewGraphemes(text); g.Next() && width >= g.Width(); {
		width -= g.Width()
		_, end = g.Positions()
	}
	return text[:end]
}
