package apidocs

import (
	"cmp"
	"fmt"
	"html/template"
	"slices"
	"strings"
)

// page is the data of the template.
type page struct {
	Title, Version string
	Intro          template.HTML
	Schemes        []template.HTML
	Groups         []group
	Objects        []object
	Codes          []errorCode
}

// group holds the operations of a tag.
type group struct {
	Name        string
	Description template.HTML
	Operations  []operation
}

type operation struct {
	ID, Method, Path, Summary string
	Description               template.HTML
	Auth                      string
	Parameters                []field
	Bodies                    []body // a request has one of them
	Responses                 []response
	Curl                      string
}

// body is a media type that a request may have, and its fields.
type body struct {
	Type   string
	Fields []field
}

// field is a parameter, a header, or a property of a body.
type field struct {
	Name, Type, Object string
	In                 string // header, path or query of a parameter
	Required           bool
	Rules              []string // bounds and default, in words
	Description        template.HTML
}

type response struct {
	Status, Name string
	Description  template.HTML
	Headers      []field
	Types        []string
	Object       string // name of the schema, if the page shows it
	Examples     []example
}

type example struct{ Summary, JSON string }

// object is a schema that several answers share.
type object struct {
	Name        string
	Description template.HTML
	Fields      []field
}

// errorCode describes a kind of error body.
type errorCode struct {
	Code, Status, Example string
	Description           template.HTML
}

// methods are the methods that the page shows. The introduction mentions HEAD.
var methods = []string{"get", "post", "put", "delete"}

// readPage makes the page from the specification.
func readPage(spec node) (page, error) {
	p := page{
		Title: spec.get("info", "title").text(), Version: spec.get("info", "version").text(),
		Intro: prose(spec.get("info", "description").text()),
	}
	for _, scheme := range spec.get("components", "securitySchemes").members() {
		p.Schemes = append(p.Schemes, prose(scheme.get("description").text()))
	}
	for _, tag := range spec.get("tags").items() {
		g, err := readGroup(spec, tag)
		if err != nil {
			return page{}, err
		}
		p.Groups = append(p.Groups, g)
	}
	p.Objects = objects(spec)
	var err error
	p.Codes, err = readErrorCodes(spec)
	return p, err
}

func readGroup(spec, tag node) (group, error) {
	g := group{Name: tag.get("name").text(), Description: prose(tag.get("description").text())}
	for path, item := range spec.get("paths").members() {
		for _, method := range methods {
			op := item.get(method)
			if !slices.Contains(op.get("tags").strings(), g.Name) {
				continue
			}
			o, err := readOperation(spec, item, op)
			if err != nil {
				return group{}, fmt.Errorf("%s %s: %w", method, path, err)
			}
			o.Method, o.Path = strings.ToUpper(method), path
			o.Curl = curl(o, op)
			g.Operations = append(g.Operations, o)
		}
	}
	return g, nil
}

func readOperation(spec, item, op node) (operation, error) {
	o := operation{
		ID: op.get("operationId").text(), Summary: op.get("summary").text(), Description: prose(op.get("description").text()), Auth: auth(spec, op),
	}
	for _, parameter := range slices.Concat(item.get("parameters").items(), op.get("parameters").items()) {
		f := readField(spec, parameter.get("name").text(), parameter.get("schema"))
		f.In, f.Required = parameter.get("in").text(), parameter.get("required").text() == "true"
		f.Description = prose(parameter.get("description").text())
		o.Parameters = append(o.Parameters, f)
	}
	for media, content := range op.get("requestBody", "content").members() {
		o.Bodies = append(o.Bodies, body{media, readFields(spec, content.get("schema"))})
	}
	for status, place := range op.get("responses").members() {
		r, err := readResponse(spec, status, place)
		if err != nil {
			return operation{}, err
		}
		o.Responses = append(o.Responses, r)
	}
	return o, nil
}

// auth names the authentication of an operation in a word: key, session, or
// nothing.
func auth(spec, op node) string {
	wanted := op.get("security")
	if !wanted.exists() {
		wanted = spec.get("security")
	}
	for _, choice := range wanted.items() {
		for scheme := range choice.members() {
			if scheme == "session" {
				return "session"
			}
			return "key"
		}
	}
	return ""
}

func readResponse(spec node, status string, place node) (response, error) {
	r := response{Status: status, Name: words(place.refName()), Description: prose(place.get("description").text())}
	for name, header := range place.get("headers").members() {
		f := readField(spec, name, header.get("schema"))
		f.Description = prose(header.get("description").text())
		r.Headers = append(r.Headers, f)
	}
	for media, content := range place.get("content").members() {
		r.Types = append(r.Types, media)
		if name := content.field("schema").refName(); isObject(spec, name) {
			r.Object = name
		}
		examples, err := readExamples(content)
		if err != nil {
			return response{}, err
		}
		r.Examples = append(r.Examples, examples...)
	}
	return r, nil
}

func readExamples(content node) ([]example, error) {
	var all []example
	add := func(summary string, value node) error {
		text, err := value.indented()
		all = append(all, example{summary, text})
		return err
	}
	if one := content.get("example"); one.exists() {
		if err := add("", one); err != nil {
			return nil, err
		}
	}
	for _, one := range content.get("examples").members() {
		if err := add(one.get("summary").text(), one.get("value")); err != nil {
			return nil, err
		}
	}
	return all, nil
}

// readErrorCodes returns the error bodies of all operations, ordered by status.
func readErrorCodes(spec node) ([]errorCode, error) {
	var all []errorCode
	for _, r := range spec.get("components", "responses").members() {
		for _, content := range r.get("content").members() {
			word := strings.Join(content.get("schema", "properties", "error", "enum").strings(), ", ")
			if word == "" || slices.ContainsFunc(all, func(c errorCode) bool { return c.Code == word }) {
				continue
			}
			examples, err := readExamples(content)
			if err != nil {
				return nil, err
			}
			all = append(all, errorCode{Code: word, Status: statusOf(spec, word), Description: prose(r.get("description").text()), Example: oneLine(examples[0].JSON)})
		}
	}
	slices.SortStableFunc(all, func(a, b errorCode) int { return cmp.Compare(a.Status, b.Status) })
	return all, nil
}

// statusOf returns the first status that an operation answers with a code. No
// operation has 405.
func statusOf(spec node, word string) string {
	for _, item := range spec.get("paths").members() {
		for _, op := range item.members() {
			for status, r := range op.get("responses").members() {
				if slices.Contains(r.get("content", "application/json", "schema", "properties", "error", "enum").strings(), word) {
					return status
				}
			}
		}
	}
	return "405"
}
