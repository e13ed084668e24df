package apidocs

import (
	"bytes"
	"encoding/json"
	"fmt"
	"iter"
	"strings"

	"go.yaml.in/yaml/v3"
)

// node is a place in the specification. It follows aliases, merge keys and
// references, and keeps the order of the source, which a reader expects. The
// zero node is a missing one; everything about it is empty.
type node struct {
	root, at *yaml.Node
}

func parse(source []byte) (node, error) {
	var document yaml.Node
	if err := yaml.Unmarshal(source, &document); err != nil {
		return node{}, fmt.Errorf("specification: %w", err)
	}
	if len(document.Content) != 1 {
		return node{}, fmt.Errorf("specification: %d documents, not one", len(document.Content))
	}
	return node{root: document.Content[0], at: document.Content[0]}, nil
}

// under returns another node of the same document, after resolving aliases.
func (n node) under(at *yaml.Node) node {
	for at != nil && at.Kind == yaml.AliasNode {
		at = at.Alias
	}
	return node{root: n.root, at: at}
}

// reference is the path of a $ref, or empty.
func (n node) reference() string { return n.field("$ref").text() }

// refName is the last part of a $ref: the name of a component.
func (n node) refName() string {
	ref := n.reference()
	return ref[strings.LastIndexByte(ref, '/')+1:]
}

// resolve returns n, or the node that n refers to.
func (n node) resolve() node {
	for ref := n.reference(); ref != ""; ref = n.reference() {
		n = n.under(n.root)
		for part := range strings.SplitSeq(strings.TrimPrefix(ref, "#/"), "/") {
			n = n.field(part)
		}
	}
	return n
}

// get follows fields one by one, through references.
func (n node) get(names ...string) node {
	n = n.resolve()
	for _, name := range names {
		n = n.field(name).resolve()
	}
	return n
}

// field returns a member of an object, without resolving references.
func (n node) field(name string) node {
	for key, value := range n.members() {
		if key == name {
			return value
		}
	}
	return node{}
}

// members returns those of an object, with merged ones in the place of the
// merge.
func (n node) members() iter.Seq2[string, node] {
	return func(yield func(string, node) bool) {
		if n.at == nil || n.at.Kind != yaml.MappingNode {
			return
		}
		for i := 0; i+1 < len(n.at.Content); i += 2 {
			key, value := n.at.Content[i], n.under(n.at.Content[i+1])
			if key.Tag != "!!merge" {
				if !yield(key.Value, value) {
					return
				}
				continue
			}
			for k, v := range value.members() {
				if !yield(k, v) {
					return
				}
			}
		}
	}
}

// items returns those of a list.
func (n node) items() []node {
	if n.at == nil || n.at.Kind != yaml.SequenceNode {
		return nil
	}
	all := make([]node, len(n.at.Content))
	for i, item := range n.at.Content {
		all[i] = n.under(item)
	}
	return all
}

func (n node) exists() bool { return n.at != nil }

// text returns a scalar as written.
func (n node) text() string {
	if n.at == nil || n.at.Kind != yaml.ScalarNode {
		return ""
	}
	return n.at.Value
}

// strings returns the texts of a list of scalars.
func (n node) strings() []string {
	var all []string
	for _, item := range n.items() {
		all = append(all, item.text())
	}
	return all
}

// appendJSON writes a node in its own order, without resolving references.
func (n node) appendJSON(to *bytes.Buffer) error {
	switch n.at.Kind {
	case yaml.MappingNode:
		return n.appendObject(to)
	case yaml.SequenceNode:
		to.WriteByte('[')
		for i, item := range n.items() {
			if i > 0 {
				to.WriteByte(',')
			}
			if err := item.appendJSON(to); err != nil {
				return err
			}
		}
		to.WriteByte(']')
		return nil
	}
	var value any
	if err := n.at.Decode(&value); err != nil {
		return fmt.Errorf("specification: %w", err)
	}
	return appendValue(to, value)
}

func (n node) appendObject(to *bytes.Buffer) error {
	to.WriteByte('{')
	first := true
	for name, value := range n.members() {
		if !first {
			to.WriteByte(',')
		}
		first = false
		if err := appendValue(to, name); err != nil {
			return err
		}
		to.WriteByte(':')
		if err := value.appendJSON(to); err != nil {
			return err
		}
	}
	to.WriteByte('}')
	return nil
}

// appendValue writes a scalar, without the escapes that only HTML needs.
func appendValue(to *bytes.Buffer, v any) error {
	encoder := json.NewEncoder(to)
	encoder.SetEscapeHTML(false)
	if err := encoder.Encode(v); err != nil {
		return err
	}
	to.Truncate(to.Len() - 1) // the encoder adds a line end
	return nil
}

// indented returns a node as JSON for people.
func (n node) indented() (string, error) {
	var compact, pretty bytes.Buffer
	if err := n.appendJSON(&compact); err != nil {
		return "", err
	}
	if err := json.Indent(&pretty, compact.Bytes(), "", "  "); err != nil {
		return "", err
	}
	return pretty.String(), nil
}
