package bgremove

import (
	"context"

	"github.com/bgremove/bgremove/internal/matte/onnx"
	"github.com/bgremove/bgremove/internal/model"
	"github.com/bgremove/bgremove/internal/ortlib"
)

// Check is one thing that bgremove can make use of.
type Check struct {
	Name   string `json:"name"`
	OK     bool   `json:"ok"`
	Needed bool   `json:"needed"` // without it nothing but GIF and APNG works
	Detail string `json:"detail"` // a version and path, or what it is for
	Hint   string `json:"hint,omitempty"`
}

// Diagnosis says what is installed and what is missing.
type Diagnosis struct {
	Checks []Check `json:"checks"`
}

// Err is the first needed thing that is missing, as an *Error, or nil.
func (d *Diagnosis) Err() error {
	for _, c := range d.Checks {
		if c.Needed && !c.OK {
			return &Error{Kind: Missing, Reason: c.Name + " is missing", Hint: c.Hint}
		}
	}
	return nil
}

// features are parts of ffmpeg, by its own names, and what they are for.
var features = []struct{ name, purpose string }{
	{"libvpx-vp9", "webm output, and transparency of VP9 inputs"},
	{"libvpx", "transparency of VP8 inputs"},
	{"libx264", "mp4 output"},
	{"libopus", "sound in webm, where it must be converted"},
	{"aac", "sound in mp4, where it must be converted"},
	{"zscale", "right brightness of HDR inputs"},
}

// Diagnose looks for everything that bgremove can make use of.
func (r *Remover) Diagnose(ctx context.Context) *Diagnosis {
	d := &Diagnosis{}
	r.checkFFmpeg(ctx, d)
	r.checkNetworks(d)
	return d
}

// checkNetworks looks for what AI segmentation needs.
func (r *Remover) checkNetworks(d *Diagnosis) {
	runtime := Check{Name: "ONNX Runtime", Detail: "AI segmentation (method rembg)", Hint: "bgremove setup"}
	if err := onnx.Supported(); err != nil {
		runtime.Detail = err.Error()
		_, runtime.Hint = advice(err)
	} else if library, err := ortlib.Find(r.config.Library); err == nil {
		runtime.OK, runtime.Detail, runtime.Hint = true, library.Path+" ("+library.Source+")", ""
	}
	best := Check{Name: "model", Detail: "AI segmentation (method rembg)", Hint: "bgremove models pull u2netp"}
	if name, ok := (&model.Store{Dir: r.config.ModelsDir}).Best(); ok {
		best.OK, best.Detail, best.Hint = true, name, ""
	}
	d.Checks = append(d.Checks, runtime, best)
}

func (r *Remover) checkFFmpeg(ctx context.Context, d *Diagnosis) {
	tools, err := r.ffmpeg(ctx)
	if err != nil {
		d.Checks = append(d.Checks, Check{Name: "ffmpeg", Needed: true, Detail: err.Error(), Hint: ffmpegHint})
		return
	}
	d.Checks = append(d.Checks,
		Check{Name: "ffmpeg", Needed: true, OK: true, Detail: tools.Version + " at " + tools.FFmpeg},
		Check{Name: "ffprobe", Needed: true, OK: true, Detail: tools.FFprobe})
	r.checkSandbox(tools, d)
	names := make([]string, len(features))
	for i, f := range features {
		names[i] = f.name
	}
	have, err := tools.Codecs(ctx, names...)
	if err != nil {
		d.Checks = append(d.Checks, Check{Name: "ffmpeg's codecs", Detail: err.Error(), Hint: ffmpegHint})
		return
	}
	for _, f := range features {
		c := Check{Name: "ffmpeg: " + f.name, OK: have[f.name], Detail: f.purpose}
		if !c.OK {
			c.Hint = "install an ffmpeg build with " + f.name
		}
		d.Checks = append(d.Checks, c)
	}
}
