package mcp

import (
	"maps"
	"slices"

	"go.yaml.in/yaml/v3"

	"github.com/bgremove/bgremove/pkg/api"
)

// DescribedTwice are the options that meanings and the API's specification describe.
func DescribedTwice() (names []string) {
	var spec struct {
		Components struct {
			Schemas map[string]struct {
				Properties map[string]any `yaml:"properties"`
			} `yaml:"schemas"`
		} `yaml:"components"`
	}
	if err := yaml.Unmarshal(api.Specification, &spec); err != nil {
		panic(err)
	}
	for _, name := range slices.Sorted(maps.Keys(meanings)) {
		if _, ok := spec.Components.Schemas["Options"].Properties[name]; ok {
			names = append(names, name)
		}
	}
	return names
}
