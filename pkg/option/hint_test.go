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
	for _, bad := range []string{`{"keep":true,"colour":"red"}`, `{"keep":1}`, `[]`, `{"click":[1]}`} {
		var h option.Hint
		if err := json.Unmarshal([]byte(bad), &h); err == nil && h.Click == nil {
			t.Errorf("%s is taken: %+v", bad, h)
		}
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
