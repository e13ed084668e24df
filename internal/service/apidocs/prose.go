package apidocs

import (
	"bytes"
	"encoding/json"
	"html/template"
	"net/http"
	"regexp"
	"slices"
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

// curl is a command that tries an operation. It takes the service's address, the key
// and the path's parameters from the environment, as the command line client does.
func curl(o operation, op node) string {
	body := curlBody(o, op)
	method := http.MethodGet // if nothing else is said
	if len(body) > 0 {
		method = http.MethodPost
	}
	parts := []string{"curl"}
	if o.Method != method {
		parts = append(parts, "-X "+o.Method)
	}
	if slices.ContainsFunc(o.Responses, isFile) {
		parts = append(parts, "-OJ")
	}
	switch o.Auth {
	case "key":
		parts = append(parts, `-H "Authorization: Bearer $BGREMOVE_API_KEY"`)
	case "session":
		parts = append(parts, "-b cookies.txt")
	}
	if slices.ContainsFunc(o.Responses, setsCookie) {
		parts = append(parts, "-c cookies.txt")
	}
	parts = append(parts, body...)
	path := parameters.ReplaceAllStringFunc(o.Path, func(name string) string { return "$" + strings.ToUpper(strings.Trim(name, "{}")) })
	return strings.Join(append(parts, `"$BGREMOVE_SERVER`+path+`"`), " \\\n  ")
}

// parameters are the parts of a path that stand for others.
var parameters = regexp.MustCompile(`\{\w+\}`)

// isFile reports whether an answer is a picture or a clip.
func isFile(r response) bool {
	return slices.ContainsFunc(r.Types, func(kind string) bool { return strings.HasPrefix(kind, "image/") || strings.HasPrefix(kind, "video/") })
}

// setsCookie reports whether an answer begins or renews a session.
func setsCookie(r response) bool { return fieldNamed(r.Headers, "Set-Cookie").Name != "" }

// curlBody is the part of a command that sends a body, if there is one: of several the
// first.
func curlBody(o operation, op node) (parts []string) {
	if len(o.Bodies) == 0 {
		return nil
	}
	switch first := o.Bodies[0]; first.Type {
	case "multipart/form-data":
		switch fieldNamed(first.Fields, "file").Type {
		case "file":
			parts = append(parts, "-F file=@hop.mp4")
		case "file list":
			parts = append(parts, "-F file=@hop.mp4", "-F file=@walk.gif")
		}
		return append(parts, "-F outputFormat=webm")
	case "application/json":
		if text, err := op.get("requestBody", "content", "application/json", "example").indented(); err == nil {
			return []string{"--json '" + oneLine(text) + "'"}
		}
	}
	return nil
}

func fieldNamed(fields []field, name string) field {
	for _, f := range fields {
		if f.Name == name {
			return f
		}
	}
	return field{}
}
