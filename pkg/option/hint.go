package option

import (
	"bytes"
	"encoding/json"
	"fmt"
	"math"
	"slices"
	"strconv"
	"strings"
	"time"
)

// Hint says of one moment that something in the picture is wanted, or is not. It has exactly
// one of Click, Box, Stroke and Mask. Places are in pixels of the upright input.
type Hint struct {
	// Keep says that what is marked is subject, and otherwise that it is not.
	Keep bool `json:"keep"`
	// At is the moment, by the input's time: the hint is for the frame that is shown then.
	At time.Duration `json:"-"`
	// Click is the x and y of a place on the thing.
	Click *[2]float64 `json:"click,omitempty"`
	// Box is the x and y, width and height of a box around the thing.
	Box *[4]float64 `json:"box,omitempty"`
	// Stroke is the x and y of the points of a brush's line on the thing, within
	// StrokePoints, and Radius the brush's.
	Stroke [][2]float64 `json:"stroke,omitempty"`
	Radius float64      `json:"radius,omitempty"`
	// Mask is the path of a picture of the input's size in which what is marked is opaque;
	// if all of that is, what is bright.
	Mask string `json:"mask,omitempty"`
}

// hintText is a Hint with its moment in seconds.
type hintText struct {
	hintFields
	T float64 `json:"t,omitempty"`
}

type hintFields Hint

// MarshalJSON writes the moment in seconds, as "t".
func (h Hint) MarshalJSON() ([]byte, error) {
	return json.Marshal(hintText{hintFields(h), h.At.Seconds()})
}

// UnmarshalJSON reads what MarshalJSON writes, and nothing else.
func (h *Hint) UnmarshalJSON(text []byte) error {
	var v hintText
	d := json.NewDecoder(bytes.NewReader(text))
	d.DisallowUnknownFields()
	if err := d.Decode(&v); err != nil {
		return err
	}
	*h = Hint(v.hintFields)
	h.At = time.Duration(v.T * float64(time.Second))
	return nil
}

// The bounds of hints.
const (
	MaxHints     = 64
	StrokePoints = 256
	BrushRadius  = 500 // pixels, at most
	farthest     = 1 << 16
)

// hintForms are the ways to write a Hint, without the moment, that ParseHint knows.
const (
	clickForm = "x,y"
	boxForm   = "x,y,w,h"
)

// ParseHint reads a click, "x,y", or a box, "x,y,w,h". A moment may follow, "@t", in one of
// the forms that ParseTime knows.
func ParseHint(text string, keep, box bool) (Hint, error) {
	h, form := Hint{Keep: keep}, clickForm
	if box {
		form = boxForm
	}
	places, err := h.cutMoment(text)
	if err != nil {
		return h, err
	}
	var values []float64
	for _, part := range strings.Split(places, ",") {
		v, err := strconv.ParseFloat(strings.TrimSpace(part), 64)
		if err != nil || math.IsNaN(v) || math.IsInf(v, 0) {
			return h, fmt.Errorf("must be %s in pixels, or %s@time", form, form)
		}
		values = append(values, v)
	}
	switch {
	case !box && len(values) == 2:
		h.Click = (*[2]float64)(values)
	case box && len(values) == 4:
		h.Box = (*[4]float64)(values)
	default:
		return h, fmt.Errorf("must be %s in pixels, or %s@time", form, form)
	}
	if !h.valid() {
		return h, fmt.Errorf("must be %s in pixels, none below 0", form)
	}
	return h, nil
}

// ParseMaskHint reads "FILE" or "FILE@t" with a moment as in ParseHint.
func ParseMaskHint(text string, keep bool) (Hint, error) {
	h := Hint{Keep: keep}
	file, err := h.cutMoment(text)
	if err != nil { // the name of a file may have an @
		file = text
	}
	if h.Mask = file; file == "" {
		return h, fmt.Errorf("must be a picture's name, or name@time")
	}
	return h, nil
}

// cutMoment sets the moment that a text ends with, if any, and returns the rest.
func (h *Hint) cutMoment(text string) (rest string, err error) {
	i := strings.LastIndex(text, "@")
	if i < 0 {
		return text, nil
	}
	h.At, err = ParseTime(text[i+1:])
	return text[:i], err
}

// String is the hint as it is written on the command line.
func (h Hint) String() string {
	name, places := "drop", []float64(nil)
	if h.Keep {
		name = "keep"
	}
	switch {
	case h.Click != nil:
		places = h.Click[:]
	case h.Box != nil:
		name, places = name+"-box", h.Box[:]
	case h.Mask != "":
		name += "-mask " + h.Mask
	default:
		name += " stroke"
	}
	var text []string
	for _, v := range places {
		text = append(text, strconv.FormatFloat(v, 'f', -1, 64))
	}
	if places != nil {
		name += " " + strings.Join(text, ",")
	}
	if h.At > 0 {
		name += "@" + strconv.FormatFloat(h.At.Seconds(), 'f', -1, 64)
	}
	return name
}

// Reaches reports whether all places of the hint lie in a picture of w × h pixels.
func (h Hint) Reaches(w, height int) bool {
	in := func(x, y float64) bool { return x < float64(w) && y < float64(height) }
	switch {
	case h.Click != nil:
		return in(h.Click[0], h.Click[1])
	case h.Box != nil:
		return in(h.Box[0], h.Box[1]) && h.Box[0]+h.Box[2] <= float64(w) && h.Box[1]+h.Box[3] <= float64(height)
	}
	return !slices.ContainsFunc(h.Stroke, func(p [2]float64) bool { return !in(p[0], p[1]) })
}

// valid reports whether a hint has one form with sensible numbers.
func (h Hint) valid() bool {
	ok, forms := h.At >= 0, 0
	number := func(v float64) bool { return v >= 0 && v < farthest }
	if h.Click != nil {
		forms++
		ok = ok && number(h.Click[0]) && number(h.Click[1])
	}
	if h.Box != nil {
		forms++
		ok = ok && !slices.ContainsFunc(h.Box[:], func(v float64) bool { return !number(v) }) && h.Box[2] >= 1 && h.Box[3] >= 1
	}
	if h.Stroke != nil {
		forms++
		ok = ok && len(h.Stroke) > 0 && len(h.Stroke) <= StrokePoints
		ok = ok && !slices.ContainsFunc(h.Stroke, func(p [2]float64) bool { return !number(p[0]) || !number(p[1]) })
	}
	if h.Mask != "" {
		forms++
	}
	return ok && forms == 1 && h.Radius >= 0 && h.Radius <= BrushRadius && (h.Radius == 0 || h.Stroke != nil)
}

// hints is the option of that name.
func hints() field {
	return ruled("hints",
		rule{fmt.Sprintf("must be at most %d", MaxHints), func(o Options) bool { return len(o.Hints) <= MaxHints }},
		rule{fmt.Sprintf("must each have one of click, box, stroke (of at most %d points) and mask, with places and times not below 0", StrokePoints), func(o Options) bool {
			return !slices.ContainsFunc(o.Hints, func(h Hint) bool { return !h.valid() })
		}},
		rule{"are not for method fast", func(o Options) bool { return len(o.Hints) == 0 || o.Method != Fast }},
		rule{"need motion", func(o Options) bool { return len(o.Hints) == 0 || !o.NoMotion }},
	)
}
