package onnx

import (
	"fmt"
	"image"
	"math"
	"slices"

	"github.com/bgremove/bgremove/internal/matte/view"
	"github.com/bgremove/bgremove/internal/network/model"
	"github.com/bgremove/bgremove/internal/network/onnxfile"
)

const (
	// maxSide and maxArea bound inputs, against sizes that are mistakes.
	maxSide = 16384
	maxArea = 1 << 26
	// defaultShortSide and defaultMultiple serve networks of open size without
	// values in their Spec. Few networks need more than 32.
	defaultShortSide = 512
	defaultMultiple  = 32
	// Pictures more than maxAspect times as long as wide get a shorter side than
	// the network asks for, because an input's memory and time go with its area.
	maxAspect = 4
)

// The names of Robust Video Matting's contract, in the order used here.
var (
	recurrentIn  = []string{"src", "r1i", "r2i", "r3i", "r4i", "downsample_ratio"}
	recurrentOut = []string{"pha", "fgr", "r1o", "r2o", "r3o", "r4o"}
)

// port is one input or output of a network.
type port struct {
	name  string
	elem  elem
	shape []int64 // -1 is open
}

func ports(declared []onnxfile.Port) (all []port) {
	for _, p := range declared {
		all = append(all, port{p.Name, elem(p.Elem), p.Shape})
	}
	return all
}

// contract combines the network's shape and its Spec.
type contract struct {
	spec            model.Spec
	inputs, outputs []port // outputs[0] is the matte, outputs[1] of a PerFrame network its features
	image           port   // inputs[0]
	nhwc            bool
	width, height   int // 0 where open
}

func newContract(c Config, g *onnxfile.Graph) (*contract, error) {
	fail := func(format string, a ...any) error {
		return &ModelError{Path: c.Model, Reason: fmt.Sprintf(format, a...)}
	}
	inputs, outputs := ports(g.Inputs), ports(g.Outputs)
	spec, err := chooseSpec(c, inputs, g.Metadata)
	if err != nil {
		return nil, err
	}
	k := &contract{spec: spec}
	in, out := recurrentIn, recurrentOut
	if spec.Kind == model.PerFrame {
		if len(inputs) != 1 || len(outputs) == 0 {
			return nil, fail("has %d inputs and %d outputs, want 1 and at least 1", len(inputs), len(outputs))
		}
		in, out = []string{inputs[0].name}, []string{spec.Output.Name}
		if out[0] == "" {
			out[0] = outputs[0].name
		}
	} else if len(inputs) != len(in) {
		return nil, fail("has %d inputs, want %v", len(inputs), in)
	}
	if k.inputs, err = pick(inputs, in); err != nil {
		return nil, fail("has no input %v", err)
	}
	if k.outputs, err = pick(outputs, out); err != nil {
		return nil, fail("has no output %v", err)
	}
	if spec.Kind == model.PerFrame && !spec.Input.Letterbox {
		k.outputs = append(k.outputs, features(outputs)...)
	}
	k.image = k.inputs[0]
	if err := k.checkImage(); err != nil {
		return nil, fail("input %s: %v", k.image.name, err)
	}
	for _, p := range slices.Concat(k.inputs, k.outputs) {
		if !p.elem.known() {
			return nil, fail("%s holds %v, want float32, float16 or uint8", p.name, p.elem)
		}
	}
	return k, k.checkMatte(c.Model)
}

// chooseSpec takes the caller's Spec, else the network's own, else a plain one.
func chooseSpec(c Config, inputs []port, metadata map[string]string) (model.Spec, error) {
	fail := func(reason string, err error) (model.Spec, error) {
		return model.Spec{}, &ModelError{Path: c.Model, Reason: reason, Err: err}
	}
	s := c.Spec
	text, has := metadata[MetadataKey]
	if s == (model.Spec{}) && has {
		var err error
		if s, err = model.ParseSpec([]byte(text)); err != nil {
			return fail("metadata "+MetadataKey+" is no specification", err)
		}
	}
	if s.Kind == "" {
		s.Kind = model.PerFrame
		if _, err := pick(inputs, recurrentIn); err == nil {
			s.Kind = model.Recurrent
		}
	}
	if err := s.Validate(); err != nil {
		return fail("specification", err)
	}
	for i, v := range s.Input.Std {
		if v == 0 {
			s.Input.Std[i] = 1
		}
	}
	if s.Input.Multiple == 0 {
		s.Input.Multiple = defaultMultiple
	}
	return s, nil
}

// features is the output, if any, of view.Features: uint8 [1 view.FeatureCount rows columns].
func features(outputs []port) []port {
	i := slices.IndexFunc(outputs, func(p port) bool {
		return p.name == "features" && p.elem == uint8Elem && len(p.shape) == 4 && p.shape[1] == view.FeatureCount
	})
	if i < 0 {
		return nil
	}
	return outputs[i : i+1]
}

func pick(ports []port, names []string) ([]port, error) {
	var found []port
	for _, name := range names {
		i := slices.IndexFunc(ports, func(p port) bool { return p.name == name })
		if i < 0 {
			return nil, fmt.Errorf("%q", name)
		}
		found = append(found, ports[i])
	}
	return found, nil
}

// checkImage finds layout and size of the picture's input.
func (k *contract) checkImage() error {
	s, in := k.image.shape, k.spec.Input
	if len(s) != 4 || s[0] > 1 {
		return fmt.Errorf("shape %v, want one picture: [1 3 height width] or [1 height width 3]", s)
	}
	switch in.Layout {
	case "":
		k.nhwc = s[1] != 3 && s[3] == 3
	case "nhwc":
		k.nhwc = true
	}
	channels, h, w := s[1], s[2], s[3]
	if k.nhwc {
		h, w, channels = s[1], s[2], s[3]
	}
	if channels != 3 && channels != -1 {
		return fmt.Errorf("shape %v: %d channels, want 3", s, channels)
	}
	var err error
	if k.width, err = side(w, in.Width, in.ShortSide); err != nil {
		return fmt.Errorf("width: %w", err)
	}
	if k.height, err = side(h, in.Height, in.ShortSide); err != nil {
		return fmt.Errorf("height: %w", err)
	}
	if (k.width == 0) != (k.height == 0) {
		return fmt.Errorf("size %dx%d: give both width and height", k.width, k.height)
	}
	if k.width*k.height > maxArea {
		return fmt.Errorf("size %dx%d is over %d pixels", k.width, k.height, maxArea)
	}
	return nil
}

// side reconciles a dimension of the network with the one that the Spec gives.
func side(network int64, given, short int) (int, error) {
	switch {
	case network > maxSide:
		return 0, fmt.Errorf("%d is over %d", network, maxSide)
	case network > 0 && given > 0 && int(network) != given:
		return 0, fmt.Errorf("the network has %d, its specification %d", network, given)
	case network > 0:
		return int(network), nil
	case short > 0:
		return 0, nil
	}
	return given, nil
}

// checkMatte refuses outputs that cannot be a matte.
func (k *contract) checkMatte(path string) error {
	out := k.spec.Output
	if k.outputs[0].elem == uint8Elem && (out.Sigmoid || out.Stretch) {
		return &ModelError{Path: path, Reason: "output " + k.outputs[0].name + " holds uint8, which is neither logits nor stretched"}
	}
	shape := slices.Clone(k.outputs[0].shape)
	if shape == nil {
		return nil // not declared: seen when it runs
	}
	_, err := k.plane(shape)
	if err != nil {
		return &ModelError{Path: path, Reason: "output " + k.outputs[0].name, Err: err}
	}
	return nil
}

// plane is where the matte lies in an output: value (x, y) is at
// offset + (y·w + x)·step. Dimensions may be −1 when only declared.
type plane struct {
	w, h, step, offset int
}

func (k *contract) plane(shape []int64) (plane, error) {
	var c, h, w int64
	nhwc := false
	if len(shape) == 4 && shape[0] > 1 {
		return plane{}, fmt.Errorf("shape %v: more than one picture", shape)
	}
	switch len(shape) {
	case 2:
		c, h, w = 1, shape[0], shape[1]
	case 3, 4:
		const maxChannels = 8 // more channels than any network here has classes
		s := shape[len(shape)-3:]
		first, last := s[0], s[2]
		switch {
		case first > maxChannels && last > 0 && last <= maxChannels:
			nhwc = true
		case last > maxChannels && first > 0 && first <= maxChannels:
		default:
			nhwc = k.nhwc
		}
		c, h, w = s[0], s[1], s[2]
		if nhwc {
			h, w, c = s[0], s[1], s[2]
		}
	default:
		return plane{}, fmt.Errorf("shape %v is not that of a picture", shape)
	}
	channel := k.spec.Output.Channel
	if c >= 0 && int64(channel) >= c {
		return plane{}, fmt.Errorf("shape %v has no channel %d", shape, channel)
	}
	if h == 0 || w == 0 || h > maxSide || w > maxSide {
		return plane{}, fmt.Errorf("shape %v", shape)
	}
	p := plane{w: int(w), h: int(h), step: 1, offset: channel * int(h) * int(w)}
	if nhwc {
		p.step, p.offset = int(c), channel
	}
	return p, nil
}

// fit is the size of the network's input for a picture of w×h pixels, and
// where in it the picture goes.
func (k *contract) fit(w, h int) (iw, ih int, inner image.Rectangle) {
	in := k.spec.Input
	iw, ih = k.width, k.height
	switch {
	case iw > 0:
	case k.spec.Kind == model.Recurrent && in.ShortSide == 0:
		iw, ih = w, h // the network reduces by itself
	default:
		short := in.ShortSide
		if short == 0 {
			short = defaultShortSide
		}
		s := float64(short) / float64(min(w, h))
		area := min(float64(short)*float64(short)*maxAspect, maxArea)
		s *= min(math.Sqrt(area/(float64(w)*s*float64(h)*s)), 1)
		iw, ih = multiple(float64(w)*s, in.Multiple), multiple(float64(h)*s, in.Multiple)
	}
	inner = image.Rect(0, 0, iw, ih)
	if in.Letterbox {
		s := min(float64(iw)/float64(w), float64(ih)/float64(h))
		pw := min(max(int(math.Round(float64(w)*s)), 1), iw)
		ph := min(max(int(math.Round(float64(h)*s)), 1), ih)
		inner = image.Rect(0, 0, pw, ph).Add(image.Pt((iw-pw)/2, (ih-ph)/2))
	}
	return iw, ih, inner
}

// multiple rounds v to the nearest multiple of m, at least one and at most
// maxSide.
func multiple(v float64, m int) int {
	return min(max(int(math.Round(v/float64(m))), 1)*m, max(maxSide/m, 1)*m)
}
