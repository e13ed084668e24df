package cli

import (
	"context"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"sync"
	"text/tabwriter"
	"time"

	"github.com/spf13/cobra"

	"github.com/bgremove/bgremove/internal/batch"
	"github.com/bgremove/bgremove/internal/bucket"
	"github.com/bgremove/bgremove/internal/cli/failure"
	"github.com/bgremove/bgremove/internal/cli/filearg"
	"github.com/bgremove/bgremove/internal/cli/term"
	"github.com/bgremove/bgremove/internal/system/scratch"
	"github.com/bgremove/bgremove/pkg/bgremove"
)

// batchRun is a run over many files, with its report.
type batchRun struct {
	*app
	cmd      *cobra.Command
	o        *batchOptions
	remover  *bgremove.Remover
	board    *term.Board
	manifest *batch.Manifest // nil if there is none
	copies   *scratch.Dir    // of objects; nil if there are none
	began    time.Time
	cancel   context.CancelCauseFunc // ends a run if its report cannot be written

	// Only report uses these; it is called for one outcome at a time.
	counts            map[batch.Status]int
	missing           int   // failures because something is not installed
	lacks             error // the first of them
	frames            int
	inBytes, outBytes int64
	failed            []string
	hinted            map[string]bool

	mu                    sync.Mutex
	total, ended, dropped int                      // files
	running               map[*runningFile]float64 // the finished share of each running file
}

func (a *app) newBatchRun(cmd *cobra.Command, o *batchOptions, cancel context.CancelCauseFunc) *batchRun {
	return &batchRun{app: a, cmd: cmd, o: o, remover: bgremove.New(a.engine), board: a.NewBoard(!o.quiet), began: time.Now(), cancel: cancel,
		counts: map[batch.Status]int{}, hinted: map[string]bool{}, running: map[*runningFile]float64{}}
}

// printRemarks reports the skipped paths, and an output format other than the
// requested one.
func (r *batchRun) printRemarks(found *batch.Found) {
	if note, ok := bgremove.FallBack(r.o.Options); ok {
		r.say("%s", failure.NoteText(note))
		r.o.Format = r.o.EffectiveFormat()
	}
	for _, path := range found.Outputs {
		r.say("%s: skipped, because its name is that of an output", path)
	}
	for _, dir := range found.Empty {
		if !sameFile(dir, r.o.out) {
			r.say("%s: no clips in it", dir)
		}
	}
}

// sameFile reports whether two names mean the same file.
func sameFile(a, b string) bool {
	if one, err := os.Stat(a); err == nil {
		if two, err := os.Stat(b); err == nil {
			return os.SameFile(one, two)
		}
	}
	one, err := filepath.Abs(a)
	two, err2 := filepath.Abs(b)
	return err == nil && err2 == nil && one == two
}

// say prints a message that is not an error.
func (r *batchRun) say(format string, args ...any) {
	if !r.o.quiet {
		r.board.Above(func() { r.Message(format, args...) })
	}
}

// batchLine is a file's line of --json: its outcome, and the report of remove
// if there is one.
type batchLine struct {
	Input  string       `json:"input"`
	Output string       `json:"output"`
	Status batch.Status `json:"status"`
	Error  string       `json:"error,omitempty"`
	Hint   string       `json:"hint,omitempty"`
	jsonResult
}

func (r *batchRun) newBatchLine(o batch.Outcome) batchLine {
	line := batchLine{Input: o.Path, Output: o.Output, Status: o.Status, jsonResult: newJSONResult(o.Result)}
	if o.Status != batch.Failed {
		return line
	}
	err := bgremove.Explain(filearg.ExplainCollision(o.Err))
	line.Error, line.Hint = failure.InFlags(err).Error(), failure.Hint(err)
	if !strings.Contains(line.Error, o.Path) {
		line.Error = o.Path + ": " + line.Error
	}
	return line
}

// report counts an outcome and prints it.
func (r *batchRun) report(o batch.Outcome) {
	if errors.Is(o.Err, bucket.WriteRefused) {
		r.cancel(o.Err) // that of the others would be refused, too
		return
	}
	line := r.newBatchLine(o)
	r.counts[o.Status]++
	switch o.Status {
	case batch.Done:
		r.frames += o.Result.Frames
		r.inBytes += o.Result.InputSize
		r.outBytes += o.Result.OutputSize
		for _, note := range shownNotes(r.cmd, o.Result.Notes) {
			r.say("%s: %s", o.Output, failure.NoteText(note))
		}
		for _, w := range o.Result.Quality.Warnings {
			r.say("%s: warning: %s%s", o.Output, w.Message, warningHint(w.Code, o.Result.Method))
		}
		if !r.o.json {
			r.say("%s", summary(o.Result))
		}
	case batch.Failed:
		r.recordFailure(o, line)
	}
	if r.o.json {
		r.board.Above(func() {
			if err := r.JSONLine(line); err != nil {
				r.cancel(fmt.Errorf("standard output: %w", err))
			}
		})
	}
	r.mu.Lock()
	r.ended++
	r.mu.Unlock()
	r.showProgress()
}

// recordFailure counts a failure and prints it. It prints a hint only the first time.
func (r *batchRun) recordFailure(o batch.Outcome, line batchLine) {
	r.failed = append(r.failed, o.Path)
	err := bgremove.Explain(filearg.ExplainCollision(o.Err))
	if known := (*bgremove.Error)(nil); errors.As(err, &known) && known.Kind == bgremove.Missing {
		r.missing++
		if r.lacks == nil {
			r.lacks = err
		}
	}
	r.board.Above(func() {
		r.Message("%s", line.Error)
		if line.Hint != "" && !r.hinted[line.Hint] {
			r.hinted[line.Hint] = true
			r.Hint(line.Hint)
		}
	})
}

// printSummary is the summary at the end.
func (r *batchRun) printSummary() {
	w := tabwriter.NewWriter(r.Err, 0, 0, 2, ' ', tabwriter.AlignRight)
	fmt.Fprintf(w, "\tfiles\tframes\tin\tout\ttime\t\n")
	fmt.Fprintf(w, "done\t%d\t%d\t%s\t%s\t%.1f s\t\n", r.counts[batch.Done], r.frames, term.ByteSize(r.inBytes), term.ByteSize(r.outBytes), time.Since(r.began).Seconds())
	fmt.Fprintf(w, "skipped\t%d\t\t\t\t\t\n", r.counts[batch.Skipped])
	fmt.Fprintf(w, "failed\t%d\t\t\t\t\t\n", r.counts[batch.Failed])
	_ = w.Flush()
	for _, path := range r.failed {
		fmt.Fprintf(r.Err, "failed: %s\n", term.Printable(path))
	}
}

// runningFile is a running file.
type runningFile struct {
	run  *batchRun
	line *term.Line
}

func (r *batchRun) startFile(item batch.Item) *runningFile {
	return &runningFile{r, r.board.Line(filepath.Base(item.Path))}
}

func (p *runningFile) progress(at bgremove.Progress) {
	done, total := framesDone(at), at.Frames
	p.line.Set(done, total)
	p.run.mu.Lock()
	p.run.running[p] = min(1, float64(done)/float64(max(1, total)))
	p.run.mu.Unlock()
	p.run.showProgress()
}

// end removes the bar; dropped says that the file was not finished.
func (p *runningFile) end(dropped bool) {
	p.line.Close()
	p.run.mu.Lock()
	delete(p.run.running, p)
	if dropped {
		p.run.dropped++
	}
	p.run.mu.Unlock()
}

// addFiles adds to the number of files.
func (r *batchRun) addFiles(n int) {
	r.mu.Lock()
	r.total += n
	r.mu.Unlock()
	r.showProgress()
}

// showProgress shows the progress of all files, counting running ones by their share.
func (r *batchRun) showProgress() {
	r.mu.Lock()
	done := float64(r.ended)
	for _, part := range r.running {
		done += part
	}
	total, title := r.total, fmt.Sprintf("%d of %d files", r.ended, r.total)
	if r.o.watch && r.ended == total {
		title = term.Count(total, "file") + ", watching"
	}
	r.mu.Unlock()
	const steps = 1000 // per file
	r.board.SetTotal(title, int(done*steps), total*steps)
}
