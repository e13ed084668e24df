package clientcmd

import (
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"strings"

	"github.com/spf13/cobra"

	"github.com/bgremove/bgremove/internal/batch"
	"github.com/bgremove/bgremove/internal/cli/filearg"
	"github.com/bgremove/bgremove/internal/cli/flags"
	"github.com/bgremove/bgremove/internal/cli/term"
	"github.com/bgremove/bgremove/pkg/api"
	"github.com/bgremove/bgremove/pkg/bgremove"
	"github.com/bgremove/bgremove/pkg/client"
)

// downloader fetches finished results.
type downloader struct {
	*remote
	output, folder string
	force          bool
}

func (c *remote) downloadCommand() *cobra.Command {
	p := &downloader{remote: c}
	cmd := &cobra.Command{
		Use:               "download ID",
		Short:             "get the result of a job, or those of a batch",
		ValidArgsFunction: c.completeIDs(doneJob),
		Long: `download gets the result of a job into the working directory, or to -o. Of a
batch it gets all results that are not there yet, so that it can be run again.`,
		Example: `  bgremove client download job_06dwb6z7mc3qjk8v1r5t9x2wne -o sticker.gif
  bgremove client download batch_06dwb72h5ypd3e8fv4w0zk6mra --out stickers`,
		Args: flags.OneArgument("ID"),
		RunE: func(cmd *cobra.Command, args []string) error { return p.run(cmd, args[0]) },
	}
	f := cmd.Flags()
	f.StringVarP(&p.output, "output", "o", "", "the output `file` of a job, or a folder; - is standard output (default: the submitted name with -nobg)")
	f.StringVar(&p.folder, "out", "", "the `folder` to put the output in (default: the working directory)")
	f.BoolVar(&p.force, "force", false, "overwrite what is there")
	c.addFlags(cmd)
	return cmd
}

func (p *downloader) run(cmd *cobra.Command, id string) error {
	if err := p.prepare(cmd); err != nil {
		return err
	}
	if p.folder == "" && filearg.IsOutputFolder(p.output) {
		p.folder, p.output = p.output, ""
	}
	if p.output != "" && (isBatch(id) || p.folder != "") {
		return flags.Usage(cmd, errors.New("-o is for one job; --out names the folder of a batch"))
	}
	if err := p.checkStdout(cmd, p.output); err != nil {
		return err
	}
	s, err := p.connect()
	if err != nil {
		return err
	}
	if p.folder != "" {
		if err := batch.Prepare(p.folder); err != nil {
			return err
		}
	}
	if isBatch(id) {
		return withID(id, p.downloadBatch(cmd, s, id))
	}
	return withID(id, p.downloadJob(cmd, s, id))
}

// downloadJob fetches the result of a job.
func (p *downloader) downloadJob(cmd *cobra.Command, s *client.Client, id string) error {
	d := fileResult{ID: id, Status: string(api.JobStatusDone)}
	path := p.output
	if path == "" {
		job, err := s.Job(cmd.Context(), id)
		if err != nil {
			return err
		}
		path = filepath.Join(p.folder, filepath.Base(bgremove.OutputPath(localName(job), localFormat(job))))
	}
	var err error
	if d.OutputSize, err = p.download(cmd.Context(), s, id, path, p.force); err != nil {
		return err
	}
	d.Output = path
	if p.asJSON {
		return p.JSON(d)
	}
	return nil
}

// downloadBatch fetches the results of a batch, except for existing files.
func (p *downloader) downloadBatch(cmd *cobra.Command, s *client.Client, id string) error {
	b, err := s.Batch(cmd.Context(), id)
	if err != nil {
		return err
	}
	if b.Status == api.BatchStatusProcessing {
		return fmt.Errorf("%s: %w", id, client.ErrNotReady)
	}
	outputs, err := p.outputNames(b.Jobs)
	if err != nil {
		return err
	}
	all := make([]fileResult, len(b.Jobs))
	for i, job := range b.Jobs {
		all[i] = fileResult{Input: localName(job), ID: job.ID, Batch: id}
		if stat, err := os.Stat(outputs[i]); err == nil && !p.force && job.Status == api.JobStatusDone {
			p.say("%s already exists and stays", outputs[i])
			all[i].Status, all[i].Output, all[i].OutputSize = string(job.Status), outputs[i], stat.Size()
			continue
		}
		if err := p.downloadResult(cmd.Context(), s, job, &all[i], outputs[i], p.force); err != nil {
			return &unfinishedError{commands: []string{p.retryCommandLine(id)}, ended: true, err: err}
		}
	}
	if p.asJSON {
		if err := p.JSON(map[string]any{"id": id, "status": b.Status, "files": all}); err != nil {
			return err
		}
	}
	return partialError(all)
}

// retryCommandLine is the command to fetch a batch again.
func (p *downloader) retryCommandLine(id string) string {
	if p.folder == "" {
		return p.downloadCommandLine(id, p.force)
	}
	return p.downloadCommandLine(id, p.force, "--out", p.folder)
}

// outputNames are the outputs of the jobs of a batch. Files with the same name, as
// from different folders, get their job's id.
func (p *downloader) outputNames(jobs []client.Job) ([]string, error) {
	seen := map[string]int{}
	for _, job := range jobs {
		seen[strings.ToLower(localName(job))]++
	}
	var inputs []batch.Input
	for _, job := range jobs {
		name := localName(job)
		if seen[strings.ToLower(name)] > 1 {
			ext := filepath.Ext(name)
			name = strings.TrimSuffix(name, ext) + "-" + job.ID + ext
		}
		inputs = append(inputs, batch.Input{Path: name})
	}
	format := bgremove.GIF
	if len(jobs) > 0 {
		format = localFormat(jobs[0])
	}
	items, err := batch.Name(p.folder, batch.Always(format), inputs)
	if err != nil {
		return nil, err
	}
	var outputs []string
	for _, item := range items {
		outputs = append(outputs, item.Output)
	}
	return outputs, nil
}

// localName is a valid name on this machine for a job's file. It is never a
// path, whatever the service sends.
func localName(job client.Job) string {
	name := term.Printable(job.Metadata.OriginalName)
	name = name[strings.LastIndexAny(name, `/\:`)+1:]
	if !fs.ValidPath(name) || name == "." {
		return "output.gif"
	}
	return name
}

// localFormat is the format of a job's output, if this version knows it.
func localFormat(job client.Job) bgremove.Format {
	if !job.OutputFormat.Valid() {
		return bgremove.GIF
	}
	return bgremove.Format(job.OutputFormat)
}
