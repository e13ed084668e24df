// Package term prints the output of commands: results on standard output,
// messages and progress on standard error. Progress appears only on terminals.
package term

import (
	"encoding/json"
	"fmt"
	"io"
	"os"
	"time"

	"github.com/dustin/go-humanize"
	"github.com/dustin/go-humanize/english"
	"github.com/schollz/progressbar/v3"
	xterm "golang.org/x/term"
)

// Streams are a command's standard streams.
type Streams struct {
	In       io.Reader
	Out, Err io.Writer
}

// IsTerminal reports whether a stream is a terminal.
func IsTerminal(stream any) bool {
	f, ok := stream.(*os.File)
	return ok && xterm.IsTerminal(int(f.Fd()))
}

// Message prints one line about the work.
func (s *Streams) Message(format string, args ...any) {
	fmt.Fprintf(s.Err, "bgremove: %s\n", printableLines(fmt.Sprintf(format, args...)))
}

// Hint prints advice for the reader under a message.
func (s *Streams) Hint(text string) { fmt.Fprintf(s.Err, "hint: %s\n", printableLines(text)) }

// JSON prints v as one indented object.
func (s *Streams) JSON(v any) error {
	e := json.NewEncoder(s.Out)
	e.SetEscapeHTML(false)
	e.SetIndent("", "  ")
	return e.Encode(v)
}

// JSONLine prints v as one object on a line of its own.
func (s *Streams) JSONLine(v any) error {
	e := json.NewEncoder(s.Out)
	e.SetEscapeHTML(false)
	return e.Encode(v)
}

// ByteSize formats a size with two digits and a decimal unit.
func ByteSize(n int64) string { return humanize.Bytes(uint64(max(n, 0))) }

// Count says how many there are of a thing: "1 frame", "2 frames".
func Count[N int | int64](n N, thing string) string { return english.Plural(int(n), thing, "") }

// Bar is a progress bar with rate and remaining time. A nil Bar shows nothing.
type Bar struct {
	bar   *progressbar.ProgressBar
	title string // followed by the rate if there is space
	rated bool
	began time.Time
}

// minWidth is the terminal width, in columns, below which a bar shows neither
// counts nor a rate.
const minWidth = 64

// NewBar returns a bar for frames on standard error, or nil if that is not a
// terminal.
func (s *Streams) NewBar(title string) *Bar {
	f, ok := s.Err.(*os.File)
	if !ok || !IsTerminal(f) {
		return nil
	}
	options := []progressbar.Option{
		progressbar.OptionSetWriter(s.Err), progressbar.OptionSetDescription(title),
		progressbar.OptionSetPredictTime(true), progressbar.OptionThrottle(100 * time.Millisecond),
		progressbar.OptionFullWidth(), progressbar.OptionClearOnFinish(),
	}
	width, _, err := xterm.GetSize(int(f.Fd()))
	wide := err != nil || width == 0 || width >= minWidth
	if wide {
		options = append(options, progressbar.OptionShowCount())
	}
	return &Bar{progressbar.NewOptions(-1, options...), title, wide, time.Now()}
}

// NewByteBar is NewBar for transfers: SetBytes moves it.
func (s *Streams) NewByteBar(title string) *Bar {
	if !IsTerminal(s.Err) {
		return nil
	}
	return &Bar{bar: progressbar.NewOptions64(-1,
		progressbar.OptionSetWriter(s.Err), progressbar.OptionSetDescription(title),
		progressbar.OptionShowBytes(true), progressbar.OptionShowTotalBytes(true),
		progressbar.OptionSetPredictTime(true), progressbar.OptionThrottle(100*time.Millisecond),
		progressbar.OptionFullWidth(), progressbar.OptionClearOnFinish(),
	)}
}

// SetBytes moves the bar to done of total bytes; a total of 0 is unknown.
func (b *Bar) SetBytes(done, total int64) {
	if b == nil {
		return
	}
	if total > 0 {
		b.bar.ChangeMax64(max(total, done+1)) // Close draws the end
	}
	_ = b.bar.Set64(done)
}

// Set moves the bar to done of total frames.
func (b *Bar) Set(done, total int) {
	if b == nil {
		return
	}
	if rate := float64(done) / time.Since(b.began).Seconds(); b.rated && done > 0 && rate >= 1 {
		b.bar.Describe(fmt.Sprintf("%s, %.0f frames/s", b.title, rate))
	}
	b.bar.ChangeMax(max(total, 1))
	_ = b.bar.Set(min(done, total-1)) // Close draws the end
}

// Close removes the bar from the screen.
func (b *Bar) Close() {
	if b != nil {
		_ = b.bar.Finish()
	}
}
