package model

import (
	"crypto/sha256"
	_ "embed" // for the networks
	"encoding/hex"
)

// Bundled is the name of the network that is part of the program. It is the
// default; docs/model.md describes it.
const Bundled = "bundled"

// Forms are the .onnx files of one network, which have the same inputs and outputs.
// They must not be written to.
type Forms struct {
	// Float has weights of floating point. GPUs run it, and training goes on from it.
	Float []byte
	// Int8 computes with integers of 8 bits, which takes processors less than half of the time
	// (tools/train/quantise.py). If it is nil, they run Float.
	Int8 []byte
}

// The files, for the variables below.
var (
	//go:embed bundled/bgremove-small.onnx
	network []byte
	//go:embed bundled/bgremove-small-int8.onnx
	networkInt8 []byte
	//go:embed bundled/bgremove-reviser.onnx
	reviser []byte
	//go:embed bundled/bgremove-reviser-int8.onnx
	reviserInt8 []byte
	//go:embed bundled/bgremove-chooser.onnx
	chooser []byte
	//go:embed bundled/bgremove-guide.onnx
	guide []byte
	//go:embed bundled/bgremove-guide-int8.onnx
	guideInt8 []byte
)

// The networks that are part of the program.
var (
	// BundledNetwork estimates mattes. Its metadata describes its input.
	BundledNetwork = Forms{Float: network, Int8: networkInt8}
	// BundledReviser corrects a matte with the clean plate in view.
	BundledReviser = Forms{Float: reviser, Int8: reviserInt8}
	// BundledChooser decides from a clip's motion which parts of its mattes are the subject.
	BundledChooser = Forms{Float: chooser}
	// BundledGuide follows hints.
	BundledGuide = Forms{Float: guide, Int8: guideInt8}
)

// bundled describes the bundled network for lists.
func bundled() Entry {
	sum := sha256.Sum256(network)
	return Entry{Installed: true, Bundled: true, Model: Model{
		Name: Bundled, Bytes: int64(len(network)), SHA256: hex.EncodeToString(sum[:]),
		Licence: "MIT", Commercial: true,
		Description: "anything, small and quick, part of bgremove; it still misses much, see docs/model.md",
	}}
}
