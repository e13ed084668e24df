package mcp

import (
	"encoding/json"
	"fmt"
	"maps"
	"slices"

	"github.com/google/jsonschema-go/jsonschema"
	sdk "github.com/modelcontextprotocol/go-sdk/mcp"

	"github.com/bgremove/bgremove/internal/spell"
	"github.com/bgremove/bgremove/pkg/bgremove"
)

// arguments are those of a call that nobody has taken yet, by name.
type arguments map[string]json.RawMessage

// read reads the arguments of a tool, and refuses those that it does not have.
func (a *arguments) read(text json.RawMessage, t *sdk.Tool) error {
	*a = arguments{}
	if len(text) > 0 {
		if err := json.Unmarshal(text, a); err != nil {
			return fmt.Errorf("the arguments of %s must be a JSON object", t.Name)
		}
	}
	schema := t.InputSchema.(*jsonschema.Schema)
	known := slices.Sorted(maps.Keys(schema.Properties))
	for _, name := range slices.Sorted(maps.Keys(*a)) {
		if slices.Contains(known, name) {
			continue
		}
		if meant := spell.Meant(name, known); meant != "" {
			return fmt.Errorf("%s has no argument %q: did you mean %s?", t.Name, name, meant)
		}
		return fmt.Errorf("%s has no argument %q", t.Name, name)
	}
	for _, name := range schema.Required {
		if _, ok := (*a)[name]; !ok {
			return wrong(name, "is missing")
		}
	}
	return nil
}

// take takes an argument out. It stays as it is where it is not given.
func take[T any](a arguments, name string, into *T) error {
	text, ok := a[name]
	delete(a, name)
	if !ok || json.Unmarshal(text, into) == nil {
		return nil
	}
	return wrong(name, "must be "+map[string]string{"string": "a text", "bool": "true or false", "float64": "a number"}[fmt.Sprintf("%T", *into)])
}

// wrong is the error of an argument.
func wrong(name, reason string) error {
	return &bgremove.Error{Kind: bgremove.Invalid, Field: name, Reason: reason}
}
