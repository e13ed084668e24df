package option_test

import (
	"encoding/json"
	"errors"
	"fmt"
	"go/ast"
	"go/parser"
	"go/token"
	"image/color"
	"reflect"
	"slices"
	"strconv"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/bgremove/bgremove/pkg/option"
)

// Every option is described, under its name in JSON.
func TestFields(t *testing.T) {
	t.Parallel()
	var want, got []string
	for _, f := range reflect.VisibleFields(reflect.TypeFor[option.Options]()) {
		name, _, _ := strings.Cut(f.Tag.Get("json"), ",")
		want = append(want, name)
	}
	for _, f := range option.Fields() {
		got = append(got, f.Name)
	}
	slices.Sort(want)
	slices.Sort(got)
	if diff := cmp.Diff(want, got); diff != "" {
		t.Errorf("described are (-want +got):\n%s", diff)
	}
	if f, ok := option.FieldOf("anchor"); !ok || f.Name != "anchor" {
		t.Errorf("anchor is %v", f)
	}
	if _, ok := option.FieldOf("anker"); ok {
		t.Error("anker is an option")
	}
}

// A default is what Set takes, is the first word, and is what Defaults has.
func TestDefaults(t *testing.T) {
	t.Parallel()
	if err := option.Defaults().Validate(); err != nil {
		t.Error(err)
	}
	if err := (option.Options{}).Validate(); err != nil {
		t.Error(err)
	}
	for _, f := range option.Fields() {
		if f.Default == "" {
			continue
		}
		o := option.Defaults()
		if err := o.Set(f.Name, f.Default); err != nil {
			t.Error(err)
		}
		if len(f.Words) > 0 && f.Words[0] != f.Default {
			t.Errorf("%s: the default is %s, the first word %s", f.Name, f.Default, f.Words[0])
		}
	}
}

// Set takes all words and both bounds of each option, and refuses what is beside
// them with the rule that Validate names.
func TestSet(t *testing.T) {
	t.Parallel()
	for _, f := range option.Fields() {
		good, bad := f.Words, []string{"", "nonsense", "#abc", "##12345", "#+12345", "TRUE"}
		if f.Truth {
			good = []string{"true", "false"}
		}
		if f.Colour {
			good = append(slices.Clone(good), "#AbCdEf")
		}
		if f.Range != (option.Range{}) {
			good = []string{strconv.Itoa(f.Range.Min), strconv.Itoa(f.Range.Max)}
			bad = append(bad, "1.5", strconv.Itoa(f.Range.Min-1), strconv.Itoa(f.Range.Max+1))
		}
		if f.Span != (option.Span{}) {
			good = []string{fmt.Sprint(f.Span.Min), fmt.Sprint(f.Span.Max)}
			bad = append(bad, "NaN", "+Inf", "90s", "1:30", fmt.Sprint(f.Span.Min-0.001), fmt.Sprint(f.Span.Max+0.001))
		}
		if f.Name == "model" {
			good, bad = []string{"bundled"}, []string{""}
		}
		for _, text := range good {
			o := option.Defaults()
			switch f.Name {
			case "preset":
				o.Format = "" // which a preset chooses
			case "harmonise":
				o.Background = "blur" // which it needs
			}
			if err := errors.Join(o.Set(f.Name, text), o.Validate()); err != nil {
				t.Errorf("%s=%s: %v", f.Name, text, err)
			}
		}
		for _, text := range bad {
			o := option.Defaults()
			err := o.Set(f.Name, text)
			if wrong := (*option.Error)(nil); !errors.As(err, &wrong) || wrong.Field != f.Name {
				t.Errorf("%s=%s: %v", f.Name, text, err)
			}
			if !reflect.DeepEqual(o, option.Defaults()) {
				t.Errorf("%s=%s was taken", f.Name, text)
			}
		}
	}
	var o option.Options
	if err := o.Set("bgColor", "#AbCdEf"); err != nil || o.Background != "#abcdef" {
		t.Errorf("bgColor is %s: %v", o.Background, err)
	}
	if err := o.Set("file", "x"); err == nil {
		t.Error("file is an option")
	}
}

// Validate refuses what no text can say, too, and names the rule.
func TestValidate(t *testing.T) {
	t.Parallel()
	negative := -1
	for want, o := range map[string]option.Options{
		"method must be one of auto, fast, rembg":               {Method: "AI"},
		"holes must be one of auto, keep, remove":               {Holes: "x"},
		"anchor must be one of center, bottom":                  {Anchor: "nowhere"},
		"scale must be one of auto, smooth, nearest":            {Scale: "x"},
		"outputFormat must be one of gif, apng":                 {Format: "bmp"},
		"tolerance must be between 8 and 32":                    {Tolerance: 7},
		"pad must be between 0 and 50":                          {Pad: -1},
		"canvasW must be between 16 and 4096":                   {CanvasW: 15},
		"bgColor must be transparent, #rrggbb, or blur":         {Background: "red"},
		"key must be auto, green, blue or #rrggbb":              {Key: "red"},
		"edgeColour must be #rrggbb":                            {EdgeColour: "red"},
		"outline must be #rrggbb,width with a width of 1 to 64": {Outline: "#ffffff,65"},
		"shadow must be soft or x,y[,blur[,opacity]]":           {Shadow: "hard"},
		"harmonise needs a background":                          {Harmonise: true, Background: "transparent"},
		"start must not be negative":                            {Start: -1},
		"end must come after start":                             {Start: 2, End: 1},
		"fps must be between 0.01 and 1000":                     {FPS: 1001},
		"loop must be between 0 and 65535":                      {Loop: &negative},
	} {
		if err := o.Validate(); err == nil || !strings.HasPrefix(err.Error(), want) { // more words may follow
			t.Errorf("%v, want %s", err, want)
		}
	}
}

func TestEffectiveFormat(t *testing.T) {
	t.Parallel()
	for _, c := range []struct {
		o    option.Options
		want option.Format
	}{
		{option.Options{}, "gif"},
		{option.Options{Format: "mp4"}, "gif"},
		{option.Options{Format: "mp4", Background: "transparent"}, "gif"},
		{option.Options{Format: "mp4", Background: "#ffffff"}, "mp4"},
		{option.Options{Format: "mp4", Background: "blur"}, "mp4"},
		{option.Options{Format: "mp4", MaskOnly: true}, "mp4"},
		{option.Options{Format: "webm"}, "webm"},
		{option.Options{Format: "unheard-of"}, "unheard-of"}, // for others to refuse
	} {
		if got := c.o.EffectiveFormat(); got != c.want {
			t.Errorf("%s on %q is %s", c.o.Format, c.o.Background, got)
		}
	}
}

// The facts of formats lead back to them, and no unknown one passes for another.
func TestFormats(t *testing.T) {
	t.Parallel()
	for _, f := range append(option.ServiceFormats(), option.HEVC) {
		if got, ok := option.FormatOf("clip." + strings.ToUpper(f.Extension())); !ok || got.Extension() != f.Extension() {
			t.Errorf("the extension of %s is of %s", f, got)
		}
		if kind, _, _ := strings.Cut(f.MediaType(), "/"); (kind == "video") != f.Video() || f.Sound() && !f.Video() {
			t.Errorf("%s is %s", f, f.MediaType())
		}
	}
	if f, ok := option.FormatOf("a.png"); !ok || f != option.APNG {
		t.Errorf(".png is %s", f)
	}
	for _, local := range []option.Format{option.PNG, option.HEVC} {
		if slices.Contains(option.ServiceFormats(), local) || !slices.Contains(option.Formats(), local) {
			t.Errorf("%s is a service's format, or none", local)
		}
	}
	if f, ok := option.FormatOf("a.bmp"); ok {
		t.Errorf(".bmp is %s", f)
	}
	unknown, empty := option.Format("unheard-of"), option.Format("")
	if unknown.Extension() != "unheard-of" || unknown.MediaType() != "application/octet-stream" || unknown.Opaque() {
		t.Errorf("it is .%s, %s", unknown.Extension(), unknown.MediaType())
	}
	if empty.Extension() != "gif" || empty.Quality() != option.QualityGIF || !option.MP4.Opaque() {
		t.Errorf("the empty format is .%s", empty.Extension())
	}
}

// A picture becomes a PNG where nothing says otherwise, and a clip a GIF.
func TestFormatFor(t *testing.T) {
	t.Parallel()
	for _, c := range []struct {
		o             option.Options
		picture, clip option.Format
	}{
		{option.Defaults(), "png", "gif"},
		{option.Options{Format: "apng"}, "apng", "apng"},
		{option.Options{Format: "mp4"}, "gif", "gif"},
		{option.Options{Preset: "whatsapp-sticker"}, "webp", "webp"},
	} {
		if picture, clip := c.o.FormatFor(true), c.o.FormatFor(false); picture != c.picture || clip != c.clip {
			t.Errorf("%+v: a picture becomes %s, and a clip %s", c.o, picture, clip)
		}
	}
	if err := (&option.Options{}).Set("outputFormat", "png"); err == nil {
		t.Error("forms, which send clips, take png")
	}
}

// The names in JSON are those of files and databases that exist.
func TestJSON(t *testing.T) {
	t.Parallel()
	o := option.Defaults()
	o.Format = option.GIF
	text, err := json.Marshal(o)
	want := `{"method":"auto","tolerance":16,"holes":"auto","crop":true,"pad":12,"anchor":"center","bgColor":"transparent","outputFormat":"gif"}`
	if err != nil || string(text) != want {
		t.Errorf("%s %v", text, err)
	}
}

// Every constant of a type of words is a value of its option.
func TestConstants(t *testing.T) {
	t.Parallel()
	options, seen := map[string]string{}, map[string]bool{} // by type
	for _, f := range reflect.VisibleFields(reflect.TypeFor[option.Options]()) {
		if f.Type.Kind() == reflect.String && f.Type.Name() != "string" {
			options[f.Type.Name()], _, _ = strings.Cut(f.Tag.Get("json"), ",")
		}
	}
	for _, path := range []string{"word.go", "format.go"} {
		file, err := parser.ParseFile(token.NewFileSet(), path, nil, 0)
		if err != nil {
			t.Fatal(err)
		}
		ast.Inspect(file, func(n ast.Node) bool {
			name, kind, word := constant(n)
			if kind == "" {
				return true
			}
			f, _ := option.FieldOf(options[kind])
			if !slices.Contains(f.Words, word) && !slices.Contains(option.Formats(), option.Format(word)) { // forms take some formats only
				t.Errorf("%s is no value of %s", name, kind)
			}
			seen[kind] = true
			return true
		})
	}
	for kind := range options {
		if !seen[kind] {
			t.Errorf("%s has no constants", kind)
		}
	}
}

// constant is the name, the type and the text of a constant of a type of its own.
func constant(n ast.Node) (name, kind, text string) {
	spec, ok := n.(*ast.ValueSpec)
	if !ok || len(spec.Values) != 1 {
		return "", "", ""
	}
	of, _ := spec.Type.(*ast.Ident)
	value, _ := spec.Values[0].(*ast.BasicLit)
	if of == nil || value == nil {
		return "", "", ""
	}
	text, _ = strconv.Unquote(value.Value)
	return spec.Names[0].Name, of.Name, text
}

// A background is read, and what is out of its bounds or half of it is none.
func TestParseBackground(t *testing.T) {
	t.Parallel()
	for text, want := range map[string]option.Backing{
		"":            {},
		"transparent": {},
		"#102030":     {Colour: &color.NRGBA{0x10, 0x20, 0x30, 255}},
		"blur":        {Blur: &option.Blur{}},
		"blur:1":      {Blur: &option.Blur{Radius: 1}},
		"blur:200":    {Blur: &option.Blur{Radius: 200}},

		"gradient:#000000,#0A0b0c": {Gradient: &option.Gradient{From: color.NRGBA{A: 255}, To: color.NRGBA{10, 11, 12, 255}, Angle: 180}},
		"beach.PNG":                {File: "beach.PNG"}, "./beach": {File: "./beach"}, `C:\beach`: {File: `C:\beach`},

		"gradient:#000000,#000000,0":   {Gradient: &option.Gradient{From: color.NRGBA{A: 255}, To: color.NRGBA{A: 255}}},
		"gradient:#000000,#000000,360": {Gradient: &option.Gradient{From: color.NRGBA{A: 255}, To: color.NRGBA{A: 255}, Angle: 360}},
	} {
		got, ok := option.ParseBackground(text)
		if diff := cmp.Diff(want, got); !ok || diff != "" {
			t.Errorf("%q: %t %s", text, ok, diff)
		}
	}
	for _, text := range []string{"blur:", "blur:0", "blur:201", "blur:x", "blurred", "blur:1:2", "blur:1.5", "red", "#12",
		"gradient", "gradient:", "gradient:#000000", "gradient:#000000,#fff", "gradient:#000000,#000000,", "gradient:#000000,#000000,361",
		"gradient:#000000,#000000,-1", "gradient:#000000,#000000,1,2", "gradient:red,#000000"} {
		if b, ok := option.ParseBackground(text); ok {
			t.Errorf("%q is %v", text, b)
		}
	}
}

// A form names no file, whatever a command line may name, and what else it draws under
// another name than a colour.
func TestSetBackground(t *testing.T) {
	t.Parallel()
	for _, text := range []string{"blur", "blur:3", "gradient:#000000,#ffffff", "beach.png", "/etc/passwd"} {
		var o option.Options
		if err := o.Set("bgColor", text); err == nil || err.Error() != "bgColor must be transparent or #rrggbb" || o.Background != "" {
			t.Errorf("%s: %v", text, err)
		}
	}
	for _, text := range []string{"#aBcDeF", "blur", "Blur:200", "gradient:#000000,#ffffff", "gradient:#000000,#ffffff,360"} {
		var o option.Options
		if err := errors.Join(o.Set(option.DrawnBackground, text), o.Validate()); err != nil || o.Background != strings.ToLower(text) {
			t.Errorf("%s: %q, %v", text, o.Background, err)
		}
	}
	for _, text := range []string{"", "transparent", "beach.png", "/etc/passwd", `c:\beach`, "./blur", "blur:201", "gradient:#000000,./a", "red"} {
		var o option.Options
		if err := o.Set(option.DrawnBackground, text); err == nil || !strings.HasPrefix(err.Error(), "background must be #rrggbb, blur[:radius]") || o.Background != "" {
			t.Errorf("%s: %v", text, err)
		}
	}
}

// A form sets an outline and a shadow within their bounds.
func TestSetRim(t *testing.T) {
	t.Parallel()
	var o option.Options
	if err := errors.Join(o.Set("outline", "#FFffFF,64"), o.Set("shadow", "-100,100,64,100")); err != nil || o.Outline != "#ffffff,64" || o.Shadow != "-100,100,64,100" {
		t.Errorf("%q, %q, %v", o.Outline, o.Shadow, err)
	}
	for name, texts := range map[string][]string{"outline": {"", "white,3", "#ffffff,65"}, "shadow": {"", "true", "101,0", "0,0,65", "0,0,0,101"}} {
		for _, text := range texts {
			before := o
			if err := o.Set(name, text); err == nil || !strings.HasPrefix(err.Error(), name+" must be ") || !reflect.DeepEqual(o, before) {
				t.Errorf("%s=%s: %v", name, text, err)
			}
		}
	}
}

func TestParseRim(t *testing.T) {
	t.Parallel()
	if line, ok := option.ParseOutline("#010203,64"); !ok || line != (option.Line{Colour: color.NRGBA{1, 2, 3, 255}, Width: 64}) {
		t.Errorf("%v %t", line, ok)
	}
	for _, text := range []string{"", "#010203", "#010203,", "#010203,0", "#010203,65", "#010203,1,2", "white,3", "3"} {
		if line, ok := option.ParseOutline(text); ok {
			t.Errorf("%q is %v", text, line)
		}
	}
	for text, want := range map[string]option.Cast{
		"soft": {0, 6, 8, 50}, "-3,4": {-3, 4, 8, 50}, "0,0,0": {0, 0, 0, 50}, "1,2,64,100": {1, 2, 64, 100},
	} {
		if got, ok := option.ParseShadow(text); !ok || got != want {
			t.Errorf("%q is %v %t", text, got, ok)
		}
	}
	for _, text := range []string{"", "3", "101,0", "0,-101", "0,0,65", "0,0,-1", "0,0,0,0", "0,0,0,101", "0,0,0,1,1", "x,0"} {
		if got, ok := option.ParseShadow(text); ok {
			t.Errorf("%q is %v", text, got)
		}
	}
}

// Every name of an output is known as one, and a clip's own name is not.
func TestOutputNames(t *testing.T) {
	t.Parallel()
	for _, f := range option.Formats() {
		stem := strings.TrimSuffix(f.OutputName("Clip"), "."+f.Extension())
		if !option.IsOutputStem(stem) || !option.IsOutputStem(strings.ToUpper(stem)) {
			t.Errorf("%s: %s is no output's name", f, stem)
		}
	}
	if option.IsOutputStem("nobg-clip") || option.IsOutputStem("clip-stacked") {
		t.Error("a clip's own name counts as an output's")
	}
}
