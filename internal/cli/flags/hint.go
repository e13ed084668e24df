package flags

import (
	"slices"
	"strings"

	"github.com/spf13/pflag"

	"github.com/bgremove/bgremove/pkg/bgremove"
	"github.com/bgremove/bgremove/pkg/option"
)

// AddHints adds the flags that say what is wanted, each for any number of times.
func AddHints(f *pflag.FlagSet, o *bgremove.Options) {
	AddPlaces(f, o)
	addHint(f, o, "keep-mask", true, option.ParseMaskHint, "the subject is what the picture `file[@time]` has opaque, or bright if all is")
}

// AddPlaces adds those of the flags that name no file: a service takes no other.
func AddPlaces(f *pflag.FlagSet, o *bgremove.Options) {
	click := func(text string, keep bool) (option.Hint, error) { return option.ParseHint(text, keep, false) }
	box := func(text string, keep bool) (option.Hint, error) { return option.ParseHint(text, keep, true) }
	addHint(f, o, "keep", true, click, "the subject is the thing at `x,y[@time]`, in pixels of the input; can be given again")
	addHint(f, o, "drop", false, click, "the thing at `x,y[@time]` is not subject")
	addHint(f, o, "keep-box", true, box, "the subject is the thing in the box `x,y,w,h[@time]`")
	addHint(f, o, "drop-box", false, box, "the thing in the box `x,y,w,h[@time]` is not subject")
	f.BoolVar(&o.Largest, "largest", false, "keep only the largest of the things that do not touch, in each shot")
}

func addHint(f *pflag.FlagSet, o *bgremove.Options, name string, keep bool, parse func(text string, keep bool) (option.Hint, error), usage string) {
	f.Var(&hints{p: &o.Hints, keep: keep, parse: parse}, name, usage)
}

// hints is a flag that adds hints of one kind.
type hints struct {
	p     *[]option.Hint
	keep  bool
	parse func(text string, keep bool) (option.Hint, error)
	own   []string // as they were given
	masks []string // their files
}

func (h *hints) Type() string { return "hint" }

func (h *hints) String() string { return strings.Join(h.own, " ") }

// Set adds a hint.
func (h *hints) Set(text string) error { return h.Append(text) }

// Append implements pflag.SliceValue.
func (h *hints) Append(text string) error {
	hint, err := h.parse(text, h.keep)
	if err == nil {
		*h.p, h.own, h.masks = append(*h.p, hint), append(h.own, text), append(h.masks, hint.Mask)
	}
	return err
}

// Replace implements pflag.SliceValue, for a flag that has not been set.
func (h *hints) Replace(all []string) error {
	for _, text := range all {
		if err := h.Append(text); err != nil {
			return err
		}
	}
	return nil
}

// Files are the masks.
func (h *hints) Files() []string { return slices.Clone(h.masks) }

// GetSlice implements pflag.SliceValue.
func (h *hints) GetSlice() []string { return slices.Clone(h.own) }
