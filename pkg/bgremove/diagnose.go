package bgremove

import (
	"context"
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
	tools, err := r.ffmpeg(ctx)
	if err != nil {
		d.Checks = append(d.Checks, Check{Name: "ffmpeg", Needed: true, Detail: err.Error(), Hint: ffmpegHint})
		return d
	}
	d.Checks = append(d.Checks,
		Check{Name: "ffmpeg", Needed: true, OK: true, Detail: tools.Version + " at " + tools.FFmpeg},
		Check{Name: "ffprobe", Needed: true, OK: true, Detail: tools.FFprobe})
	names := make([]string, len(features))
	for i, f := range features {
		names[i] = f.name
	}
	have, err := tools.Codecs(ctx, names...)
	if err != nil {
		d.Checks = append(d.Checks, Check{Name: "ffmpeg's codecs", Detail: err.Error(), Hint: ffmpegHint})
		return d
	}
	for _, f := range features {
		c := Check{Name: "ffmpeg: " + f.name, OK: have[f.name], Detail: f.purpose}
		if !c.OK {
			c.Hint = "install an ffmpeg build with " + f.name
		}
		d.Checks = append(d.Checks, c)
	}
	return d
}
