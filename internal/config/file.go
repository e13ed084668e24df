package config

import (
	"bytes"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"os"
	"path/filepath"
	"slices"
	"strings"

	"github.com/adrg/xdg"
	"go.yaml.in/yaml/v3"
)

// settings are the flags that a file sets, and their values as they are written: several
// of a list, none of a key without a value. A number is not read as one here: 000777 may
// be a colour.
type settings struct {
	name   string // of the file; empty without one
	flags  []string
	values map[string]value // by the flag
}

type value struct {
	key   string // as it is spelt there
	texts []string
}

// read loads the file, if there is one.
func read(path string) (settings, error) {
	candidates := []string{path}
	if path == "" {
		candidates = []string{FileName, filepath.Join(xdg.ConfigHome, "bgremove", FileName)}
	}
	for _, name := range candidates {
		data, err := os.ReadFile(name)
		if path == "" && (errors.Is(err, fs.ErrNotExist) || errors.Is(err, fs.ErrPermission)) {
			continue // the user did not name this file
		}
		file := settings{name: name, values: map[string]value{}}
		if err == nil {
			err = file.parse(data)
		}
		if err != nil {
			return settings{}, &Error{name, err}
		}
		return file, nil
	}
	return settings{}, nil
}

// parse reads the one YAML document of a file.
func (s *settings) parse(data []byte) error {
	decoder := yaml.NewDecoder(bytes.NewReader(data))
	var document, more yaml.Node
	if err := decoder.Decode(&document); errors.Is(err, io.EOF) {
		return nil
	} else if err != nil {
		return err
	}
	if err := decoder.Decode(&more); err == nil {
		return fmt.Errorf("line %d: a second YAML document; all settings belong into one", more.Line)
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
		if err := s.add(root.Content[i], root.Content[i+1]); err != nil {
			return err
		}
	}
	return nil
}

// add takes a key and its value.
func (s *settings) add(key, node *yaml.Node) error {
	if key.Kind != yaml.ScalarNode {
		return fmt.Errorf("line %d: not a key such as pad", key.Line)
	}
	name := strings.ToLower(key.Value)
	flag := Spelling(name)
	if _, twice := s.values[flag]; twice {
		return fmt.Errorf("line %d: %s is set twice", key.Line, name)
	}
	written, err := texts(node)
	if err != nil {
		return fmt.Errorf("%s: %w", name, err)
	}
	s.flags = append(s.flags, flag)
	s.values[flag] = value{name, written}
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

// check refuses keys that are no flags, that a foreign file cannot set, or without a
// value.
func (s *settings) check(known []string, foreign bool) error {
	for _, flag := range s.flags {
		origin := s.name + ": " + s.values[flag].key
		switch {
		case !slices.Contains(known, flag):
			return &Error{origin, errors.New("no such setting")}
		case foreign && slices.Contains(trusted, flag):
			return &Error{origin, errors.New("not taken from the working directory; use --config or the environment")}
		case s.values[flag].texts == nil:
			return &Error{origin, errors.New("no value (colours need quotes: '#rrggbb')")}
		}
	}
	return nil
}
