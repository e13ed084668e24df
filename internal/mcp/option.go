package mcp

import (
	"encoding/json"
	"errors"
	"fmt"
	"maps"
	"math"
	"slices"
	"strconv"
	"strings"
	"sync"

	"github.com/google/jsonschema-go/jsonschema"
	"go.yaml.in/yaml/v3"

	"github.com/bgremove/bgremove/pkg/api"
	"github.com/bgremove/bgremove/pkg/option"
)

// meanings are those of the options that only local files have, and of those that the
// API's specification describes in other words than a tool needs.
var meanings = map[string]string{
	option.DrawnBackground: "Stands behind the subject: #rrggbb, " + option.DrawnScenes() + ". Nothing is behind it if this is not given.",
	"harmonise":            "Make the subject's light and colour a little more like the `background`, which it needs.",
	"hints":                "What is wanted and what is not. What hints keep is the subject, with nothing else. Where they only drop something, the rest stays. They do not go with method fast.",

	"bgFit":      "How a file behind the subject is fitted to the output.",
	"edgeColour": "gif: blend half-transparent edges on this colour, the one of the page that shows it.",
	"frame":      "Make one picture, of what is shown at this time, in seconds.",
	"key":        "The backdrop's colour. green and blue are for a lit screen.",
	"maskOnly":   "Write the matte, white on black, instead of the subject.",
	"maxSize":    "Give up quality, colours, frame rate, size and length, in that order, until the output has at most so many bytes.",
	"noAudio":    "Drop the sound.",
	"preset":     "Keep within the limits of a service that takes stickers, emoji or clips.",
	"scale":      "How to scale to a canvas.",
	"subject":    "With the network: moving drops all that does not move, salient keeps all that is found.",
}

// replaced are the service's options that a tool has under another name: background
// takes what bgColor does.
var replaced = []string{"bgColor"}

// vocabulary is what the tools say about options.
type vocabulary struct {
	meanings map[string]string // by name
	service  []string          // the names that the service takes
	hint     *jsonschema.Schema
}

// words is read from the API's specification when it is first asked for: that takes longer
// than the start of the program.
var words = sync.OnceValue(readVocabulary)

type described struct {
	Ref         string `yaml:"$ref"`
	Description string `yaml:"description"`
}

func readVocabulary() *vocabulary {
	var spec struct {
		Components struct {
			Schemas map[string]struct {
				described  `yaml:",inline"`
				Properties map[string]described `yaml:"properties"`
			} `yaml:"schemas"`
		} `yaml:"components"`
	}
	var whole struct {
		Components struct {
			Schemas struct {
				Hint map[string]any `yaml:"Hint"`
			} `yaml:"schemas"`
		} `yaml:"components"`
	}
	v := &vocabulary{meanings: maps.Clone(meanings), service: []string{"hints"}}
	err := errors.Join(yaml.Unmarshal(api.Specification, &spec), yaml.Unmarshal(api.Specification, &whole))
	if text, marshalErr := json.Marshal(whole.Components.Schemas.Hint); err == nil {
		err = errors.Join(marshalErr, json.Unmarshal(text, &v.hint))
	}
	if err != nil {
		panic(fmt.Sprintf("mcp: openapi.yaml: %v", err)) // it is part of the program
	}
	schemas := spec.Components.Schemas
	for name, p := range schemas["Options"].Properties {
		if slices.Contains(replaced, name) {
			continue
		}
		v.service = append(v.service, name)
		if p.Ref != "" {
			p = schemas[p.Ref[strings.LastIndex(p.Ref, "/")+1:]].described
		}
		if _, own := meanings[name]; !own {
			v.meanings[name] = strings.Join(strings.Fields(p.Description), " ")
		}
	}
	slices.Sort(v.service)
	return v
}

// chosenByService is an option of the service alone: on this machine the setting decides.
const chosenByService = "model"

// local are the names of the options of removals on this machine.
func (v *vocabulary) local() []string {
	all := slices.Sorted(maps.Keys(v.meanings))
	return slices.DeleteFunc(all, func(name string) bool { return name == chosenByService })
}

// addOptions adds options to the arguments of a tool.
func (v *vocabulary) addOptions(to map[string]*jsonschema.Schema, names []string) {
	for _, name := range names {
		to[name] = v.schema(name)
	}
}

// schema is that of an option.
func (v *vocabulary) schema(name string) *jsonschema.Schema {
	f, _ := option.FieldOf(name)
	s := &jsonschema.Schema{Description: v.meanings[name]}
	switch read, timed := texts[name]; {
	case name == "hints":
		s.Type, s.Items, s.MaxItems = "array", v.hint, new(option.MaxHints)
	case timed:
		s.Type, s.Minimum = read.kind, new(0.0)
	case f.Truth:
		s.Type, s.Default = "boolean", json.RawMessage(f.Default)
	case f.Range != option.Range{}:
		s.Type, s.Minimum, s.Maximum = "integer", new(float64(f.Range.Min)), new(float64(f.Range.Max))
		if f.Range.Default != 0 {
			s.Default = json.RawMessage(f.Default)
		}
	case f.Span != option.Span{}:
		s.Type, s.Minimum, s.Maximum = "number", new(f.Span.Min), new(f.Span.Max)
	case f.Colour && name != option.DrawnBackground:
		s.Type = "string"
		s.Description += " " + option.List(append(slices.Clone(f.Words), "#rrggbb"), "or") + "."
	default:
		s.Type, s.Pattern = "string", f.Pattern
		for _, word := range f.Words {
			s.Enum = append(s.Enum, word)
		}
	}
	return s
}

// texts are how options are read that option.Set has no text for.
var texts = map[string]struct {
	kind string // in JSON
	read func(*option.Options, string) error
}{
	"frame": {"number", func(o *option.Options, text string) error {
		at, err := option.ParseTime(text)
		o.Frame = &at
		return err
	}},
	"maxSize": {"integer", func(o *option.Options, text string) (err error) {
		if o.MaxSize, err = strconv.ParseInt(text, 10, 64); err != nil {
			return errors.New("must be a number")
		}
		return nil
	}},
}

// options takes the options out of arguments. All problems are told.
func (a arguments) options() (option.Options, error) {
	o := option.Defaults()
	var errs []error
	for _, name := range slices.Sorted(maps.Keys(a)) {
		if err := set(&o, name, a[name]); err != nil {
			errs = append(errs, err)
		}
	}
	return o, errors.Join(errs...)
}

// plain is a JSON value as forms have it: a whole number may be written 512.0 or 5e2 in JSON.
func plain(value string) string {
	const exact = 1 << 53
	if n, err := strconv.ParseFloat(value, 64); err == nil && n == math.Trunc(n) && math.Abs(n) < exact {
		return strconv.FormatFloat(n, 'f', -1, 64)
	}
	return value
}

// set gives an option the value of an argument.
func set(o *option.Options, name string, value json.RawMessage) error {
	text := string(value)
	if json.Unmarshal(value, &text) != nil {
		text = plain(string(value)) // a number, a truth, or hints
	}
	if t, ok := texts[name]; ok {
		if err := t.read(o, text); err != nil {
			return wrong(name, err.Error())
		}
		return nil
	}
	var refused *option.Error
	if err := o.Set(name, text); errors.As(err, &refused) {
		return wrong(refused.Field, refused.Reason)
	}
	return nil
}
