// Command client removes the background of several clips at once with a service.
// It is a small program on pkg/client.
//
//	BGREMOVE_SERVER=https://clips.example BGREMOVE_API_KEY=bgr_… go run ./examples/client a.mp4 b.gif
package main

import (
	"context"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"os/signal"
	"path/filepath"
	"strings"

	"github.com/bgremove/bgremove/pkg/api"
	"github.com/bgremove/bgremove/pkg/client"
)

func main() {
	if len(os.Args) < 2 {
		fmt.Fprintln(os.Stderr, "usage: client CLIP...")
		os.Exit(2)
	}
	ctx, stop := signal.NotifyContext(context.Background(), os.Interrupt)
	err := run(ctx, os.Args[1:])
	stop()
	if err != nil {
		fmt.Fprintln(os.Stderr, "client:", explain(err))
		os.Exit(1)
	}
}

func run(ctx context.Context, clips []string) error {
	c, err := client.New(os.Getenv("BGREMOVE_SERVER"), os.Getenv("BGREMOVE_API_KEY"), client.Options{
		OnRetry: func(r client.Retry) { fmt.Fprintln(os.Stderr, "again in", r.Wait, "since", r.Err) },
	})
	if err != nil {
		return err
	}
	var files []client.File
	for _, clip := range clips {
		files = append(files, client.File{Path: clip})
	}
	made, err := c.SubmitBatch(ctx, files, client.JobOptions{OutputFormat: api.OutputFormatApng, Pad: new(0)})
	if err != nil {
		return err
	}
	fmt.Println("submitted, credits left:", made.CreditsRemaining)
	batch, err := c.WaitBatch(ctx, made.ID, nil)
	if err != nil {
		return err
	}
	var failed []error
	for i, job := range batch.Jobs {
		failed = append(failed, save(ctx, c, job, clips[i]))
	}
	return errors.Join(failed...)
}

// save downloads one result to its place beside the clip.
func save(ctx context.Context, c *client.Client, job client.Job, clip string) error {
	if err := client.Failure(job); err != nil {
		return fmt.Errorf("%s: %w", clip, err)
	}
	output := strings.TrimSuffix(clip, filepath.Ext(clip)) + "-nobg." + string(job.OutputFormat)
	size, err := c.Download(ctx, job.ID, output, client.DownloadOptions{})
	if err != nil {
		return err
	}
	fmt.Printf("%s: %d frames, %d bytes\n", output, job.Metadata.FrameCount, size)
	return nil
}

// explain handles errors by their types.
func explain(err error) error {
	var poor *client.InsufficientCreditsError
	switch {
	case errors.As(err, &poor):
		return fmt.Errorf("too few credits: the balance is %d", poor.CreditsRemaining)
	case errors.Is(err, client.ErrUnauthorized):
		return errors.New("BGREMOVE_API_KEY is not valid")
	case errors.Is(err, fs.ErrExist):
		return fmt.Errorf("%w; move it away first", err)
	}
	return err
}
