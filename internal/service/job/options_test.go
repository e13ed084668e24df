package job_test

import (
	"encoding/json"
	"errors"
	"reflect"
	"slices"
	"strconv"
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"github.com/bgremove/bgremove/internal/service/job"
	"github.com/bgremove/bgremove/pkg/option"
)

func TestSet(t *testing.T) {
	t.Parallel()
	for _, c := range []struct{ field, good, bad, reason string }{
		{"method", "rembg", "AI", "must be one of auto, fast, rembg"},
		{"tolerance", "8", "7", "must be between 8 and 32"},
		{"tolerance", "32", "33", "must be between 8 and 32"},
		{"crop", "false", "no", "must be true or false"},
		{"pad", "0", "-1", "must be between 0 and 50"},
		{"pad", "50", "51", "must be between 0 and 50"},
		{"pad", "1", "1.5", "must be between 0 and 50"},
		{"canvasW", "16", "0", "must be between 16 and 4096"},
		{"canvasH", "4096", "4097", "must be between 16 and 4096"},
		{"anchor", "bottom", "nowhere", "must be one of " + strings.Join(words("anchor"), ", ")},
		{"outputFormat", "webm", "", "must be one of " + strings.Join(words("outputFormat"), ", ")},
		{"bgColor", "#AbCdEf", "#abc", "must be transparent or #rrggbb"},
		{"bgColor", "transparent", "#+12345", "must be transparent or #rrggbb"},
		{"bgColor", "#000000", "##12345", "must be transparent or #rrggbb"},
		{"trim", "true", "TRUE", "must be true or false"},
		{"background", "blur:200", "blur:201", "must be #rrggbb, " + option.DrawnScenes()},
		{"background", "gradient:#000000,#FFffFF,360", "gradient:#000000,#ffffff,361", "must be #rrggbb, " + option.DrawnScenes()},
		{"background", "#000000", "./secret.png", "must be #rrggbb, " + option.DrawnScenes()},
		{"background", "blur", "transparent", "must be #rrggbb, " + option.DrawnScenes()},
		{"outline", "#ffffff,64", "#ffffff,65", "must be #rrggbb,width with a width of 1 to 64"},
		{"shadow", "soft", "101,0", "must be soft or x,y[,blur[,opacity]] with offsets of -100 to 100, a blur of 0 to 64 and an opacity of 1 to 100"},
		{"harmonise", "true", "yes", "must be true or false"},
		{"fps", "0.01", "0", "must be between 0.01 and 1000"},
		{"fps", "1000", "NaN", "must be between 0.01 and 1000"},
		{"start", "1.5", "1:30", "must be between 0 and 10000000 seconds"},
		{"end", "0", "-1", "must be between 0 and 10000000 seconds"},
		{"quality", "100", "0", "must be between 1 and 100"},
		{"loop", "0", "65536", "must be between 0 and 65535"},
		{"model", "bundled", "", "must not be empty"},
	} {
		o := job.DefaultOptions()
		if known, err := o.Set(c.field, c.good); !known || err != nil {
			t.Errorf("%s=%s: %v %v", c.field, c.good, known, err)
		}
		before := o
		known, err := o.Set(c.field, c.bad)
		var wrong *option.Error
		if !known || !errors.As(err, &wrong) || *wrong != (option.Error{Field: c.field, Reason: c.reason}) {
			t.Errorf("%s=%s: %v", c.field, c.bad, err)
		}
		if !cmp.Equal(o, before) {
			t.Errorf("%s=%s was taken", c.field, c.bad)
		}
	}
	o := job.DefaultOptions()
	for _, other := range []string{"file", "scale"} { // scale is an option of the library alone
		if known, err := o.Set(other, "auto"); known || err != nil {
			t.Errorf("%s: %v %v", other, known, err)
		}
	}
	_, _ = o.Set("bgColor", "#AbCdEf")
	if o.BgColor != "#abcdef" {
		t.Errorf("bgColor is %s", o.BgColor)
	}
}

// Each option of a submission has the name and the value that the removal's has.
func TestRemoval(t *testing.T) {
	t.Parallel()
	var inJSON []string
	for _, f := range reflect.VisibleFields(reflect.TypeFor[job.Options]()) {
		name, _, _ := strings.Cut(f.Tag.Get("json"), ",")
		inJSON = append(inJSON, name)
	}
	if diff := cmp.Diff(inJSON, job.OptionNames()); diff != "" {
		t.Errorf("names (-JSON +OptionNames):\n%s", diff)
	}
	defaults := option.Defaults()
	defaults.Format = option.FormatFor(false) // a submission is a clip, whose format is always said
	if diff := cmp.Diff(defaults, job.DefaultOptions().Removal()); diff != "" {
		t.Errorf("defaults (-removal's +submission's):\n%s", diff)
	}
	for _, name := range job.OptionNames() {
		text := other(name)
		o, want := job.DefaultOptions(), defaults
		_, err := o.Set(name, text)
		if err := errors.Join(err, want.Set(name, text)); err != nil {
			t.Error(err)
		}
		if diff := cmp.Diff(want, o.Removal()); diff != "" || cmp.Equal(o, job.DefaultOptions()) {
			t.Errorf("%s=%s (-removal's +submission's):\n%s", name, text, diff)
		}
	}
}

func words(name string) []string {
	f, _ := option.FieldOf(name)
	return f.Words
}

// other is a value of an option that is not its default.
func other(name string) string {
	f, _ := option.FieldOf(name)
	switch {
	case name == "hints":
		return `[{"keep":true,"click":[1,2]}]`
	case f.Colour:
		return "#123456"
	case f.Truth:
		return map[string]string{"true": "false", "false": "true"}[f.Default]
	case len(f.Words) > 0:
		return f.Words[(slices.Index(f.Words, f.Default)+1)%len(f.Words)]
	case name == "outline":
		return "#123456,7"
	case name == "shadow":
		return option.SoftShadow
	case f.Span != option.Span{}:
		return strconv.FormatFloat(f.Span.Max/7, 'f', -1, 64)
	}
	return strconv.Itoa(f.Range.Max)
}

// A colour and what is drawn instead are kept apart, in whatever order they come, and
// do not go together.
func TestBackgrounds(t *testing.T) {
	t.Parallel()
	for name, c := range map[string]struct {
		fields     [][2]string
		background string // of the removal
		err        string
	}{
		"drawn":             {[][2]string{{"background", "blur:3"}}, "blur:3", ""},
		"drawn, then none":  {[][2]string{{"background", "blur:3"}, {"bgColor", "transparent"}}, "blur:3", ""},
		"none, then drawn":  {[][2]string{{"bgColor", "transparent"}, {"background", "#ABCDEF"}}, "#abcdef", ""},
		"both":              {[][2]string{{"bgColor", "#ffffff"}, {"background", "blur"}}, "blur", "background does not go with bgColor"},
		"both, turned":      {[][2]string{{"background", "blur"}, {"pad", "3"}, {"bgColor", "#ffffff"}}, "blur", "background does not go with bgColor"},
		"harmony":           {[][2]string{{"harmonise", "true"}, {"background", "blur"}}, "blur", ""},
		"harmony on colour": {[][2]string{{"harmonise", "true"}, {"bgColor", "#ffffff"}}, "#ffffff", ""},
		"harmony alone":     {[][2]string{{"harmonise", "true"}}, "transparent", "harmonise needs a background"},
	} {
		o := job.DefaultOptions()
		for _, f := range c.fields {
			if known, err := o.Set(f[0], f[1]); !known || err != nil {
				t.Errorf("%s: %v is %t, %v", name, f, known, err)
			}
		}
		err := o.Check()
		if got := o.Removal().Background; got != c.background || (err == nil) != (c.err == "") || err != nil && err.Error() != c.err {
			t.Errorf("%s: %q, %v", name, got, err)
		}
	}
}

// What is stored stays readable, and identifies the same submission: it does not
// change by a byte.
func TestStoredOptions(t *testing.T) {
	t.Parallel()
	for stored, want := range map[string]job.Options{
		`{"method":"auto","tolerance":16,"crop":true,"pad":12,"anchor":"center","outputFormat":"gif","bgColor":"transparent","trim":false}`: job.DefaultOptions(),
		`{"method":"fast","tolerance":9,"crop":false,"pad":0,"canvasW":100,"canvasH":200,"anchor":"bottom","outputFormat":"mp4","bgColor":"#ffffff","trim":true}`: {
			Method: "fast", Tolerance: 9, CanvasW: 100, CanvasH: 200, Anchor: "bottom", OutputFormat: "mp4", BgColor: "#ffffff", Trim: true},
		`{"method":"auto","tolerance":16,"crop":true,"pad":12,"anchor":"center","outputFormat":"gif","bgColor":"transparent","trim":false,` +
			`"background":"blur:9","outline":"#ffffff,4","shadow":"soft","harmonise":true}`: {
			Method: "auto", Tolerance: 16, Crop: true, Pad: 12, Anchor: "center", OutputFormat: "gif", BgColor: "transparent",
			Background: "blur:9", Outline: "#ffffff,4", Shadow: "soft", Harmonise: true},
		`{"method":"auto","tolerance":16,"crop":true,"pad":12,"anchor":"center","outputFormat":"gif","bgColor":"transparent","trim":false,` +
			`"hints":[{"keep":true,"click":[3,4],"t":1.5},{"keep":false,"stroke":[[1,2],[3,4.5]],"radius":6}],"largest":true}`: {
			Method: "auto", Tolerance: 16, Crop: true, Pad: 12, Anchor: "center", OutputFormat: "gif", BgColor: "transparent", Largest: true,
			Hints: []option.Hint{{Keep: true, Click: &[2]float64{3, 4}, At: 1500 * time.Millisecond}, {Stroke: [][2]float64{{1, 2}, {3, 4.5}}, Radius: 6}}},
		`{"method":"auto","tolerance":16,"crop":true,"pad":12,"anchor":"center","outputFormat":"gif","bgColor":"transparent","trim":false,` +
			`"fps":12.5,"start":1.5,"end":60,"quality":80,"loop":0}`: {
			Method: "auto", Tolerance: 16, Crop: true, Pad: 12, Anchor: "center", OutputFormat: "gif", BgColor: "transparent",
			FPS: 12.5, Start: 1.5, End: 60, Quality: 80, Loop: new(0)},
	} {
		var got job.Options
		if err := json.Unmarshal([]byte(stored), &got); err != nil || !cmp.Equal(got, want) {
			t.Errorf("%s is %+v, %v", stored, got, err)
		}
		if text, err := json.Marshal(want); err != nil || string(text) != stored {
			t.Errorf("%+v is stored as %s, %v", want, text, err)
		}
	}
}

// A clip that is cut costs what its kept part costs, and a part that is none is refused.
func TestPart(t *testing.T) {
	t.Parallel()
	clip := job.Media{Type: "video/mp4", FrameCount: 200, Width: 64, Height: 48, Duration: 20 * time.Second}
	for _, c := range []struct {
		fields string
		price  int64
		err    string
	}{
		{"", 20, ""},
		{"start=5", 15, ""},
		{"end=5", 5, ""},
		{"end=0", 20, ""},
		{"end=500", 20, ""},
		{"start=5,end=9.001", 5, ""},
		{"start=5,end=5.1", 3, ""},
		{"start=19.999", 3, ""},
		{"start=20", 3, "start must come before the end of the clip at 20 s"},
		{"start=21,end=30", 3, "start must come before the end of the clip at 20 s"},
		{"fps=1", 20, ""},
	} {
		o := job.DefaultOptions()
		for field := range strings.SplitSeq(c.fields, ",") {
			name, value, _ := strings.Cut(field, "=")
			if _, err := o.Set(name, value); err != nil {
				t.Fatal(err)
			}
		}
		err := errors.Join(o.Check(), o.CheckFor(clip))
		if got := o.Price(clip); got != c.price || (err == nil) != (c.err == "") || err != nil && err.Error() != c.err {
			t.Errorf("%s: %d credits, %v", c.fields, got, err)
		}
	}
	o := job.DefaultOptions()
	o.Start, o.End = 3, 2
	if err := o.Check(); err == nil || err.Error() != "end must come after start" {
		t.Errorf("an end before the start: %v", err)
	}
}
