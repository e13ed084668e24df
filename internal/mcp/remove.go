package mcp

import (
	"bytes"
	"context"
	"image"
	"image/png"
	"path/filepath"
	"strings"

	"github.com/google/jsonschema-go/jsonschema"
	sdk "github.com/modelcontextprotocol/go-sdk/mcp"
	"golang.org/x/image/draw"

	"github.com/bgremove/bgremove/pkg/bgremove"
	"github.com/bgremove/bgremove/pkg/option"
)

// removed is the result of remove.
type removed struct {
	Path     string   `json:"path" jsonschema:"the file that was written"`
	Format   string   `json:"format"`
	Size     int64    `json:"size" jsonschema:"bytes"`
	Duration float64  `json:"duration" jsonschema:"seconds that it plays"`
	Frames   int      `json:"frames"`
	Width    int      `json:"width"`
	Height   int      `json:"height"`
	Method   string   `json:"method" jsonschema:"the method that was used"`
	Reason   string   `json:"reason" jsonschema:"why that method was chosen"`
	Took     float64  `json:"took" jsonschema:"seconds that the work took"`
	Warnings []string `json:"warnings" jsonschema:"what may be wrong with the result"`
	Notes    []string `json:"notes" jsonschema:"where it is not as asked for"`
}

func (s *server) addRemove(m *sdk.Server) {
	all := map[string]*jsonschema.Schema{
		"input":     {Type: "string", Description: "The path of an animation, a video or a picture: " + strings.Join(option.InputExtensions(), " ") + "."},
		"output":    {Type: "string", Description: "The path of the file to write; its extension decides the format. Without it, the input's name with -nobg, beside the input."},
		"overwrite": {Type: "boolean", Description: "Replace the output if it exists."},
		"preview":   {Type: "boolean", Description: "Also show one frame of the result."},
	}
	words().addOptions(all, words().local())
	background := all[option.DrawnBackground]
	background.Pattern = ""
	background.Description += " Or the path of a picture or a clip."
	addTool(m, &sdk.Tool{
		Name: "remove", Title: "Remove the background",
		Description: "Takes the background out of a local animation, video or picture, and writes the result to a local file. Every frame keeps its time.",
		InputSchema: object([]string{"input"}, all),
		Annotations: &sdk.ToolAnnotations{DestructiveHint: new(true), IdempotentHint: true, OpenWorldHint: new(false)},
	}, s.remove)
}

// removal is what remove is asked for.
type removal struct {
	option.Options
	input, output string
	extras        bgremove.Extras
}

func (s *server) remove(ctx context.Context, c *call) (removed, error) {
	r, err := s.readRemoval(c.arguments)
	if err != nil {
		return removed{}, s.explain(err)
	}
	select {
	case s.turn <- struct{}{}:
		defer func() { <-s.turn }()
	case <-ctx.Done():
		return removed{}, context.Cause(ctx)
	}
	tell := c.progress(ctx, "removing the background of "+filepath.Base(r.input))
	r.extras.Progress = func(p bgremove.Progress) {
		tell(float64((p.Pass-1)*p.Frames+p.Frame), float64(p.Passes*p.Frames))
	}
	if r.extras.Preview != nil {
		r.extras.Preview = c.show
	}
	made, err := s.Remover.Remove(ctx, r.input, r.output, r.Options, r.extras)
	if err != nil {
		return removed{}, s.explain(err)
	}
	result := removed{
		Path: made.Output, Format: string(made.OutputFormat), Size: made.OutputSize, Duration: made.Duration,
		Frames: made.Frames, Width: made.Width, Height: made.Height, Method: string(made.Method), Reason: made.Reason,
		Took: made.Timings["total"], Warnings: []string{}, Notes: []string{},
	}
	for _, w := range made.Quality.Warnings {
		result.Warnings = append(result.Warnings, w.Message)
	}
	for _, n := range made.Notes {
		result.Notes = append(result.Notes, n.String())
	}
	return result, nil
}

// readRemoval reads the arguments, and finds the files.
func (s *server) readRemoval(a arguments) (r removal, err error) {
	var preview bool
	for _, err := range []error{take(a, "input", &r.input), take(a, "output", &r.output), take(a, "overwrite", &r.extras.Overwrite), take(a, "preview", &preview)} {
		if err != nil {
			return r, err
		}
	}
	if preview {
		r.extras.Preview = func(_, _ *image.NRGBA) {}
	}
	if r.input, err = s.folders.input(r.input); err != nil {
		return r, err
	}
	file, err := s.backgroundFile(a)
	if err != nil {
		return r, err
	}
	if r.Options, err = a.options(); err != nil {
		return r, err
	}
	if file != "" {
		r.Background = file
	}
	if err := bgremove.Validate(r.Options); err != nil {
		return r, err
	}
	return r, s.findOutput(&r)
}

// backgroundFile takes the argument of what stands behind the subject out, if it is a
// file, and finds that.
func (s *server) backgroundFile(a arguments) (string, error) {
	text := ""
	b := arguments{option.DrawnBackground: a[option.DrawnBackground]}
	if _, given := a[option.DrawnBackground]; !given || take(b, option.DrawnBackground, &text) != nil {
		return "", nil // whoever reads options refuses what is no text
	}
	if backing, ok := option.ParseBackground(text); !ok || backing.File == "" {
		return "", nil
	}
	delete(a, option.DrawnBackground)
	file, err := s.folders.input(text)
	return file, err
}

// findOutput decides the output's format and its path, which is that of the format
// which is really written.
func (s *server) findOutput(r *removal) (err error) {
	named, known := option.FormatOf(r.output)
	switch {
	case r.output == "":
		format := bgremove.WrittenFormat(r.input, r.Options)
		r.output = bgremove.OutputPath(r.input, format)
		if r.Format == "" {
			r.Format = format
		}
	case !known:
	case r.Format == "":
		r.Format = named
	case named != r.Format && !strings.EqualFold(filepath.Ext(r.output), "."+r.Format.Extension()):
		return wrong("output", "ends in "+filepath.Ext(r.output)+", and outputFormat is "+string(r.Format)+": give one of them")
	}
	if r.output, err = s.folders.output(r.output); err != nil {
		return err
	}
	if path := bgremove.EffectivePath(r.output, r.Options); path != r.output {
		r.output, err = s.folders.output(path)
	}
	return err
}

// previewSide is the longest side of the picture that an assistant is shown.
const previewSide = 512

// show shows the assistant a frame of the result.
func (c *call) show(_, after *image.NRGBA) {
	size := after.Bounds().Size()
	if longest := max(size.X, size.Y); longest > previewSide {
		small := image.NewNRGBA(image.Rect(0, 0, max(1, size.X*previewSide/longest), max(1, size.Y*previewSide/longest)))
		draw.ApproxBiLinear.Scale(small, small.Rect, after, after.Bounds(), draw.Src, nil)
		after = small
	}
	var b bytes.Buffer
	if png.Encode(&b, after) == nil { // into memory it does not fail
		c.pictures = append(c.pictures, &sdk.ImageContent{Data: b.Bytes(), MIMEType: option.PNG.MediaType()})
	}
}
