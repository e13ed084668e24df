package mcp

import (
	"context"

	"github.com/google/jsonschema-go/jsonschema"
	sdk "github.com/modelcontextprotocol/go-sdk/mcp"

	"github.com/bgremove/bgremove/internal/service/price"
)

// probed is the result of probe.
type probed struct {
	Path      string  `json:"path"`
	Container string  `json:"container"`
	Codec     string  `json:"codec"`
	Size      int64   `json:"size" jsonschema:"bytes"`
	Duration  float64 `json:"duration" jsonschema:"seconds that it plays; 0 is one picture"`
	Frames    int     `json:"frames"`
	Width     int     `json:"width"`
	Height    int     `json:"height"`
	HasAlpha  bool    `json:"hasAlpha" jsonschema:"whether it has transparency"`
	HasAudio  bool    `json:"hasAudio"`
	Truncated bool    `json:"truncated" jsonschema:"whether its end is missing"`
	Credits   int64   `json:"credits" jsonschema:"what a service charges for a job on it"`
}

func (s *server) addProbe(m *sdk.Server) {
	addTool(m, &sdk.Tool{
		Name: "probe", Title: "Look at a clip",
		Description: "Reads the size, the length and the number of frames of a local animation, video or picture. It changes nothing.",
		InputSchema: object([]string{"input"}, map[string]*jsonschema.Schema{"input": {Type: "string", Description: "The path of the file."}}),
		Annotations: &sdk.ToolAnnotations{ReadOnlyHint: true, IdempotentHint: true, OpenWorldHint: new(false)},
	}, s.probe)
}

func (s *server) probe(ctx context.Context, c *call) (probed, error) {
	var path string
	err := take(c.arguments, "input", &path)
	if err == nil {
		path, err = s.folders.input(path)
	}
	if err != nil {
		return probed{}, s.explain(err)
	}
	i, err := s.Remover.Probe(ctx, path)
	if err != nil {
		return probed{}, s.explain(err)
	}
	return probed{
		Path: path, Container: i.Container, Codec: i.Codec, Size: i.InputSize, Duration: i.Duration, Frames: i.Frames,
		Width: i.Width, Height: i.Height, HasAlpha: i.HasAlpha, HasAudio: i.HasAudio, Truncated: i.Truncated,
		Credits: price.OfSeconds(i.Duration),
	}, nil
}
