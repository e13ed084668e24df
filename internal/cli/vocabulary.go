package cli

import (
	"fmt"
	"strings"
	"unicode"

	"github.com/bgremove/bgremove/pkg/option"
)

// flagOf is the flag of an option, by its name in JSON.
func flagOf(name string) string {
	switch name {
	case "bgColor":
		return "bg"
	case "outputFormat":
		return "format"
	}
	var b strings.Builder
	for _, r := range name {
		if unicode.IsUpper(r) {
			b.WriteByte('-')
		}
		b.WriteRune(unicode.ToLower(r))
	}
	return b.String()
}

// optionOf describes the option of a flag.
func optionOf(flag string) option.Field {
	for _, f := range option.Fields() {
		if flagOf(f.Name) == flag {
			return f
		}
	}
	return option.Field{}
}

// choices are the words of a flag in a sentence, some with a remark: "auto, fast
// (flood-fill) or rembg (AI)".
func choices(flag string, remarks map[string]string) string {
	var all []string
	for _, word := range optionOf(flag).Words {
		if remark := remarks[word]; remark != "" {
			word += " (" + remark + ")"
		}
		all = append(all, word)
	}
	return listed(all, "or")
}

// formats are those that are written, in a sentence.
func formats(conjunction string) string { return listed(optionOf("format").Words, conjunction) }

// listed is words in a sentence: "a, b or c".
func listed(words []string, conjunction string) string {
	last := len(words) - 1
	if last < 1 {
		return strings.Join(words, "")
	}
	return strings.Join(words[:last], ", ") + " " + conjunction + " " + words[last]
}

// bounds are those of a flag for a number: "8..32".
func bounds(flag string) string {
	r := optionOf(flag).Range
	return fmt.Sprintf("%d..%d", r.Min, r.Max)
}

// qualities are the defaults of the formats that are not lossless.
func qualities() string {
	var all []string
	for _, f := range option.Formats() {
		if q := f.Quality(); q > 0 {
			all = append(all, fmt.Sprintf("%s %d", f, q))
		}
	}
	return strings.Join(all, ", ")
}
