package option

import (
	"cmp"
	"fmt"
	"slices"
	"strconv"
	"strings"
	"time"
)

// Range is the bounds of a whole number, both within, and its default. Where Min
// is above 0, an option's 0 stands for what is not given.
type Range struct{ Min, Max, Default int }

// The ranges.
var (
	Tolerance = Range{8, 32, 16}
	Pad       = Range{0, 50, 12}
	Canvas    = Range{Min: 16, Max: 4096} // one side
	Quality   = Range{Min: 1, Max: 100}   // its default is the format's
	Loop      = Range{Min: 0, Max: 65535}

	SheetMax     = Range{Min: 64, Max: 16384} // one side of a page; its default is SheetSide
	SheetPadding = Range{Min: 0, Max: 64}
	SheetExtrude = Range{Min: 0, Max: 16}
)

// Span is the bounds of a number that may have a fraction, both within.
type Span struct{ Min, Max float64 }

// The spans.
var (
	FPS    = Span{0.01, 1000}
	Moment = Span{0, longest.Seconds()} // seconds of a clip, as a form has Start and End
)

// SheetSide is the SheetMax that 0 stands for: nearly all graphics hardware reads it.
const SheetSide = 8192

// TightPadding is the SheetPadding with Tight that nil stands for.
const TightPadding = 2

func (r Range) has(n int) bool { return n >= r.Min && n <= r.Max }

func (r Range) must() string { return fmt.Sprintf("must be between %d and %d", r.Min, r.Max) }

func (r Range) text() string { return fmt.Sprintf("%d to %d", r.Min, r.Max) }

func (s Span) has(v float64) bool { return v >= s.Min && v <= s.Max }

func (s Span) must() string { return "must be between " + plain(s.Min) + " and " + plain(s.Max) }

// Text is the span in a sentence.
func (s Span) Text() string { return plain(s.Min) + " to " + plain(s.Max) }

// plain is a number without an exponent.
func plain(v float64) string { return strconv.FormatFloat(v, 'f', -1, 64) }

// Field describes an option for those who offer it.
type Field struct {
	Name    string   // in JSON, forms and errors
	Words   []string // that it takes, the default first
	Colour  bool     // it takes #rrggbb, beside Words
	Forms   []string // of texts that it takes beside those: "blur[:radius]"
	Pattern string   // a regular expression that holds for what it takes, where it has Forms
	Truth   bool     // it takes true and false
	Range   Range    // of a whole number; the zero Range is for other options
	Span    Span     // of a number that may have a fraction, likewise
	Default string   // as Set takes it; empty where nothing is set
}

// Fields describe all options.
func Fields() []Field {
	all := make([]Field, len(fields))
	for i, f := range fields {
		all[i] = f.Field
	}
	return all
}

// FieldOf describes the option of a name in JSON, or of DrawnBackground.
func FieldOf(name string) (Field, bool) {
	f, ok := find(name)
	return f.Field, ok
}

func find(name string) (field, bool) {
	if name == drawn.Name {
		return drawn, true
	}
	i := slices.IndexFunc(fields, func(f field) bool { return f.Name == name })
	if i < 0 {
		return field{}, false
	}
	return fields[i], true
}

// field is an option and its rules.
type field struct {
	Field
	rules []rule
	set   func(o *Options, text string) bool // reports whether the text is a value; nil without a text
	// read is set of a text with so much in it that its error tells the reason.
	read func(o *Options, text string) error
	// setMust is the reason of a text that set refuses; empty is that of the first rule.
	setMust string
}

// refusal is the reason of a text that set refuses.
func (f field) refusal() string {
	if f.setMust != "" {
		return f.setMust
	}
	return f.rules[0].reason
}

// rule is what a valid option is.
type rule struct {
	reason string // of an Error: "must be …"
	holds  func(Options) bool
}

// fields are all options. A new one needs a line here and a field of Options.
var fields = []field{
	word("method", Methods(), func(o *Options) *Method { return &o.Method }),
	word("holes", AllHoles(), func(o *Options) *Holes { return &o.Holes }),
	word("anchor", Anchors(), func(o *Options) *Anchor { return &o.Anchor }),
	word("subject", Subjects(), func(o *Options) *Subject { return &o.Subject }),
	hints(),
	truth("largest", func(o *Options) *bool { return &o.Largest }),
	word("scale", Scales(), func(o *Options) *Scale { return &o.Scale }),
	word("bgFit", Fits(), func(o *Options) *Fit { return &o.BackgroundFit }),
	format(),
	number("tolerance", Tolerance, func(o *Options) *int { return &o.Tolerance }),
	number("pad", Pad, func(o *Options) *int { return &o.Pad }),
	number("canvasW", Canvas, func(o *Options) *int { return &o.CanvasW }),
	number("canvasH", Canvas, func(o *Options) *int { return &o.CanvasH }),
	background(),
	harmonise(),
	colour("key", []string{KeyAuto, KeyGreen, KeyBlue}, func(o *Options) *string { return &o.Key }),
	colour("edgeColour", nil, func(o *Options) *string { return &o.EdgeColour }),
	written("outline", outlineForms, outlinePattern, outlineMust(), func(text string) bool { _, ok := ParseOutline(text); return ok }, func(o *Options) *string { return &o.Outline }),
	written("shadow", shadowForms, shadowPattern, shadowMust(), func(text string) bool { _, ok := ParseShadow(text); return ok }, func(o *Options) *string { return &o.Shadow }),
	moment("start", func(o *Options) *time.Duration { return &o.Start }),
	moment("end", func(o *Options) *time.Duration { return &o.End },
		rule{"must come after start", func(o Options) bool { return o.End == 0 || o.End > o.Start }}),
	ruled("frame", rule{"must not be negative", func(o Options) bool { return o.Frame == nil || *o.Frame >= 0 }},
		rule{"is the time of one picture: start and end do not go with it", func(o Options) bool { return o.Frame == nil || o.Start == 0 && o.End == 0 }}),
	fraction("fps", FPS, func(o *Options) *float64 { return &o.FPS }),
	word("preset", Presets(), func(o *Options) *Preset { return &o.Preset }),
	ruled("maxSize", rule{"must not be negative", func(o Options) bool { return o.MaxSize >= 0 }},
		rule{"is for " + boundedFormats(), func(o Options) bool { return o.MaxSize == 0 || o.EffectiveFormat().Bounded() }}),
	number("quality", Quality, func(o *Options) *int { return &o.Quality }),
	optional("loop", Loop, func(o *Options) **int { return &o.Loop }),
	word("sheetData", AllSheetData(), func(o *Options) *SheetData { return &o.SheetData }),
	word("sheetPack", SheetPacks(), func(o *Options) *SheetPack { return &o.SheetPack }),
	number("sheetMax", SheetMax, func(o *Options) *int { return &o.SheetMax }),
	number("sheetExtrude", SheetExtrude, func(o *Options) *int { return &o.SheetExtrude }),
	optional("sheetPadding", SheetPadding, func(o *Options) **int { return &o.SheetPadding }),
	truth("sheetPowerOfTwo", func(o *Options) *bool { return &o.SheetPowerOfTwo }),
	truth("crop", func(o *Options) *bool { return &o.Crop }),
	truth("trim", func(o *Options) *bool { return &o.Trim }),
	truth("maskOnly", func(o *Options) *bool { return &o.MaskOnly }),
	truth("noAudio", func(o *Options) *bool { return &o.NoAudio }),
	truth("strict", func(o *Options) *bool { return &o.Strict }),
	truth("keepShadow", func(o *Options) *bool { return &o.KeepShadow }),
	truth("noReuse", func(o *Options) *bool { return &o.NoReuse }),
	truth("noMotion", func(o *Options) *bool { return &o.NoMotion }),
	truth("noCloser", func(o *Options) *bool { return &o.NoCloser }),
	truth("noColours", func(o *Options) *bool { return &o.NoColours }),
	truth("noPlate", func(o *Options) *bool { return &o.NoPlate }),
	truth("noSteady", func(o *Options) *bool { return &o.NoSteady }),
	truth("noRefine", func(o *Options) *bool { return &o.NoRefine }),
	truth("noDecontaminate", func(o *Options) *bool { return &o.NoDecontaminate }),
	named("model", func(o *Options) *string { return &o.Model }),
}

// word is an option that takes one of a few words; empty is the first.
func word[T ~string](name string, all []T, at func(*Options) *T) field {
	words := make([]string, len(all))
	for i, w := range all {
		words[i] = string(w)
	}
	d := Defaults()
	return field{
		Field: Field{Name: name, Words: words, Default: cmp.Or(string(*at(&d)), words[0])},
		rules: []rule{{"must be one of " + strings.Join(words, ", "), func(o Options) bool {
			v := *at(&o)
			return v == "" || slices.Contains(all, v)
		}}},
		set: func(o *Options, text string) bool { return put(at(o), T(text), slices.Contains(all, T(text))) },
	}
}

// format is the option for a format. Its texts are those of forms, which a service takes.
func format() field {
	at := func(o *Options) *Format { return &o.Format }
	f, clips := word("outputFormat", Formats(), at), word("outputFormat", ServiceFormats(), at)
	f.Field, f.set, f.setMust = clips.Field, clips.set, clips.rules[0].reason
	return f
}

// number is an option that takes a whole number; 0 is not given unless it is in
// the range.
func number(name string, r Range, at func(*Options) *int) field {
	d, standard := Defaults(), ""
	if n := *at(&d); r.has(n) {
		standard = strconv.Itoa(n)
	}
	return field{
		Field: Field{Name: name, Range: r, Default: standard},
		rules: []rule{{r.must(), func(o Options) bool {
			n := *at(&o)
			return n == 0 || r.has(n)
		}}},
		set: func(o *Options, text string) bool {
			n, err := strconv.Atoi(text)
			return put(at(o), n, err == nil && r.has(n))
		},
	}
}

// optional is an option that takes a whole number, of which 0 is one; nil is not given.
func optional(name string, r Range, at func(*Options) **int) field {
	return field{
		Field: Field{Name: name, Range: r},
		rules: []rule{{r.must(), func(o Options) bool {
			n := *at(&o)
			return n == nil || r.has(*n)
		}}},
		set: func(o *Options, text string) bool {
			n, err := strconv.Atoi(text)
			return put(at(o), &n, err == nil && r.has(n))
		},
	}
}

// fraction is an option that takes a number; 0 is not given unless it is in the span.
func fraction(name string, s Span, at func(*Options) *float64) field {
	return field{
		Field: Field{Name: name, Span: s},
		rules: []rule{{s.must(), func(o Options) bool {
			v := *at(&o)
			return v == 0 || s.has(v)
		}}},
		set: func(o *Options, text string) bool {
			v, err := strconv.ParseFloat(text, 64)
			return put(at(o), v, err == nil && s.has(v))
		},
	}
}

// moment is an option that takes a time of the clip, which a text has in seconds.
func moment(name string, at func(*Options) *time.Duration, more ...rule) field {
	return field{
		Field: Field{Name: name, Span: Moment},
		rules: append([]rule{{"must not be negative", func(o Options) bool { return *at(&o) >= 0 }}}, more...),
		set: func(o *Options, text string) bool {
			v, err := strconv.ParseFloat(text, 64)
			return put(at(o), Seconds(v), err == nil && Moment.has(v))
		},
		setMust: Moment.must() + " seconds",
	}
}

// colour is an option that takes words or #rrggbb in either case, which Set keeps
// in lower case; empty is the first word, or no colour.
func colour(name string, words []string, at func(*Options) *string) field {
	must := "must be #rrggbb"
	if len(words) > 0 {
		must = "must be " + strings.Join(words, ", ") + " or #rrggbb"
	}
	takes := func(text string) bool { _, ok := ParseColour(text); return ok || slices.Contains(words, text) }
	d := Defaults()
	return field{
		Field: Field{Name: name, Words: words, Colour: true, Default: *at(&d)},
		rules: []rule{{must, func(o Options) bool { v := *at(&o); return v == "" || takes(v) }}},
		set:   func(o *Options, text string) bool { return put(at(o), strings.ToLower(text), takes(text)) },
	}
}

// written is an option that takes a text of its own form, which Set keeps in lower
// case; empty is none.
func written(name string, forms []string, pattern, must string, takes func(text string) bool, at func(*Options) *string) field {
	return field{
		Field: Field{Name: name, Forms: forms, Pattern: pattern},
		rules: []rule{{must, func(o Options) bool { v := *at(&o); return v == "" || takes(v) }}},
		set:   func(o *Options, text string) bool { return put(at(o), strings.ToLower(text), takes(text)) },
	}
}

// named is an option that takes a name of the user's machine, or of a service's; empty is
// none.
func named(name string, at func(*Options) *string) field {
	return field{
		Field:   Field{Name: name},
		set:     func(o *Options, text string) bool { return put(at(o), text, text != "") },
		setMust: "must not be empty",
	}
}

// truth is an option that is true or false.
func truth(name string, at func(*Options) *bool) field {
	d := Defaults()
	return field{
		Field: Field{Name: name, Truth: true, Default: strconv.FormatBool(*at(&d))},
		rules: []rule{{"must be true or false", func(Options) bool { return true }}},
		set: func(o *Options, text string) bool {
			return put(at(o), text == "true", text == "true" || text == "false")
		},
	}
}

// ruled is an option without a text.
func ruled(name string, rules ...rule) field { return field{Field: Field{Name: name}, rules: rules} }

// put sets a value that is valid, and reports whether it is.
func put[T any](to *T, v T, valid bool) bool {
	if valid {
		*to = v
	}
	return valid
}
