package dashboard

import (
	"encoding/json"
	"fmt"
	"html/template"
	"strconv"
	"strings"
	"time"

	"github.com/dustin/go-humanize"

	"github.com/bgremove/bgremove/internal/service/account"
	"github.com/bgremove/bgremove/internal/service/job"
	"github.com/bgremove/bgremove/internal/service/price"
	"github.com/bgremove/bgremove/pkg/option"
)

// functions are the functions of the templates.
func (d *Dashboard) functions() template.FuncMap {
	return template.FuncMap{
		"asset": d.assets.path, "option": optionField,
		"hints": hintsText, "hintBounds": hintBounds,
		"drawnScenes": option.DrawnScenes,
		"uploads":     func() string { return option.List(option.UploadExtensions(), "or") },
		"uploadTypes": func() string { return strings.Join(option.UploadTypes(), ",") },
		"priceRule":   func() string { return price.Rule },
		"bytes":       bytesText, "seconds": secondsText, "span": job.SpanText, "count": countText, "forCredits": d.forCredits, "frames": framesText, "jobCount": jobsText, "signed": signedText,
		"dollars": dollarsText, "period": periodText, "when": whenText, "stateName": stateName,
		"reason": reason, "reasonShort": reasonShort, "entry": entryText, "short": shortID,
	}
}

// optionField describes an option, for the form.
func optionField(name string) (option.Field, error) {
	f, ok := option.FieldOf(name)
	if !ok {
		return f, fmt.Errorf("%s is no option", name)
	}
	return f, nil
}

// hintsText is hints as a form takes them.
func hintsText(hints []option.Hint) (string, error) {
	if len(hints) == 0 {
		return "", nil
	}
	text, err := json.Marshal(hints)
	return string(text), err
}

// bounds are those of hints, for the script that makes them.
type bounds struct{ Hints, Points, Bytes, Radius int }

func hintBounds() bounds {
	return bounds{option.MaxHints, option.StrokePoints, option.HintBytes, option.BrushRadius}
}

// bytesText shows a size with two digits and a decimal unit.
func bytesText(n int64) string { return humanize.Bytes(uint64(max(n, 0))) }

func secondsText(d time.Duration) string { return strconv.FormatFloat(d.Seconds(), 'f', 2, 64) + " s" }

// countText groups digits by thousands.
func countText(n int64) string { return strings.Replace(humanize.Comma(n), "-", "−", 1) }

func signedText(n int64) string {
	if n > 0 {
		return "+" + countText(n)
	}
	return countText(n)
}

func creditsText(n int64) string { return counted(n, "credit") }

// forCredits is the price on a button that makes a job; empty where jobs cost nothing.
func (d *Dashboard) forCredits(n int64) string {
	if d.Unlimited {
		return ""
	}
	return " for " + creditsText(n)
}

func framesText(n int) string { return counted(int64(n), "frame") }

func jobsText(n int) string { return counted(int64(n), "job") }

// counted is a number of things, whose plural ends in s.
func counted(n int64, thing string) string {
	if n == 1 {
		return "1 " + thing
	}
	return countText(n) + " " + thing + "s"
}

func dollarsText(cents int64) string { return fmt.Sprintf("$%d.%02d", cents/100, cents%100) }

// periodText is a period after the words in before, or empty for a single
// purchase.
func periodText(p account.Period, before string) string {
	if p == account.Once {
		return ""
	}
	return before + string(p)
}

// whenText shows a time; scripts convert it to the reader's own zone.
func whenText(t time.Time) template.HTML {
	t = t.UTC()
	return template.HTML(`<time datetime="` + t.Format(time.RFC3339) + `">` + t.Format("2 Jan 2006, 15:04 UTC") + `</time>`) //nolint:gosec // digits and names of months
}

var stateNames = map[job.State]string{
	job.Queued: "Waiting", job.Processing: "Working", job.Done: "Done", job.Failed: "Failed", job.Cancelled: "Cancelled",
}

func stateName(s job.State) string { return stateNames[s] }

// reason says why a job failed, and what may help.
func reason(c job.Code) string {
	switch c {
	case job.UnreadableFile:
		return "The file cannot be read: it is damaged, or its type is not what its name says."
	case job.TimedOut:
		return "The job took too long. Try a shorter or smaller clip."
	}
	return "Removing the background failed. Running it again may help."
}

func reasonShort(c job.Code) string {
	switch c {
	case job.UnreadableFile:
		return "cannot be read"
	case job.TimedOut:
		return "took too long"
	}
	return "went wrong"
}

func entryText(k account.Kind) string {
	switch k {
	case account.Charge:
		return "Charge for"
	case account.Refund:
		return "Refund for"
	case account.Reversal:
		return "Credits taken back"
	}
	return "Credits added"
}

// shortID is the part of an id that distinguishes it.
func shortID(id string) string {
	kind, random, found := strings.Cut(id, "_")
	if !found || len(random) < 6 {
		return id
	}
	return kind + " …" + random[len(random)-6:]
}
