package clientcmd

import (
	"fmt"
	"path/filepath"
	"slices"
	"strings"

	"github.com/bgremove/bgremove/internal/cli/term"
	"github.com/bgremove/bgremove/pkg/api"
	"github.com/bgremove/bgremove/pkg/client"
)

// goOn is the end of a command before the end of its submitted jobs. The jobs
// continue on the service.
type goOn struct {
	commands []string // that do the rest, one after another
	ended    bool     // the jobs have ended; only their results are missing
	taken    []string // the submitted batches, if not all were
	once     string   // the Idempotency-Key, in that case
	err      error
}

func (e *goOn) Error() string { return e.err.Error() }

func (e *goOn) Unwrap() error { return e.err }

// Interruption implements failure.Interruption.
func (e *goOn) Interruption() (message, hint string) { return "interrupted", e.hint() }

// hint says how to continue.
func (e *goOn) hint() string {
	switch {
	case e.once != "":
		return fmt.Sprintf("%s was submitted; the same command with --idempotency-key %s goes on, and what was taken is not charged again",
			strings.Join(e.taken, ", "), term.Quote(e.once))
	case e.ended:
		return "later: " + strings.Join(e.commands, "; ")
	}
	return "it goes on without you: " + strings.Join(e.commands, "; ")
}

// apart says how to continue if the same command cannot, because its files or
// options have changed.
func (e *goOn) apart() string {
	return fmt.Sprintf("%s was submitted: submit the files that are not in it alone, with another --idempotency-key", strings.Join(e.taken, ", "))
}

// command is a command line for the same service.
func (c *customer) command(args ...string) string {
	line := slices.Concat([]string{"bgremove", "client"}, args, c.typed)
	for i, word := range line {
		line[i] = term.Quote(word)
	}
	return strings.Join(line, " ")
}

// fetching is the command that downloads a result, or those of a batch, to its
// place. place is the flag for that place, if any.
func (c *customer) fetching(id string, force bool, place ...string) string {
	args := append([]string{"download", id}, place...)
	if force {
		args = append(args, "--force")
	}
	return c.command(args...)
}

// rest are the commands that finish batches. ended says that the first batch
// has ended.
func (b *bulk) rest(batches []string, ended bool) []string {
	var commands []string
	for i, id := range batches {
		if i > 0 || !ended {
			commands = append(commands, b.command("wait", id))
		}
		if folder, ok := b.folder(id); ok {
			commands = append(commands, b.fetching(id, b.force, "--out", folder))
			continue
		}
		commands = append(commands, b.singly(func(d delivery) bool { return d.Batch == id })...)
	}
	return commands
}

// singly are commands for each missing result, job by job.
func (b *bulk) singly(of func(delivery) bool) []string {
	var commands []string
	for i, d := range b.deliveries {
		if of(d) && d.Output == "" && d.Status != string(api.JobStatusFailed) {
			commands = append(commands, b.fetching(d.ID, b.force, "-o", b.outputs[i]))
		}
	}
	return commands
}

// folder is the folder that brings every result of a batch to its place with
// download. There is none if the places are in several folders, or have names
// that depend on other batches.
func (b *bulk) folder(id string) (folder string, ok bool) {
	var jobs []client.Job
	var want []string
	for i, d := range b.deliveries {
		if d.Batch == id {
			jobs = append(jobs, client.Job{ID: d.ID, OutputFormat: api.OutputFormat(b.options.EffectiveFormat()),
				Metadata: api.Metadata{OriginalName: strings.TrimSpace(filepath.Base(d.Input))}}) // as the service stores it
			want = append(want, b.outputs[i])
		}
	}
	if len(want) == 0 {
		return "", false
	}
	folder = filepath.Dir(want[0])
	if b.output != "" && filepath.Clean(b.output) == folder {
		folder = b.output // as the user typed it
	}
	got, err := (&pickup{customer: b.customer, out: folder}).names(jobs)
	return folder, err == nil && slices.Equal(got, want)
}
