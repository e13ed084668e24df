package option_test

import (
	"encoding/json"
	"errors"
	"go/ast"
	"go/parser"
	"go/token"
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
		for _, text := range good {
			o := option.Defaults()
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
			if o != option.Defaults() {
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
		"method must be one of auto, fast, rembg":    {Method: "AI"},
		"holes must be one of auto, keep, remove":    {Holes: "x"},
		"anchor must be one of center, bottom":       {Anchor: "nowhere"},
		"scale must be one of auto, smooth, nearest": {Scale: "x"},
		"outputFormat must be one of gif, apng":      {Format: "png"},
		"tolerance must be between 8 and 32":         {Tolerance: 7},
		"pad must be between 0 and 50":               {Pad: -1},
		"canvasW must be between 16 and 4096":        {CanvasW: 15},
		"bgColor must be transparent or #rrggbb":     {Background: "red"},
		"key must be auto, green, blue or #rrggbb":   {Key: "red"},
		"edgeColour must be #rrggbb":                 {EdgeColour: "red"},
		"start must not be negative":                 {Start: -1},
		"end must come after start":                  {Start: 2, End: 1},
		"fps must be between 0.01 and 1000":          {FPS: 1001},
		"loop must be between 0 and 65535":           {Loop: &negative},
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
		{option.Options{Format: "mp4", MaskOnly: true}, "mp4"},
		{option.Options{Format: "webm"}, "webm"},
		{option.Options{Format: "foo"}, "foo"}, // for others to refuse
	} {
		if got := c.o.EffectiveFormat(); got != c.want {
			t.Errorf("%s on %q is %s", c.o.Format, c.o.Background, got)
		}
	}
}

// The facts of formats lead back to them, and no unknown one passes for another.
func TestFormats(t *testing.T) {
	t.Parallel()
	for _, f := range option.Formats() {
		if got, ok := option.FormatOf("clip." + strings.ToUpper(f.Extension())); !ok || got != f {
			t.Errorf("the extension of %s is of %s", f, got)
		}
		if kind, _, _ := strings.Cut(f.MediaType(), "/"); (kind == "video") != f.Video() || f.Sound() && !f.Video() {
			t.Errorf("%s is %s", f, f.MediaType())
		}
	}
	if f, ok := option.FormatOf("a.png"); !ok || f != option.APNG {
		t.Errorf(".png is %s", f)
	}
	if f, ok := option.FormatOf("a.webp"); ok {
		t.Errorf(".webp is %s", f)
	}
	unknown, empty := option.Format("foo"), option.Format("")
	if unknown.Extension() != "foo" || unknown.MediaType() != "application/octet-stream" || unknown.Opaque() {
		t.Errorf("foo is .%s, %s", unknown.Extension(), unknown.MediaType())
	}
	if empty.Extension() != "gif" || empty.Quality() != option.QualityGIF || !option.MP4.Opaque() {
		t.Errorf("the empty format is .%s", empty.Extension())
	}
}

// The names in JSON are those of files and databases that exist.
func TestJSON(t *testing.T) {
	t.Parallel()
	text, err := json.Marshal(option.Defaults())
	want := `{"method":"auto","tolerance":16,"holes":"auto","crop":true,"pad":12,"anchor":"center","bgColor":"transparent","outputFormat":"gif"}`
	if err != nil || string(text) != want {
		t.Errorf("%s %v", text, err)
	}
}

// Every constant of a type of words is a value of its option.
func TestConstants(t *testing.T) {
	t.Parallel()
	options := map[string]string{"Method": "method", "Format": "outputFormat", "Anchor": "anchor", "Scale": "scale", "Holes": "holes"}
	seen := map[string]bool{}
	for _, path := range []string{"word.go", "format.go"} {
		file, err := parser.ParseFile(token.NewFileSet(), path, nil, 0)
		if err != nil {
			t.Fatal(err)
		}
		ast.Inspect(file, func(n ast.Node) bool {
			spec, ok := n.(*ast.ValueSpec)
			if !ok || len(spec.Values) != 1 {
				return true
			}
			kind, _ := spec.Type.(*ast.Ident)
			value, _ := spec.Values[0].(*ast.BasicLit)
			if kind == nil || value == nil {
				return true
			}
			word, _ := strconv.Unquote(value.Value)
			f, ok := option.FieldOf(options[kind.Name])
			if !ok || !slices.Contains(f.Words, word) {
				t.Errorf("%s is no value of %s", spec.Names[0], kind.Name)
			}
			seen[kind.Name] = true
			return true
		})
	}
	if len(seen) != len(options) {
		t.Errorf("only %v have constants", seen)
	}
}
