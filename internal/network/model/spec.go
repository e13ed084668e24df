// Package model knows the neural networks that bgremove can use: their names,
// sources and licences, and the input that each expects.
package model

// Spec describes a network's input and output. The catalogue, a sidecar file
// (NAME.json beside NAME.onnx) or the network's own metadata hold it. Element
// types (float32, float16, uint8) and fixed sizes are read from the network
// itself.
type Spec struct {
	Kind  Kind  `json:"kind,omitempty"` // empty is PerFrame
	Input Input `json:"input"`
	// Output chooses among the network's outputs.
	Output Output `json:"output"`
	// Colours weighs the clip's colours of subject and backdrop where the
	// network is uncertain, 0 to 1. It helps networks that are often uncertain;
	// the others know better than colours do.
	Colours float32 `json:"colours,omitempty"`
	// Closer lets the network look again at the part of each picture around what it found.
	Closer bool `json:"closer,omitempty"`
	// Plate says that the clean plate of the clip is used to correct mattes. It
	// applies to mattes of at most 327,680 pixels, as with a short side of 256.
	Plate bool `json:"plate,omitempty"`
}

// Kind says how a network treats time.
type Kind string

// The kinds.
const (
	// PerFrame networks see one picture at a time.
	PerFrame Kind = "frame"
	// Recurrent networks follow the contract of Robust Video Matting: inputs
	// src, r1i to r4i and downsample_ratio, outputs fgr, pha and r1o to r4o.
	Recurrent Kind = "recurrent"
)

// Input says how a picture becomes the input tensor.
type Input struct {
	// Width and Height in pixels apply if the network leaves them open; 0 keeps
	// the aspect ratio with ShortSide.
	Width  int `json:"width,omitempty"`
	Height int `json:"height,omitempty"`
	// ShortSide is the length of the shorter side, for networks of open size.
	// It is less for pictures more than four times as long as wide, so that the
	// area is no larger.
	ShortSide int `json:"shortSide,omitempty"`
	// Multiple must divide both sides; 0 is 32.
	Multiple int `json:"multiple,omitempty"`
	// Layout is "nchw" or "nhwc"; if empty, the position of the 3 channels
	// decides.
	Layout string `json:"layout,omitempty"`
	// Letterbox keeps the aspect ratio and fills the rest with black; otherwise
	// the picture is stretched to the size.
	Letterbox bool `json:"letterbox,omitempty"`
	// Mean and Std normalise values of 0 to 1: (v − mean) / std, for R, G and
	// B. Std 0 is 1. Inputs of uint8 are never normalised.
	Mean [3]float32 `json:"mean"`
	Std  [3]float32 `json:"std"`
}

// Output says which output is the matte and what its values mean.
type Output struct {
	// Name of the output; empty is the first output.
	Name string `json:"name,omitempty"`
	// Channel of the output that holds the subject; 0 is the first.
	Channel int `json:"channel,omitempty"`
	// Sigmoid is set if the output holds logits.
	Sigmoid bool `json:"sigmoid,omitempty"`
	// Stretch maps the range of values so far in the clip to 0 to 1, for
	// networks that are not calibrated. The range only grows, so that it never
	// jumps between frames and an empty frame stays empty.
	Stretch bool `json:"stretch,omitempty"`
}
