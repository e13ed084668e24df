package option_test

import (
	"encoding/json"
	"reflect"
	"strings"
	"testing"
	"time"

	"github.com/bgremove/bgremove/pkg/option"
)

func TestParseHint(t *testing.T) {
	t.Parallel()
	for text, want := range map[string]option.Hint{
		"12,34":            {Keep: true, Click: &[2]float64{12, 34}},
		" 12.5, 34@1.5":    {Keep: true, Click: &[2]float64{12.5, 34}, At: 1500 * time.Millisecond},
		"0,0@1:02.5":       {Keep: true, Click: &[2]float64{0, 0}, At: 62500 * time.Millisecond},
		"1,2,30,40":        {Keep: true, Box: &[4]float64{1, 2, 30, 40}},
		"1,2,30,40@250ms":  {Keep: true, Box: &[4]float64{1, 2, 30, 40}, At: 250 * time.Millisecond},
		"1e3,2,30,40@90s ": {},
	} {
		box := strings.Count(text, ",") > 1
		got, err := option.ParseHint(text, true, box)
		if bad := want.Click == nil && want.Box == nil; bad != (err != nil) || !bad && !reflect.DeepEqual(got, want) {
			t.Errorf("%q: %+v, %v", text, got, err)
		}
	}
	for _, text := range []string{"", "12", "12,", "a,b", "1,2,3", "-1,2", "1,2@", "1,2@x", "1,2@-1", "NaN,1", "Inf,1", "70000,1", "1,2@1e9"} {
		if h, err := option.ParseHint(text, true, false); err == nil {
			t.Errorf("%q is taken: %+v", text, h)
		}
	}
	if h, err := option.ParseHint("1,2,0,5", false, true); err == nil {
		t.Errorf("a box without width is taken: %+v", h)
	}
	for text, want := range map[string]option.Hint{
		"m.png":      {Keep: true, Mask: "m.png"},
		"m.png@2":    {Keep: true, Mask: "m.png", At: 2 * time.Second},
		"a@home.png": {Keep: true, Mask: "a@home.png"},
	} {
		if got, err := option.ParseMaskHint(text, true); err != nil || !reflect.DeepEqual(got, want) {
			t.Errorf("%q: %+v, %v", text, got, err)
		}
	}
}

// A hint survives JSON, in which its moment is in seconds.
func TestHintJSON(t *testing.T) {
	t.Parallel()
	var h option.Hint
	text := `{"keep":true,"stroke":[[1,2],[3.5,4]],"radius":6,"t":1.5}`
	if err := json.Unmarshal([]byte(text), &h); err != nil {
		t.Fatal(err)
	}
	if h.At != 1500*time.Millisecond || len(h.Stroke) != 2 || h.Radius != 6 || !h.Keep {
		t.Errorf("%+v", h)
	}
	if got, err := json.Marshal(h); err != nil || string(got) != text {
		t.Errorf("%s, %v", got, err)
	}
}

// A form's hints are JSON and name no file. The error tells which hint is wrong, and why.
func TestParseHints(t *testing.T) {
	t.Parallel()
	one := `{"keep":false,"t":0.29,"click":[1.5,2]}`
	for text, want := range map[string][]option.Hint{
		`[]`:            nil,
		`[` + one + `]`: {{At: 290 * time.Millisecond, Click: &[2]float64{1.5, 2}}},
		`[{"keep":true,"box":[1,2,3,4]}, {"keep":true,"stroke":[[1,2],[3,4]],"radius":6}]`: {
			{Keep: true, Box: &[4]float64{1, 2, 3, 4}}, {Keep: true, Stroke: [][2]float64{{1, 2}, {3, 4}}, Radius: 6}},
	} {
		if got, err := option.ParseHints(text); err != nil || !reflect.DeepEqual(got, want) {
			t.Errorf("%s: %+v, %v", text, got, err)
		}
	}
	for text, want := range map[string]string{
		"":        "must be a JSON array of hints",
		"null":    "must be a JSON array of hints",
		`{}`:      "must be a JSON array of hints",
		`[` + one: "must be a JSON array of hints",
		`[null]`:  "number 1: keep must be true or false",
		`[1]`:     "number 1: a hint must not be a JSON number",
		`[` + one + `,{"keep":true,"colour":"red"}]`:      `number 2: unknown field "colour"`,
		`[{"keep":1,"click":[1,2]}]`:                      "number 1: keep must not be a JSON number",
		`[{"click":[1,2]}]`:                               "number 1: keep must be true or false",
		`[{"keep":true,"click":[1]}]`:                     "number 1: click must be 2 numbers, x,y",
		`[{"keep":true,"box":[1,2,3]}]`:                   "number 1: box must be 4 numbers, x,y,w,h",
		`[{"keep":true,"stroke":[[1,2],[3]]}]`:            "number 1: each point of stroke must be 2 numbers, x,y",
		`[{"keep":true,"t":-1,"click":[1,2]}]`:            "number 1: t must be a time in seconds, from 0 to 10000000",
		`[{"keep":true,"t":1e300,"click":[1,2]}]`:         "number 1: t must be a time in seconds, from 0 to 10000000",
		`[{"keep":true,"mask":"/etc/passwd"}]`:            "number 1: mask names a file, which is for the command line alone",
		`[{"keep":true}]`:                                 "number 1 must have one of click, box and stroke (of at most 256 points), with places not below 0",
		`[{"keep":true,"click":[-1,2]}]`:                  "number 1 must have one of click, box and stroke (of at most 256 points), with places not below 0",
		`[` + strings.Repeat(one+",", 64) + one + `]`:     "must be at most 64",
		`[` + strings.Repeat(" ", option.HintBytes) + `]`: "must be at most 65536 bytes",
	} {
		var o option.Options
		if err := o.Set("hints", text); err == nil || err.Error() != "hints "+want || o.Hints != nil {
			t.Errorf("%.80s: %v", text, err)
		}
	}
}

// Hints that do not fit a clip are refused by their number.
func TestCheckHints(t *testing.T) {
	t.Parallel()
	at := func(x, y float64, at time.Duration) option.Hint {
		return option.Hint{Keep: true, Click: &[2]float64{x, y}, At: at}
	}
	for name, c := range map[string]struct {
		o   option.Options
		bad string
	}{
		"inside":          {option.Options{Hints: []option.Hint{at(99, 49, 1999*time.Millisecond)}}, ""},
		"outside":         {option.Options{Hints: []option.Hint{at(1, 1, 0), at(100, 1, 0)}}, "hints number 2 (keep 100,1) is outside the picture of 100×50 pixels"},
		"after the end":   {option.Options{Hints: []option.Hint{at(1, 1, 2*time.Second)}}, "hints number 1 (keep 1,1@2) is after the end at 2 s"},
		"after its end":   {option.Options{End: time.Second, Hints: []option.Hint{at(1, 1, time.Second)}}, "hints number 1 (keep 1,1@1) is after the end at 1 s"},
		"before its part": {option.Options{Start: time.Second, Hints: []option.Hint{at(1, 1, 0)}}, "hints number 1 (keep 1,1) is before the chosen part, which begins at 1 s"},
	} {
		err := c.o.CheckHints(100, 50, 2*time.Second)
		if c.bad == "" && err != nil || c.bad != "" && (err == nil || err.Error() != c.bad) {
			t.Errorf("%s: %v", name, err)
		}
	}
	late := option.Options{End: time.Second, Hints: []option.Hint{at(1, 1, time.Second)}}
	if err := late.CheckHints(100, 50, 0); err == nil || err.Error() != "hints number 1 (keep 1,1@1) is after the end at 1 s" {
		t.Errorf("after its end, of a clip of unknown length: %v", err)
	}
}

func TestHintsAreChecked(t *testing.T) {
	t.Parallel()
	click := option.Hint{Click: &[2]float64{1, 2}}
	for name, c := range map[string]struct {
		o   option.Options
		bad string // part of the message; empty for none
	}{
		"one":            {option.Options{Hints: []option.Hint{click}}, ""},
		"the most":       {option.Options{Hints: make64(click)}, ""},
		"too many":       {option.Options{Hints: append(make64(click), click)}, "at most 64"},
		"no form":        {option.Options{Hints: []option.Hint{{Keep: true}}}, "one of click"},
		"two forms":      {option.Options{Hints: []option.Hint{{Click: &[2]float64{}, Mask: "m.png"}}}, "one of click"},
		"an early one":   {option.Options{Hints: []option.Hint{{Click: &[2]float64{}, At: -1}}}, "below 0"},
		"a long stroke":  {option.Options{Hints: []option.Hint{{Stroke: make([][2]float64, 257)}}}, "256 points"},
		"an empty one":   {option.Options{Hints: []option.Hint{{Stroke: [][2]float64{}}}}, "one of click"},
		"a huge brush":   {option.Options{Hints: []option.Hint{{Stroke: make([][2]float64, 2), Radius: 501}}}, "one of click"},
		"with fast":      {option.Options{Method: option.Fast, Hints: []option.Hint{click}}, "method fast"},
		"without motion": {option.Options{NoMotion: true, Hints: []option.Hint{click}}, "need motion"},
	} {
		err := c.o.Validate()
		if c.bad == "" && err != nil || c.bad != "" && (err == nil || !strings.Contains(err.Error(), c.bad)) {
			t.Errorf("%s: %v", name, err)
		}
	}
}

func make64(h option.Hint) []option.Hint {
	all := make([]option.Hint, option.MaxHints)
	for i := range all {
		all[i] = h
	}
	return all
}

func TestHintReaches(t *testing.T) {
	t.Parallel()
	for _, c := range []struct {
		hint option.Hint
		want bool
	}{
		{option.Hint{Click: &[2]float64{99, 49}}, true},
		{option.Hint{Click: &[2]float64{100, 0}}, false},
		{option.Hint{Box: &[4]float64{90, 40, 10, 10}}, true},
		{option.Hint{Box: &[4]float64{90, 40, 11, 10}}, false},
		{option.Hint{Stroke: [][2]float64{{1, 1}, {5, 50}}}, false},
		{option.Hint{Mask: "m.png"}, true},
	} {
		if got := c.hint.Reaches(100, 50); got != c.want {
			t.Errorf("%v reaches: %t", c.hint, got)
		}
	}
}
