// Package model knows the neural networks that bgremove can use: what there is,
// where it comes from, under which licence, and how each wants its pictures.
package model

// Spec says how a network takes a picture and gives its matte. It is what the
// catalogue, a sidecar file (NAME.json beside NAME.onnx) or the network's own
// metadata hold. Element types (float32, float16, uint8) and fixed sizes are
// read from the network itself.
type Spec struct {
	Kind  Kind  `json:"kind,omitempty"` // empty is PerFrame
	Input Input `json:"input"`
	// Output chooses among the network's outputs.
	Output Output `json:"output"`
	// Colours is how much the colours that subject and backdrop have had in the
	// clip count where the network is in doubt, 0 to 1. It helps networks that
	// are often in doubt; those that seldom are know better than colours do.
	Colours float32 `json:"colours,omitempty"`
	// Plate says that mattes are revised with the clip's clean plate in view, if they
	// have no more than 327,680 pixels, as those of a short side of 256 have.
	Plate bool `json:"plate,omitempty"`
}

// Kind is how a network treats time.
type Kind string

// The kinds.
const (
	// PerFrame networks know one picture.
	PerFrame Kind = "frame"
	// Recurrent networks follow the contract of Robust Video Matting: inputs
	// src, r1i to r4i and downsample_ratio, outputs fgr, pha and r1o to r4o.
	Recurrent Kind = "recurrent"
)

// Input says how a picture becomes the input tensor.
type Input struct {
	// Width and Height in pixels are used where the network leaves them open;
	// 0 keeps the aspect ratio with ShortSide.
	Width  int `json:"width,omitempty"`
	Height int `json:"height,omitempty"`
	// ShortSide is the length of the shorter side for networks of open size. Of
	// pictures more than four times as long as wide it is less, so that the
	// area is no larger.
	ShortSide int `json:"shortSide,omitempty"`
	// Multiple is what both sides must be divisible by; 0 is 32.
	Multiple int `json:"multiple,omitempty"`
	// Layout is "nchw" or "nhwc"; empty is told by where the 3 channels are.
	Layout string `json:"layout,omitempty"`
	// Letterbox keeps the aspect ratio and fills the rest with black; otherwise
	// the picture is squashed to size.
	Letterbox bool `json:"letterbox,omitempty"`
	// Mean and Std normalise values of 0 to 1: (v − mean) / std, for R, G and
	// B. Std 0 is 1. Inputs of uint8 are never normalised.
	Mean [3]float32 `json:"mean"`
	Std  [3]float32 `json:"std"`
}

// Output says which output is the matte and what its values mean.
type Output struct {
	// Name of the output; empty is the first.
	Name string `json:"name,omitempty"`
	// Channel of the output that is the subject; 0 is the first.
	Channel int `json:"channel,omitempty"`
	// Sigmoid is set for outputs that are logits.
	Sigmoid bool `json:"sigmoid,omitempty"`
	// Stretch maps the range of values seen in the clip so far to 0 to 1, for
	// networks that are not calibrated. The range only grows, so it never
	// jumps from frame to frame and an empty frame stays empty.
	Stretch bool `json:"stretch,omitempty"`
}
