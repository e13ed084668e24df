package bgremove

import (
	"fmt"
	"math"
	"strings"

	"github.com/bgremove/bgremove/internal/pipeline"
)

// Quality says how a result looks, judged by its mattes over the whole clip.
type Quality struct {
	// Kept is the share of the input's visible area that is left, 0 to 1.
	Kept     float64   `json:"kept"`
	Warnings []Warning `json:"warnings"`
}

// WarningCode names a possible fault of a result.
type WarningCode string

// The codes.
const (
	NothingRemoved WarningCode = "nothing_removed"
	NothingLeft    WarningCode = "nothing_left"
	Haze           WarningCode = "haze"         // much is neither there nor gone
	Halo           WarningCode = "halo"         // the backdrop's colour is left at edges
	Fragments      WarningCode = "fragments"    // many pieces
	Flicker        WarningCode = "flicker"      // parts come and go from frame to frame
	TouchesEdge    WarningCode = "touches_edge" // the picture's edge cuts the subject off
)

// Warning is something that may be wrong with a result.
type Warning struct {
	Code    WarningCode `json:"code"`
	Message string      `json:"message"` // one line for people
}

// A result beyond these bounds gets a warning. They were chosen so that almost
// no real clip that looks right gets one; docs/measurements.md has the rates.
const (
	maxKept, minKept = 0.97, 0.0005
	maxHaze          = 0.35
	maxHalo          = 0.06
	maxFragments     = 12
	maxPops          = 0.1
	maxTouchesEdge   = 0.9
)

// assessQuality puts numbers in words. Of a clip that was cut out before all may be kept.
func assessQuality(q pipeline.Quality, cutBefore bool) Quality {
	out := Quality{Kept: math.Round(1000*q.Kept) / 1000, Warnings: []Warning{}}
	warn := func(wrong bool, code WarningCode, format string, args ...any) {
		if wrong {
			out.Warnings = append(out.Warnings, Warning{code, fmt.Sprintf(format, args...)})
		}
	}
	percent := func(share float64) int { return int(100 * share) }
	warn(q.Kept >= maxKept && !cutBefore, NothingRemoved, "%d %% of the picture was kept: the backdrop was not recognised", percent(q.Kept))
	warn(q.Kept <= minKept, NothingLeft, "nothing was kept: no subject was recognised")
	if q.Kept >= maxKept || q.Kept <= minKept {
		return out // the rest would only say it again
	}
	warn(q.Haze > maxHaze, Haze, "%d %% of what was kept is less than half there", percent(q.Haze))
	warn(q.Halo > maxHalo, Halo, "%d %% of the pixels at edges have the backdrop's colour", percent(q.Halo))
	warn(q.Fragments > maxFragments, Fragments, "what was kept is in %d pieces", q.Fragments)
	warn(q.Pops > maxPops, Flicker, "parts come and go: %d %% of the frames differ much from those beside them", percent(q.Pops))
	warn(q.TouchesEdge > maxTouchesEdge, TouchesEdge, "the picture's left, top or right edge cuts off what was kept")
	return out
}

// strictError is the error of a result that is warned of, with Strict.
func (q Quality) strictError(path string) error {
	var messages []string
	for _, w := range q.Warnings {
		messages = append(messages, w.Message)
	}
	return &Error{Kind: Failed, Path: path, Reason: strings.Join(messages, "; ")}
}
