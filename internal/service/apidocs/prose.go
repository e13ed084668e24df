package apidocs

import (
	"bytes"
	"encoding/json"
	"html/template"
	"net/http"
	"strconv"
	"strings"
	"unicode"
)

// prose turns the specification's part of CommonMark into HTML: paragraphs, and
// code between backticks. A single paragraph gets no tags.
func prose(text string) template.HTML {
	paragraphs := strings.Split(strings.TrimSpace(text), "\n\n")
	for i, p := range paragraphs {
		var b strings.Builder
		for j, part := range strings.Split(p, "`") {
			part = template.HTMLEscapeString(part)
			if j%2 == 1 {
				part = "<code>" + part + "</code>"
			}
			b.WriteString(part)
		}
		paragraphs[i] = b.String()
	}
	if len(paragraphs) == 1 {
		return template.HTML(paragraphs[0]) // escaped above
	}
	return template.HTML("<p>" + strings.Join(paragraphs, "</p><p>") + "</p>") // escaped above
}

// words splits a component's name: NotFound is "not found".
func words(name string) string {
	var b strings.Builder
	for i, r := range name {
		if unicode.IsUpper(r) && i > 0 {
			b.WriteByte(' ')
		}
		b.WriteRune(unicode.ToLower(r))
	}
	return b.String()
}

// statusText is what HTTP calls a status.
func statusText(status string) string {
	n, err := strconv.Atoi(status)
	if err != nil {
		return status
	}
	return strings.ToLower(http.StatusText(n))
}

// oneLine is JSON without line ends.
func oneLine(text string) string {
	var b bytes.Buffer
	if err := json.Compact(&b, []byte(text)); err != nil {
		return text
	}
	return b.String()
}

// curl is a command that tries an operation. It takes the service's address
// and the key from the environment, as the command line client does.
func curl(o operation, op node) string {
	parts := []string{"curl"}
	switch {
	case o.Method != "GET" && o.BodyType == "":
		parts = append(parts, "-X "+o.Method)
	case o.ID == "getPreview" || o.ID == "getDownload":
		parts = append(parts, "-OJ")
	}
	switch o.Auth {
	case "key":
		parts = append(parts, `-H "Authorization: Bearer $BGREMOVE_API_KEY"`)
	case "session":
		parts = append(parts, "-b cookies.txt")
	}
	switch o.BodyType {
	case "multipart/form-data":
		parts = append(parts, "-F file=@hop.mp4")
		if fieldNamed(o.Body, "file").Type == "file list" {
			parts = append(parts, "-F file=@walk.gif")
		}
		parts = append(parts, "-F outputFormat=webm")
	case "application/json":
		if o.Auth == "" {
			parts = append(parts, "-c cookies.txt")
		}
		if text, err := op.get("requestBody", "content", "application/json", "example").indented(); err == nil {
			parts = append(parts, "--json '"+oneLine(text)+"'")
		}
	}
	path := strings.Replace(o.Path, "{id}", "$ID", 1)
	return strings.Join(append(parts, `"$BGREMOVE_SERVER`+path+`"`), " \\\n  ")
}

func fieldNamed(fields []field, name string) field {
	for _, f := range fields {
		if f.Name == name {
			return f
		}
	}
	return field{}
}
