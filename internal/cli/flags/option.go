// Package flags has the flags that several commands share: their names, values
// and texts, and the mistakes in their use.
package flags

import (
	"fmt"
	"strings"
	"unicode"

	"github.com/bgremove/bgremove/pkg/option"
)

// Name is the flag of an option, by its name in JSON, or of a header.
func Name(name string) string {
	switch name {
	case "bgColor", option.DrawnBackground:
		return "bg"
	case "outputFormat":
		return "format"
	}
	var b strings.Builder
	for i, r := range name {
		if unicode.IsUpper(r) && i > 0 && name[i-1] != '-' {
			b.WriteByte('-')
		}
		b.WriteRune(unicode.ToLower(r))
	}
	return b.String()
}

// Option describes the option of a flag.
func Option(flag string) option.Field {
	for _, f := range option.Fields() {
		if Name(f.Name) == flag {
			return f
		}
	}
	return option.Field{}
}

// Choices are the words of a flag in a sentence, some with a remark: "auto, fast
// (flood-fill) or rembg (AI)".
func Choices(flag string, remarks map[string]string) string {
	var all []string
	for _, word := range Option(flag).Words {
		if remark := remarks[word]; remark != "" {
			word += " (" + remark + ")"
		}
		all = append(all, word)
	}
	return option.List(all, "or")
}

// Formats are those that are written, in a sentence.
func Formats(conjunction string) string { return option.List(words(option.Formats()), conjunction) }

func words[T ~string](all []T) []string {
	texts := make([]string, len(all))
	for i, w := range all {
		texts[i] = string(w)
	}
	return texts
}

// Bounds are those of a flag for a number: "8..32".
func Bounds(flag string) string {
	r := Option(flag).Range
	return fmt.Sprintf("%d..%d", r.Min, r.Max)
}
