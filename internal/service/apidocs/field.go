package apidocs

import (
	"slices"
	"strings"
)

// readFields returns the properties of an object, including those of its parts.
func readFields(spec, schema node) []field {
	var fields []field
	for _, part := range schema.get("allOf").items() {
		fields = append(fields, readFields(spec, part.resolve())...)
	}
	required := schema.get("required").strings()
	for name, property := range schema.get("properties").members() {
		f := readField(spec, name, property)
		f.Required = slices.Contains(required, name)
		fields = append(fields, f)
	}
	return fields
}

// readField describes the values that a schema allows.
func readField(spec node, name string, place node) field {
	schema := place.resolve()
	f := field{Name: name, Type: typeName(schema), Description: prose(schema.get("description").text())}
	element := place
	if schema.get("items").exists() {
		element = schema.field("items")
	}
	if ref := element.refName(); isObject(spec, ref) {
		f.Object = ref
	}
	f.Rules = rules(schema)
	return f
}

func typeName(schema node) string {
	name := schema.get("type").text()
	switch {
	case name == "array":
		return typeName(schema.get("items")) + " list"
	case schema.get("format").text() == "binary":
		name = "file"
	case schema.get("format").text() == "date-time":
		name = "time, RFC 3339"
	}
	if schema.get("nullable").text() == "true" {
		name += " or null"
	}
	return name
}

// rules are the bounds of a value and its default, in words.
func rules(schema node) []string {
	var all []string
	low, high := schema.get("minimum").text(), schema.get("maximum").text()
	switch {
	case schema.get("exclusiveMinimum").text() == "true":
		all = append(all, "above "+low, "at most "+high)
	case low != "" && high != "":
		all = append(all, low+" to "+high)
	case low != "" && low != "0":
		all = append(all, "at least "+low)
	}
	if most := schema.get("maxItems").text(); most != "" {
		all = append(all, "at most "+most)
	}
	if longest := schema.get("maxLength").text(); longest != "" {
		all = append(all, "at most "+longest+" characters")
	}
	if choice := schema.get("enum").strings(); len(choice) > 0 {
		all = append(all, strings.Join(choice, ", "))
	}
	if preset := schema.get("default").text(); preset != "" {
		all = append(all, "default "+preset)
	}
	return all
}

// sharedObjects are the objects with sections of their own on the page: those of more
// than one answer, and their parts.
var sharedObjects = []string{"Job", "Metadata", "JobCreated", "JobLinks", "Batch", "BatchCreated", "BatchEntry", "Account", "Key", "KeyCreated", "KeyList", "Error"}

func isObject(spec node, name string) bool {
	return slices.Contains(sharedObjects, name) && spec.get("components", "schemas", name).exists()
}

func objects(spec node) []object {
	var all []object
	for _, name := range sharedObjects {
		schema := spec.get("components", "schemas", name)
		all = append(all, object{Name: name, Description: prose(schema.get("description").text()), Fields: readFields(spec, schema)})
	}
	return all
}
