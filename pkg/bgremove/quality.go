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
	mostKept, leastKept = 0.97, 0.0005
	mostHaze            = 0.35
	mostHalo            = 0.06
	mostFragments       = 12
	mostPops            = 0.1
	mostCut             = 0.9
)

// judge puts numbers in words. Of a clip that was cut out before all may be kept.
func judge(q pipeline.Quality, cutBefore bool) Quality {
	out := Quality{Kept: math.Round(1000*q.Kept) / 1000, Warnings: []Warning{}}
	warn := func(wrong bool, code WarningCode, format string, args ...any) {
		if wrong {
			out.Warnings = append(out.Warnings, Warning{code, fmt.Sprintf(format, args...)})
		}
	}
	percent := func(share float64) int { return int(100 * share) }
	warn(q.Kept >= mostKept && !cutBefore, NothingRemoved, "%d %% of the picture was kept: the backdrop was not recognised", percent(q.Kept))
	warn(q.Kept <= leastKept, NothingLeft, "nothing was kept: no subject was recognised")
	if q.Kept >= mostKept || q.Kept <= leastKept {
		return out // the rest would only say it again
	}
	warn(q.Haze > mostHaze, Haze, "%d %% of what was kept is less than half there", percent(q.Haze))
	warn(q.Halo > mostHalo, Halo, "%d %% of the pixels at edges have the backdrop's colour", percent(q.Halo))
	warn(q.Fragments > mostFragments, Fragments, "what was kept is in %d pieces", q.Fragments)
	warn(q.Pops > mostPops, Flicker, "parts come and go: %d %% of the frames differ much from those beside them", percent(q.Pops))
	warn(q.TouchesEdge > mostCut, TouchesEdge, "the picture's left, top or right edge cuts off what was kept")
	return out
}

// refuse is the error of a result that is warned of, with Strict.
func (q Quality) refuse(path string) error {
	var said []string
	for _, w := range q.Warnings {
		said = append(said, w.Message)
	}
	return &Error{Kind: Failed, Path: path, Reason: strings.Join(said, "; ")}
}
