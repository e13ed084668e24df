package client_test

import (
	"context"
	"errors"
	"fmt"
	"log"
	"os"
	"path/filepath"

	"github.com/bgremove/bgremove/pkg/api"
	"github.com/bgremove/bgremove/pkg/client"
)

// --8<-- [start:clip]

// A clip goes to the service and returns without its background.
func Example() {
	ctx := context.Background()
	c, err := client.New(os.Getenv("BGREMOVE_SERVER"), os.Getenv("BGREMOVE_API_KEY"), client.Options{})
	if err != nil {
		log.Fatal(err)
	}
	hop := filepath.Join(os.Getenv("CLIPS"), "hop.gif")
	made, err := c.Submit(ctx, client.File{Path: hop}, client.JobOptions{Method: api.MethodFast, Pad: new(0)})
	if err != nil {
		log.Fatal(err)
	}
	job, err := c.Wait(ctx, made.ID, nil)
	if err != nil {
		log.Fatal(err)
	}
	out := filepath.Join(os.Getenv("CLIPS"), "hop-nobg.gif")
	if _, err := c.Download(ctx, made.ID, out, client.DownloadOptions{}); err != nil {
		log.Fatal(err)
	}
	fmt.Println(job.Status, job.OutputFormat, job.Metadata.FrameCount, "frames,", filepath.Base(out))
	// Output: done gif 4 frames, hop-nobg.gif
}

// --8<-- [end:clip]

// Several files are charged together, and the client waits for them together.
func ExampleClient_SubmitBatch() {
	ctx := context.Background()
	c, err := client.New(os.Getenv("BGREMOVE_SERVER"), os.Getenv("BGREMOVE_API_KEY"), client.Options{})
	if err != nil {
		log.Fatal(err)
	}
	hop := client.File{Path: filepath.Join(os.Getenv("CLIPS"), "hop.gif")}
	made, err := c.SubmitBatch(ctx, []client.File{hop, hop}, client.JobOptions{OutputFormat: api.OutputFormatApng})
	if err != nil {
		log.Fatal(err)
	}
	batch, err := c.WaitBatch(ctx, made.ID, nil)
	if err != nil {
		log.Fatal(err)
	}
	for _, job := range batch.Jobs {
		fmt.Println(job.Metadata.OriginalName, job.Status)
	}
	// Output:
	// hop.gif done
	// hop.gif done
}

// Errors have types, so that a program can act on them.
func ExampleInsufficientCreditsError() {
	ctx := context.Background()
	c, err := client.New(os.Getenv("BGREMOVE_SERVER"), "bgr_wrong", client.Options{})
	if err != nil {
		log.Fatal(err)
	}
	_, err = c.Submit(ctx, client.File{Path: filepath.Join(os.Getenv("CLIPS"), "hop.gif")}, client.JobOptions{})
	var poor *client.InsufficientCreditsError
	switch {
	case errors.As(err, &poor):
		fmt.Println("too few credits: the balance is", poor.CreditsRemaining)
	case errors.Is(err, client.ErrUnauthorized):
		fmt.Println("the key is not valid")
	}
	// Output: the key is not valid
}
