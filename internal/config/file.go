package config

import (
	"bytes"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"path/filepath"
	"slices"
	"strings"

	"github.com/adrg/xdg"
	"github.com/spf13/viper"
	"go.yaml.in/yaml/v3"
)

// settings are the flags that a file sets. viper has their values as they are written, by
// the flag: several of a list. A number is not read as one: 000777 may be a colour.
type settings struct {
	*viper.Viper
	name  string // of the file; empty without one
	flags []string
	keys  map[string]key // by the flag
}

// key is a key of the file.
type key struct {
	name  string // as it is spelt there
	empty bool   // it has no value
}

// read loads the file, if there is one.
func read(path string) (settings, error) {
	candidates := []string{path}
	if path == "" {
		candidates = []string{FileName, filepath.Join(xdg.ConfigHome, "bgremove", FileName)}
	}
	for _, name := range candidates {
		file := settings{name: name, keys: map[string]key{}}
		file.Viper = viper.NewWithOptions(viper.WithDecoderRegistry(&file))
		file.SetConfigFile(name)
		file.SetConfigType("yaml")
		err := file.ReadInConfig()
		if path == "" && (errors.Is(err, fs.ErrNotExist) || errors.Is(err, fs.ErrPermission)) {
			continue // the user did not name this file
		}
		if wrong := (viper.ConfigParseError{}); errors.As(err, &wrong) {
			err = wrong.Unwrap()
		}
		if err != nil {
			return settings{}, &Error{name, err}
		}
		return file, nil
	}
	return settings{Viper: viper.New()}, nil
}

// Decoder implements viper.DecoderRegistry.
func (s *settings) Decoder(string) (viper.Decoder, error) { return s, nil }

// Decode implements viper.Decoder: it reads the one YAML document of a file.
func (s *settings) Decode(data []byte, values map[string]any) error {
	decoder := yaml.NewDecoder(bytes.NewReader(data))
	var document, more yaml.Node
	if err := decoder.Decode(&document); errors.Is(err, io.EOF) {
		return nil
	} else if err != nil {
		return err
	}
	if err := decoder.Decode(&more); err == nil {
		return fmt.Errorf("line %d: a second YAML document; all settings belong in one", more.Line)
	} else if !errors.Is(err, io.EOF) {
		return err
	}
	root := document.Content[0]
	switch {
	case root.ShortTag() == "!!null":
		return nil
	case root.Kind != yaml.MappingNode:
		return fmt.Errorf("line %d: not settings such as pad: 0", root.Line)
	}
	for i := 0; i+1 < len(root.Content); i += 2 {
		if err := s.add(root.Content[i], root.Content[i+1], values); err != nil {
			return err
		}
	}
	return nil
}

// add takes a key and its value.
func (s *settings) add(node, of *yaml.Node, values map[string]any) error {
	if node.Kind != yaml.ScalarNode {
		return fmt.Errorf("line %d: not a key such as pad", node.Line)
	}
	name := strings.ToLower(node.Value)
	flag := Spelling(name)
	if _, twice := s.keys[flag]; twice {
		return fmt.Errorf("line %d: %s is set twice", node.Line, name)
	}
	written, err := texts(of)
	if err != nil {
		return fmt.Errorf("%s: %w", name, err)
	}
	s.flags = append(s.flags, flag)
	s.keys[flag], values[flag] = key{name, written == nil}, written
	return nil
}

// texts are what is written as a value. There is none for null.
func texts(node *yaml.Node) ([]string, error) {
	items := []*yaml.Node{node}
	if node = target(node); node.Kind == yaml.SequenceNode {
		items = node.Content
	}
	all := []string{}
	for _, item := range items {
		item = target(item)
		switch {
		case item.Kind != yaml.ScalarNode:
			return nil, fmt.Errorf("line %d: neither a value nor a list of values", item.Line)
		case item.ShortTag() == "!!null":
			return nil, nil
		}
		all = append(all, item.Value)
	}
	return all, nil
}

// target is the node that an alias stands for, or else the node.
func target(n *yaml.Node) *yaml.Node {
	if n.Kind == yaml.AliasNode {
		return n.Alias
	}
	return n
}

// check refuses keys that are no flags, that a foreign file cannot set, or that have no
// value.
func (s *settings) check(known []string, foreign bool) error {
	for _, flag := range s.flags {
		origin := s.origin(flag)
		switch {
		case !slices.Contains(known, flag):
			return &Error{origin, errors.New("no such setting")}
		case foreign && slices.Contains(trusted, flag):
			return &Error{origin, errors.New("not taken from the working directory; use --config or the environment")}
		case s.keys[flag].empty:
			return &Error{origin, errors.New("no value (colours need quotes: '#rrggbb')")}
		}
	}
	return nil
}

// origin is where a flag is set.
func (s *settings) origin(flag string) string { return s.name + ": " + s.keys[flag].name }
