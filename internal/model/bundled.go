package model

import (
	"crypto/sha256"
	_ "embed" // for the network
	"encoding/hex"
)

// Bundled is the name of the network that is part of the program, and taken
// where none is named; docs/model.md says what it is.
const Bundled = "bundled"

// BundledNetwork is that network, an .onnx file whose own metadata says how it
// wants its pictures. It is not to be written to.
//
//go:embed bundled/bgremove-small.onnx
var BundledNetwork []byte

// BundledReviser is the network, an .onnx file, that decides once more with the clean
// plate in view. It is not to be written to.
//
//go:embed bundled/bgremove-reviser.onnx
var BundledReviser []byte

// bundled describes it for lists.
func bundled() Entry {
	sum := sha256.Sum256(BundledNetwork)
	return Entry{Installed: true, Bundled: true, Model: Model{
		Name: Bundled, Bytes: int64(len(BundledNetwork)), SHA256: hex.EncodeToString(sum[:]),
		Licence: "MIT", Commercial: true,
		Description: "anything, small and quick, part of bgremove; it still misses much, see docs/model.md",
	}}
}
