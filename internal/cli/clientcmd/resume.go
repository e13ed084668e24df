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

// unfinishedError is the end of a command before the end of its submitted jobs. The jobs
// continue on the service.
type unfinishedError struct {
	commands       []string // that do the rest, one after another
	ended          bool     // the jobs have ended; only their results are missing
	submitted      []string // the submitted batches, if not all were
	idempotencyKey string   // the Idempotency-Key, in that case
	err            error
}

func (e *unfinishedError) Error() string { return e.err.Error() }

func (e *unfinishedError) Unwrap() error { return e.err }

// Interruption implements failure.Interruption.
func (e *unfinishedError) Interruption() (message, hint string) { return "interrupted", e.hint() }

// hint says how to continue.
func (e *unfinishedError) hint() string {
	switch {
	case e.idempotencyKey != "":
		return fmt.Sprintf("%s was submitted; the same command with --idempotency-key %s goes on, and what was taken is not charged again",
			strings.Join(e.submitted, ", "), term.Quote(e.idempotencyKey))
	case e.ended:
		return "later: " + strings.Join(e.commands, "; ")
	}
	return "it goes on without you: " + strings.Join(e.commands, "; ")
}

// conflictHint says how to continue if the same command cannot, because its files or
// options have changed.
func (e *unfinishedError) conflictHint() string {
	return fmt.Sprintf("%s was submitted: submit the files that are not in it alone, with another --idempotency-key", strings.Join(e.submitted, ", "))
}

// commandLine is a command line for the same service.
func (c *remote) commandLine(args ...string) string {
	line := slices.Concat([]string{"bgremove", "client"}, args, c.typedFlags)
	for i, word := range line {
		line[i] = term.Quote(word)
	}
	return strings.Join(line, " ")
}

// downloadCommandLine is the command that downloads a result, or those of a batch.
// outputFlag is the flag for the output or its folder, if any.
func (c *remote) downloadCommandLine(id string, force bool, outputFlag ...string) string {
	args := append([]string{"download", id}, outputFlag...)
	if force {
		args = append(args, "--force")
	}
	return c.commandLine(args...)
}

// resumeCommands are the commands that finish batches. ended says that the first batch
// has ended.
func (b *batchSubmission) resumeCommands(batches []string, ended bool) []string {
	var commands []string
	for i, id := range batches {
		if i > 0 || !ended {
			commands = append(commands, b.commandLine("wait", id))
		}
		if folder, ok := b.commonFolder(id); ok {
			commands = append(commands, b.downloadCommandLine(id, b.force, "--out", folder))
			continue
		}
		commands = append(commands, b.downloadCommands(func(d fileResult) bool { return d.Batch == id })...)
	}
	return commands
}

// downloadCommands are commands for each missing result, job by job.
func (b *batchSubmission) downloadCommands(of func(fileResult) bool) []string {
	var commands []string
	for i, d := range b.results {
		if of(d) && d.Output == "" && client.Failure(client.Job{Status: api.JobStatus(d.Status)}) == nil {
			commands = append(commands, b.downloadCommandLine(d.ID, b.force, "-o", b.outputs[i]))
		}
	}
	return commands
}

// commonFolder is the folder with which download gives every result of a batch its
// path. There is none if the paths are in several folders, or have names that
// depend on other batches.
func (b *batchSubmission) commonFolder(id string) (folder string, ok bool) {
	var jobs []client.Job
	var want []string
	for i, d := range b.results {
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
	got, err := (&downloader{remote: b.remote, folder: folder}).outputNames(jobs)
	return folder, err == nil && slices.Equal(got, want)
}
