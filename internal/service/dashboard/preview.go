package dashboard

import (
	"bytes"
	"encoding/json"
	"errors"
	"image"
	"image/png"
	"net/http"
	"slices"
	"time"

	"github.com/bgremove/bgremove/internal/service/editor"
	"github.com/bgremove/bgremove/internal/service/job"
	"github.com/bgremove/bgremove/pkg/option"
)

// previewBytes bounds the body of a request for a preview.
const previewBytes = option.HintBytes + 1000

// busyFor is when a clip that cannot be studied now may be asked for again.
const busyFor = 2 * time.Second

// preview answers scripts with the matte of one frame of a job's clip, as hints would
// make it: a PNG, white where the subject is. It costs nothing. While the clip is being
// studied the answer is the share that is done, and while hints are followed to the frame it says so.
func (d *Dashboard) preview(v *visit) error {
	if err := v.Throttle.Request(v.Context(), v.who.ID); err != nil {
		return err // no route of the API counts it
	}
	j, err := v.find(v.PathValue("id"))
	if err != nil {
		return err
	}
	if d.WithoutNetwork || slices.Contains(d.Unguided, j.Options.Model) {
		return errNoPage
	}
	at, hints, err := v.wishes(j.Job)
	if err != nil {
		return err
	}
	m, err := d.Editors.Preview(v.Context(), j.Job, at, hints)
	if unfinished := (*editor.UnfinishedError)(nil); errors.As(err, &unfinished) {
		return v.json(http.StatusAccepted, unfinished)
	}
	if err != nil {
		return err
	}
	var b bytes.Buffer
	encoder := png.Encoder{CompressionLevel: png.BestSpeed}
	if err := encoder.Encode(&b, &image.Gray{Pix: m.Pix, Stride: m.Stride, Rect: m.Rect}); err != nil {
		return err
	}
	return v.data(http.StatusOK, "image/png", b.Bytes())
}

// wishes are the time of the frame and the hints that a script asks for.
func (v *visit) wishes(j job.Job) (at time.Duration, hints []option.Hint, err error) {
	var body struct {
		T     float64         `json:"t"`
		Hints json.RawMessage `json:"hints"`
	}
	if err := json.NewDecoder(http.MaxBytesReader(v.w, v.Body, previewBytes)).Decode(&body); err != nil {
		return 0, nil, errForm
	}
	hints, err = option.ParseHints(string(body.Hints))
	if err != nil {
		return 0, nil, errForm
	}
	at = option.Seconds(body.T)
	o := j.Options
	o.Hints = hints
	if at < 0 || o.CheckFor(j.Media) != nil {
		return 0, nil, errForm
	}
	return at, hints, nil
}

// json answers with JSON.
func (v *visit) json(status int, body any) error {
	text, err := json.Marshal(body)
	if err != nil {
		return err
	}
	return v.data(status, "application/json", text)
}
