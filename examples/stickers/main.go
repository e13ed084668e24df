// Command stickers makes a sticker of a clip, 512 pixels wide and at most three
// seconds long. It is a small program on the bgremove library.
//
//	go run ./examples/stickers clip.mp4 sticker.webm
package main

import (
	"context"
	"errors"
	"fmt"
	"os"
	"os/signal"
	"time"

	"github.com/bgremove/bgremove/pkg/bgremove"
)

func main() {
	if len(os.Args) != 3 {
		fmt.Fprintln(os.Stderr, "usage: stickers CLIP STICKER.webm")
		os.Exit(2)
	}
	ctx, stop := signal.NotifyContext(context.Background(), os.Interrupt)
	err := sticker(ctx, os.Args[1], os.Args[2])
	stop()
	if err != nil {
		fmt.Fprintln(os.Stderr, "stickers:", err)
		if text := hint(err); text != "" {
			fmt.Fprintln(os.Stderr, "hint:", text)
		}
		os.Exit(1)
	}
}

// hint is what to do about an error, in the words of this program.
func hint(err error) string {
	var e *bgremove.Error
	switch {
	case errors.Is(err, bgremove.NoFFmpeg):
		return "install ffmpeg 5.1 or newer"
	case errors.As(err, &e) && e.Without == bgremove.Fast:
		return "a clip before a backdrop of one colour needs no AI"
	case errors.As(err, &e) && e.Kind == bgremove.Unreadable:
		return "not an animation, video or picture that bgremove reads"
	}
	return ""
}

func sticker(ctx context.Context, clip, out string) error {
	o := bgremove.Defaults()
	o.Format = bgremove.WebM
	o.CanvasW, o.CanvasH = 512, 512
	o.End = 3 * time.Second
	o.FPS = 30
	o.NoAudio = true
	result, err := bgremove.New(bgremove.Config{}).Remove(ctx, clip, out, o, bgremove.Extras{Overwrite: true})
	if err != nil {
		return err
	}
	fmt.Printf("%s: %d frames, %.2f s, %d bytes (%s: %s)\n", result.Output, result.Frames, result.Duration,
		result.OutputSize, result.Method, result.Reason)
	return nil
}
