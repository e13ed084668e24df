package flags

import (
	"fmt"
	"strings"

	"github.com/spf13/pflag"

	"github.com/bgremove/bgremove/pkg/bgremove"
	"github.com/bgremove/bgremove/pkg/option"
)

// AddColour adds --bg for a colour: a service takes no other background.
func AddColour(f *pflag.FlagSet, o *bgremove.Options) {
	f.Var(Colour(&o.Background, Option("bg").Words...), "bg", "background: transparent or a `colour`: #rrggbb, #rgb or a name such as white")
}

// AddBackground adds --bg for all that can stand behind the subject.
func AddBackground(f *pflag.FlagSet, o *bgremove.Options) {
	f.Var(background{Colour(&o.Background, Option("bg").Words...), &o.Background}, "bg",
		"what is `behind` the subject: transparent, a colour (#rrggbb, #rgb or a name such as white), blur[:radius], gradient:A,B[,angle] or a file")
	f.Var(Word(&o.BackgroundFit), "bg-fit", "how a file behind the subject is fitted to the output: "+Choices("bg-fit", nil))
}

// background is a colour, or what else can stand behind the subject.
type background struct {
	pflag.Value
	p *string
}

func (b background) Type() string { return "background" }

func (b background) Set(s string) error {
	err := b.Value.Set(s)
	if err == nil {
		return nil
	}
	text := spelled(s)
	if _, ok := option.ParseBackground(text); !ok {
		return fmt.Errorf("%w, %s", err, option.Scenes())
	}
	*b.p = text
	return nil
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
