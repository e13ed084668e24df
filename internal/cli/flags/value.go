package flags

import (
	"errors"
	"fmt"
	"slices"
	"strconv"
	"strings"

	"github.com/spf13/pflag"
	"golang.org/x/image/colornames"

	"github.com/bgremove/bgremove/pkg/bgremove"
)

// Word is a flag for a string type; Validate checks its values.
func Word[T ~string](p *T) pflag.Value { return &word[T]{p} }

type word[T ~string] struct{ p *T }

func (w *word[T]) String() string {
	if w.p == nil {
		return ""
	}
	return string(*w.p)
}

func (w *word[T]) Set(s string) error { *w.p = T(s); return nil }

func (w *word[T]) Type() string { return "word" }

// SandboxWords are the values of Sandbox.
func SandboxWords() []string {
	return []string{string(bgremove.SandboxAuto), string(bgremove.SandboxOn), string(bgremove.SandboxOff), string(bgremove.SandboxAudit)}
}

// Sandbox is a flag for the sandbox of ffmpeg.
func Sandbox(p *bgremove.Sandbox) pflag.Value { return &sandbox{p} }

type sandbox struct{ p *bgremove.Sandbox }

func (v *sandbox) String() string {
	if v.p == nil {
		return ""
	}
	return string(*v.p)
}

func (v *sandbox) Type() string { return "sandbox" }

func (v *sandbox) Set(s string) error {
	if !slices.Contains(SandboxWords(), s) {
		return errors.New("must be one of " + strings.Join(SandboxWords(), ", "))
	}
	*v.p = bgremove.Sandbox(s)
	return nil
}

// Colour is a flag for a colour or one of a few other words. It is stored as
// #rrggbb, which the library and the API take.
func Colour(p *string, words ...string) pflag.Value { return colour{p, words} }

type colour struct {
	p     *string
	words []string
}

func (v colour) String() string {
	if v.p == nil {
		return ""
	}
	return *v.p
}

func (v colour) Type() string { return "colour" }

func (v colour) Set(s string) error {
	text := strings.ToLower(s)
	if text != "" && !slices.Contains(v.words, text) {
		hex, ok := hexColour(text)
		if !ok {
			return fmt.Errorf("must be %s#rrggbb, #rgb or a name such as white", strings.Join(append(slices.Clone(v.words), ""), ", "))
		}
		text = hex
	}
	*v.p = text
	return nil
}

// hexColour is #rrggbb for a CSS colour name, for #rgb, and for both forms
// without #.
func hexColour(s string) (string, bool) {
	if c, ok := colornames.Map[s]; ok {
		return fmt.Sprintf("#%02x%02x%02x", c.R, c.G, c.B), true
	}
	s = strings.TrimPrefix(s, "#")
	if len(s) == 3 {
		s = string([]byte{s[0], s[0], s[1], s[1], s[2], s[2]})
	}
	_, err := strconv.ParseUint(s, 16, 32)
	return "#" + s, len(s) == 6 && err == nil
}
