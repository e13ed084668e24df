package option

import (
	"bytes"
	"cmp"
	"encoding/json"
	"errors"
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

// writtenHint is a Hint as it is read, so that what is missing can be told from a zero.
type writtenHint struct {
	Keep   *bool       `json:"keep"`
	T      float64     `json:"t"`
	Click  []float64   `json:"click"`
	Box    []float64   `json:"box"`
	Stroke [][]float64 `json:"stroke"`
	Radius float64     `json:"radius"`
	Mask   string      `json:"mask"`
}

// UnmarshalJSON reads what MarshalJSON writes, and nothing else.
func (h *Hint) UnmarshalJSON(text []byte) error {
	var v writtenHint
	d := json.NewDecoder(bytes.NewReader(text))
	d.DisallowUnknownFields()
	var wrong *json.UnmarshalTypeError
	switch err := d.Decode(&v); {
	case errors.As(err, &wrong):
		return fmt.Errorf("%s must not be a JSON %s", cmp.Or(wrong.Field, "a hint"), wrong.Value)
	case err != nil:
		return errors.New(strings.TrimPrefix(err.Error(), "json: "))
	case v.Keep == nil:
		return errors.New("keep must be true or false")
	case !Moment.has(v.T):
		return fmt.Errorf("t must be a time in seconds, from %s", Moment.Text())
	case v.Click != nil && len(v.Click) != 2:
		return errors.New("click must be 2 numbers, " + clickForm)
	case v.Box != nil && len(v.Box) != 4:
		return errors.New("box must be 4 numbers, " + boxForm)
	case slices.ContainsFunc(v.Stroke, func(p []float64) bool { return len(p) != 2 }):
		return errors.New("each point of stroke must be 2 numbers, " + clickForm)
	}
	*h = Hint{Keep: *v.Keep, At: Seconds(v.T), Radius: v.Radius, Mask: v.Mask}
	if v.Click != nil {
		h.Click = (*[2]float64)(v.Click)
	}
	if v.Box != nil {
		h.Box = (*[4]float64)(v.Box)
	}
	if v.Stroke != nil {
		h.Stroke = make([][2]float64, len(v.Stroke))
	}
	for i, p := range v.Stroke {
		h.Stroke[i] = [2]float64(p)
	}
	return nil
}

// ParseHints reads a JSON array of hints, of at most HintBytes, as a form has it. A form
// names no file, so a hint with a mask is refused. The error tells which one is wrong.
func ParseHints(text string) ([]Hint, error) {
	if len(text) > HintBytes {
		return nil, fmt.Errorf("must be at most %d bytes", HintBytes)
	}
	var written []json.RawMessage
	if err := json.Unmarshal([]byte(text), &written); err != nil || written == nil {
		return nil, errors.New("must be a JSON array of hints")
	}
	if len(written) > MaxHints {
		return nil, errors.New(tooManyHints())
	}
	var all []Hint
	for i, one := range written {
		var h Hint
		if err := json.Unmarshal(one, &h); err != nil {
			return nil, fmt.Errorf("number %d: %w", i+1, err)
		}
		switch {
		case h.Mask != "":
			return nil, fmt.Errorf("number %d: mask names a file, which is for the command line alone", i+1)
		case !h.valid():
			return nil, fmt.Errorf("number %d must have one of click, box and stroke (of at most %d points), with places not below 0", i+1, StrokePoints)
		}
		all = append(all, h)
	}
	return all, nil
}

// The bounds of hints.
const (
	MaxHints     = 64
	StrokePoints = 256
	BrushRadius  = 500 // pixels, at most
	farthest     = 1 << 16

	HintBytes = 64 << 10 // of hints that a form gives, as JSON
)

// The ways to write a Hint, without the moment, that ParseHint knows.
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
	switch {
	case h.At < 0:
		return h, errTime
	case !h.valid() && box:
		return h, fmt.Errorf("must be %s in pixels, each from 0 to %d, and w and h from 1", form, farthest-1)
	case !h.valid():
		return h, fmt.Errorf("must be %s in pixels, each from 0 to %d", form, farthest-1)
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
		name += "@" + secondsText(h.At)
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

// CheckHints refuses hints, by an *Error, that do not fit a clip of width × height upright
// pixels and a duration; 0 is not known.
func (o Options) CheckHints(width, height int, duration time.Duration) error {
	end := duration
	if o.End > 0 && (end == 0 || o.End < end) {
		end = o.End
	}
	for i, h := range o.Hints {
		wrong := func(format string, a ...any) error {
			return &Error{Field: "hints", Reason: fmt.Sprintf("number %d (%s) ", i+1, h) + fmt.Sprintf(format, a...)}
		}
		switch {
		case !h.Reaches(width, height):
			return wrong("is outside the picture of %d×%d pixels", width, height)
		case h.At < o.Start:
			return wrong("is before the chosen part, which begins at %s s", secondsText(o.Start))
		case h.At > 0 && end > 0 && h.At >= end:
			return wrong("is after the end at %s s", secondsText(end))
		}
	}
	return nil
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

func tooManyHints() string { return fmt.Sprintf("must be at most %d", MaxHints) }

// hints is the option of that name.
func hints() field {
	f := ruled("hints",
		rule{tooManyHints(), func(o Options) bool { return len(o.Hints) <= MaxHints }},
		rule{fmt.Sprintf("must each have one of click, box, stroke (of at most %d points) and mask, with places and times not below 0", StrokePoints), func(o Options) bool {
			return !slices.ContainsFunc(o.Hints, func(h Hint) bool { return !h.valid() })
		}},
		rule{"are not for method fast", func(o Options) bool { return len(o.Hints) == 0 || o.Method != Fast }},
		rule{"need motion", func(o Options) bool { return len(o.Hints) == 0 || !o.NoMotion }},
	)
	f.read = func(o *Options, text string) error {
		all, err := ParseHints(text)
		if err == nil {
			o.Hints = all
		}
		return err
	}
	return f
}
