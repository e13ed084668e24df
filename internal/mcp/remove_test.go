package mcp_test

import (
	"bytes"
	"context"
	"encoding/json"
	"image"
	"image/color"
	"image/draw"
	"image/gif"
	"image/png"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
	sdk "github.com/modelcontextprotocol/go-sdk/mcp"
)

// removed is the result of remove that tests look at.
type removed struct {
	Path     string
	Format   string
	Size     int64
	Duration float64
	Frames   int
	Width    int
	Height   int
	Method   string
	Warnings []string
	Notes    []string
}

// hop is a real video.
const hop = "../../testdata/demo/hop.mp4"

// A clip loses its background, and the assistant hears of the progress and of the file.
func TestRemove(t *testing.T) {
	t.Parallel()
	dir := realFolder(t)
	clip, err := os.ReadFile(hop)
	if err != nil {
		t.Fatal(err)
	}
	if err := os.WriteFile(filepath.Join(dir, "hop.mp4"), clip, 0o600); err != nil {
		t.Fatal(err)
	}
	a := connect(t, nil, dir)
	params := &sdk.CallToolParams{Name: "remove", Arguments: arguments{"input": "hop.mp4", "output": "out.apng", "end": 0.5, "canvasW": 96, "crop": false, "preview": true}}
	params.SetProgressToken("1")
	made, err := a.CallTool(t.Context(), params)
	if err != nil || made.IsError {
		t.Fatalf("%v %+v", err, made)
	}
	var got removed
	decode(t, made, &got)
	stat, err := os.Stat(filepath.Join(dir, "out.apng"))
	if err != nil {
		t.Fatal(err)
	}
	want := removed{Path: filepath.Join(dir, "out.apng"), Format: "apng", Size: stat.Size(), Duration: 0.5, Frames: 12, Width: 96, Height: 54, Method: "fast", Warnings: []string{}, Notes: []string{}}
	if diff := cmp.Diff(want, got); diff != "" {
		t.Error(diff)
	}
	preview, ok := made.Content[1].(*sdk.ImageContent)
	if !ok || preview.MIMEType != "image/png" {
		t.Fatalf("there is no preview: %+v", made.Content)
	}
	if p, err := png.Decode(bytes.NewReader(preview.Data)); err != nil || p.Bounds().Dx() != 96 {
		t.Errorf("the preview is no picture of the result: %v", err)
	}
	last := 0.0
	for range len(a.progress) {
		p := <-a.progress
		if p.Progress <= last || p.Message != "removing the background of hop.mp4" {
			t.Errorf("after %g comes %+v", last, p)
		}
		if last = p.Progress; last > p.Total {
			t.Errorf("%g of %g", last, p.Total)
		}
	}
	if last == 0 {
		t.Error("nothing was told of the progress")
	}
}

// Without an output the result lies beside the input, and is never overwritten unless
// that is asked for.
func TestRemoveBeside(t *testing.T) {
	t.Parallel()
	dir := realFolder(t)
	drawGIF(t, filepath.Join(dir, "a.gif"), 10, 20)
	a := connect(t, nil, dir)
	var got removed
	a.must(t, "remove", arguments{"input": filepath.Join(dir, "a.gif"), "method": "fast", "pad": 0}, &got)
	if got.Path != filepath.Join(dir, "a-nobg.gif") || got.Width != 17 || got.Height != 20 {
		t.Errorf("%+v", got)
	}
	if refusal := a.call(t, "remove", arguments{"input": "a.gif"}, nil); refusal != got.Path+": the output already exists; overwrite true replaces it, or name another output" {
		t.Error(refusal)
	}
	a.must(t, "remove", arguments{"input": "a.gif", "overwrite": true, "loop": 3, "background": "#00ff00"}, &got)
	made, err := os.Open(got.Path)
	if err != nil {
		t.Fatal(err)
	}
	defer made.Close()
	g, err := gif.DecodeAll(made)
	if err != nil || g.LoopCount != 2 || len(g.Image) != 2 || g.Delay[1] != 20 { // after the first time
		t.Fatalf("%v %+v", err, g)
	}
	if r, green, b, alpha := g.Image[0].At(0, 0).RGBA(); r != 0 || green != 0xffff || b != 0 || alpha != 0xffff {
		t.Error("there is no green background")
	}
}

// An MP4 without a background becomes a GIF, and the assistant hears that. hints choose the
// subject, and a file stands behind it.
func TestRemoveOptions(t *testing.T) {
	t.Parallel()
	dir := realFolder(t)
	drawGIF(t, filepath.Join(dir, "a.gif"), 10, 20)
	a := connect(t, nil, dir)
	var got removed
	a.must(t, "remove", arguments{"input": "a.gif", "output": "out.mp4"}, &got)
	if got.Path != filepath.Join(dir, "out.gif") || len(got.Notes) != 1 || !strings.Contains(got.Notes[0], "mp4 has no transparency") {
		t.Errorf("%+v", got)
	}
	blue := image.NewNRGBA(image.Rect(0, 0, 8, 8))
	draw.Draw(blue, blue.Rect, image.NewUniform(color.NRGBA{B: 255, A: 255}), image.Point{}, draw.Src)
	var b bytes.Buffer
	if err := png.Encode(&b, blue); err != nil {
		t.Fatal(err)
	}
	if err := os.WriteFile(filepath.Join(dir, "blue.png"), b.Bytes(), 0o600); err != nil {
		t.Fatal(err)
	}
	a.must(t, "remove", arguments{"input": "a.gif", "output": "behind.apng", "background": "blue.png", "method": "fast"}, &got)
	made, err := os.ReadFile(got.Path)
	if err != nil {
		t.Fatal(err)
	}
	picture, err := png.Decode(bytes.NewReader(made))
	if err != nil {
		t.Fatal(err)
	}
	if c := color.NRGBAModel.Convert(picture.At(0, 0)); c != (color.NRGBA{B: 255, A: 255}) {
		t.Errorf("behind the subject is %v", c)
	}
	a.must(t, "remove", arguments{"input": "a.gif", "output": "wide.gif", "canvasW": json.RawMessage("64.0"), "maxSize": json.RawMessage("1e6")}, &got)
	if got.Width != 64 {
		t.Errorf("a canvas of 64.0 is %d wide", got.Width)
	}
	if refusal := a.call(t, "remove", arguments{"input": "a.gif", "output": "hint.gif", "hints": []any{arguments{"keep": true, "click": []any{900, 2}}}}, nil); !strings.Contains(refusal, "hints number 1 (keep 900,2) is outside the picture of 48×40 pixels") {
		t.Error(refusal)
	}
}

// A call that the assistant gives up ends, and leaves nothing.
func TestCancelledCall(t *testing.T) {
	t.Parallel()
	dir := realFolder(t)
	clip, err := os.ReadFile(hop)
	if err != nil {
		t.Fatal(err)
	}
	if err := os.WriteFile(filepath.Join(dir, "hop.mp4"), clip, 0o600); err != nil {
		t.Fatal(err)
	}
	a := connect(t, nil, dir)
	ctx, cancel := context.WithCancel(t.Context())
	go func() {
		<-a.progress
		cancel()
	}()
	params := &sdk.CallToolParams{Name: "remove", Arguments: arguments{"input": "hop.mp4", "output": "out.webm"}}
	params.SetProgressToken("1")
	if _, err := a.CallTool(ctx, params); err == nil {
		t.Error("the call was not given up")
	}
	// The next removal begins when that one has ended.
	drawGIF(t, filepath.Join(dir, "a.gif"), 10)
	a.must(t, "remove", arguments{"input": "a.gif"}, new(removed))
	left, err := filepath.Glob(filepath.Join(dir, "*"))
	if err != nil || len(left) != 3 {
		t.Errorf("left behind: %v, %v", left, err)
	}
	if hidden, err := filepath.Glob(filepath.Join(dir, ".*")); err != nil || len(hidden) > 0 {
		t.Errorf("left behind: %v, %v", hidden, err)
	}
}

func TestProbe(t *testing.T) {
	t.Parallel()
	dir := realFolder(t)
	drawGIF(t, filepath.Join(dir, "a.gif"), 10, 20)
	var got struct {
		Path, Container string
		Frames, Width   int
		Duration        float64
		Credits         int64
	}
	connect(t, nil, dir).must(t, "probe", arguments{"input": "a.gif"}, &got)
	if got.Path != filepath.Join(dir, "a.gif") || got.Container != "gif" || got.Frames != 2 || got.Width != 48 || got.Duration != 0.3 || got.Credits != 3 {
		t.Errorf("%+v", got)
	}
}
