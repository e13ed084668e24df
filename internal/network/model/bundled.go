package model

import (
	"crypto/sha256"
	_ "embed" // for the network
	"encoding/hex"
)

// Bundled is the name of the network that is part of the program. It is the
// default; docs/model.md describes it.
const Bundled = "bundled"

// BundledNetwork is that network: an .onnx file with metadata that describes
// its input. It must not be written to.
//
//go:embed bundled/bgremove-small.onnx
var BundledNetwork []byte

// BundledReviser is an .onnx file: the network that corrects a matte with the
// clean plate in view. It must not be written to.
//
//go:embed bundled/bgremove-reviser.onnx
var BundledReviser []byte

// BundledChooser is an .onnx file: the network that decides from a clip's motion which
// parts of its mattes are the subject. It must not be written to.
//
//go:embed bundled/bgremove-chooser.onnx
var BundledChooser []byte

// BundledGuide is an .onnx file: the network that follows hints. It must not be written to.
//
//go:embed bundled/bgremove-guide.onnx
var BundledGuide []byte

// bundled describes the bundled network for lists.
func bundled() Entry {
	sum := sha256.Sum256(BundledNetwork)
	return Entry{Installed: true, Bundled: true, Model: Model{
		Name: Bundled, Bytes: int64(len(BundledNetwork)), SHA256: hex.EncodeToString(sum[:]),
		Licence: "MIT", Commercial: true,
		Description: "anything, small and quick, part of bgremove; it still misses much, see docs/model.md",
	}}
}
