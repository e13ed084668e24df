package model

import (
	"bytes"
	_ "embed" // for the catalogue
	"encoding/json"
	"slices"
	"sync"
)

// Model is a network that is in the catalogue or in the cache.
type Model struct {
	// Name is the name that users type. It has letters, digits, dots, dashes
	// and underscores.
	Name string `json:"name"`
	// File is the network's file name on mirrors.
	File string `json:"file,omitempty"`
	URL  string `json:"url,omitempty"`
	// Bytes is the size of the file; 0 is unknown.
	Bytes int64 `json:"bytes"`
	// SHA256 is the digest of the file in lower-case hex.
	SHA256 string `json:"sha256,omitempty"`
	// Licence is the licence of the weights: an SPDX name, or words.
	Licence string `json:"licence,omitempty"`
	// Commercial says whether the licence allows commercial use.
	Commercial bool `json:"commercial"`
	// Copyleft says whether the licence requires derived works to carry it.
	Copyleft    bool   `json:"copyleft"`
	Description string `json:"description,omitempty"`
	Spec        Spec   `json:"spec"`
}

// Restricted says in words what the licence requires beyond naming the authors;
// empty is nothing.
func (m *Model) Restricted() string {
	switch {
	case !m.Commercial:
		return "does not allow commercial use"
	case m.Copyleft:
		return "is copyleft"
	}
	return ""
}

//go:embed catalogue.json
var catalogueFile []byte

var readCatalogue = sync.OnceValue(func() []Model {
	var list []Model
	d := json.NewDecoder(bytes.NewReader(catalogueFile))
	d.DisallowUnknownFields()
	if err := d.Decode(&list); err != nil {
		panic("model: catalogue.json: " + err.Error())
	}
	return list
})

// Catalogue is the list of known networks. Networks for any subject come first,
// and each group goes from the finest to the quickest. The caller owns the
// list.
func Catalogue() []Model { return slices.Clone(readCatalogue()) }
