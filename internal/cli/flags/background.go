package flags

import (
	"fmt"
	"strings"

	"github.com/spf13/pflag"

	"github.com/bgremove/bgremove/pkg/bgremove"
	"github.com/bgremove/bgremove/pkg/option"
)

// AddDrawnBackground adds the flags for what can stand behind the subject without a
// second file: a service takes no other.
func AddDrawnBackground(f *pflag.FlagSet, o *bgremove.Options) {
	addBackground(f, o, "", false)
}

// AddBackground adds the flags for all that can stand behind the subject.
func AddBackground(f *pflag.FlagSet, o *bgremove.Options) {
	addBackground(f, o, " or a file", true)
	f.Var(Word(&o.BackgroundFit), "bg-fit", "how a file behind the subject is fitted to the output: "+Choices("bg-fit", nil))
}

func addBackground(f *pflag.FlagSet, o *bgremove.Options, more string, files bool) {
	f.Var(background{Colour(&o.Background, Option("bg").Words...), &o.Background, files}, "bg",
		"what is `behind` the subject: transparent, a colour (#rrggbb, #rgb or a name such as white), blur[:radius], gradient:A,B[,angle]"+more)
	f.BoolVar(&o.Harmonise, "harmonise", false, "make the subject's light and colour a little more like what --bg puts behind it")
}

// AddRim adds the flags for what is drawn around the subject.
func AddRim(f *pflag.FlagSet, o *bgremove.Options) {
	f.Var(outline{&o.Outline}, "outline", "a line around the subject, for stickers: `colour,width` in pixels of the output")
	f.Var(shadow{&o.Shadow}, "shadow", "a soft shadow of the subject; --shadow=`x,y,blur,opacity` sets its offset and blur in pixels, its opacity in percent")
	f.Lookup("shadow").NoOptDefVal = option.SoftShadow
}

// outline is a flag for a line: its colour has the forms of all colours.
type outline struct{ p *string }

func (o outline) Type() string { return "outline" }

func (o outline) String() string {
	if o.p == nil {
		return ""
	}
	return *o.p
}

func (o outline) Set(s string) error {
	c, width, _ := strings.Cut(s, ",")
	if hex, ok := hexColour(strings.ToLower(c)); ok && width != "" {
		s = hex + "," + width
	}
	*o.p = s
	return nil
}

// shadow is a flag for a shadow, which is also true or false.
type shadow struct{ p *string }

func (s shadow) Type() string { return "shadow" }

func (s shadow) String() string { return outline(s).String() }

func (s shadow) Set(text string) error {
	switch strings.ToLower(text) {
	case "true", "yes", "on":
		text = option.SoftShadow
	case "false", "no", "off", "none":
		text = ""
	}
	*s.p = text
	return nil
}

// background is a colour, or what else can stand behind the subject.
type background struct {
	pflag.Value
	p     *string
	files bool // it may be a file
}

func (b background) Type() string {
	if !b.files {
		return "drawn background"
	}
	return "background"
}

func (b background) Set(s string) error {
	err := b.Value.Set(s)
	if err == nil {
		return nil
	}
	text, scenes := spelled(s), option.Scenes()
	if !b.files {
		scenes = option.DrawnScenes()
	}
	if read, ok := option.ParseBackground(text); !ok || read.File != "" && !b.files {
		return fmt.Errorf("%w, %s", err, scenes)
	}
	*b.p = text
	return nil
}

// Files is the file that stands behind the subject, or empty.
func (b background) Files() []string {
	backing, _ := option.ParseBackground(*b.p)
	return []string{backing.File}
}

// spelled is a background as the library spells it: words in lower case but for files, colours
// as #rrggbb.
func spelled(s string) string {
	if b, ok := option.ParseBackground(strings.ToLower(s)); ok && b.File != "" {
		return s
	}
	kind, rest, _ := strings.Cut(strings.ToLower(s), ":")
	if kind != "gradient" {
		return strings.ToLower(s)
	}
	parts := strings.Split(rest, ",")
	for i, part := range parts[:min(2, len(parts))] {
		if hex, ok := hexColour(part); ok {
			parts[i] = hex
		}
	}
	return kind + ":" + strings.Join(parts, ",")
}
