package bgremove

import (
	"context"
	"fmt"
	"runtime"

	"github.com/bgremove/bgremove/internal/media/ffmpeg"
	"github.com/bgremove/bgremove/internal/network/model"
	"github.com/bgremove/bgremove/internal/network/ortlib"
)

// Check is one thing that bgremove can make use of.
type Check struct {
	Name   string `json:"name"`
	OK     bool   `json:"ok"`
	Needed bool   `json:"needed"` // without it no video can be read or written
	Detail string `json:"detail"` // a version and path, or its purpose
	Err    error  `json:"-"`      // why it is not OK; nil if it is
	// Confines is set for the parts of the sandbox around ffmpeg.
	Confines bool `json:"-"`
}

// Diagnosis lists the installed and the missing parts.
type Diagnosis struct {
	Checks []Check `json:"checks"`
}

// Err is the error of the first needed thing that is missing, or nil.
func (d *Diagnosis) Err() error {
	for _, c := range d.Checks {
		if c.Needed && !c.OK {
			return c.Err
		}
	}
	return nil
}

// features are parts of ffmpeg, by ffmpeg's names, and their purposes.
var features = []struct{ name, purpose string }{
	{"libvpx-vp9", "webm output, and transparency of VP9 inputs"},
	{"libvpx", "transparency of VP8 inputs"},
	{"libx264", "mp4 and stacked output"},
	{"prores_ks", "mov output"},
	{ffmpeg.AppleHEVC, "hevc output"},
	{"libwebp", "webp output"},
	{"libaom-av1", "avif output"},
	{"libopus", "sound in webm, where it must be converted"},
	{"aac", "sound in mp4, where it must be converted"},
	{"zscale", "right brightness of HDR inputs"},
	{"tonemap", "right brightness of HDR inputs"},
}

// Diagnose looks for everything that bgremove can make use of.
func (r *Remover) Diagnose(ctx context.Context) *Diagnosis {
	d := &Diagnosis{}
	if tools := r.checkFFmpeg(ctx, d); tools != nil {
		r.checkCodecs(ctx, tools, d)
	}
	r.checkNetworks(ctx, d)
	return d
}

// checkNetworks looks for what AI segmentation needs, and starts it to see
// where networks run.
func (r *Remover) checkNetworks(ctx context.Context, d *Diagnosis) {
	runtime := Check{Name: "ONNX Runtime", Detail: "AI segmentation (method rembg)"}
	var library ortlib.Library
	n, err := r.network(ctx, model.Bundled)
	if err == nil {
		library, err = ortlib.Find(r.config.Library)
	}
	if err != nil {
		runtime.Err = Explain(err)
		runtime.Detail += ": " + err.Error()
		d.Checks = append(d.Checks, runtime)
		return
	}
	info := n.Info()
	runtime.OK, runtime.Detail = true, fmt.Sprintf("%s at %s (%s)", info.Runtime, library.Path, library.Source)
	device := Check{Name: "device", OK: true,
		Detail: fmt.Sprintf("%s (frames at once: %d, threads for each: %d)", info.Provider, info.Sessions, info.Threads)}
	if info.Refused != "" {
		device.Detail += "; not " + info.Refused
	}
	d.Checks = append(d.Checks, runtime, device)
}

// DiagnoseFFmpeg looks only for the programs and what confines them, which is
// quick: for a service that starts.
func (r *Remover) DiagnoseFFmpeg(ctx context.Context) *Diagnosis {
	d := &Diagnosis{}
	r.checkFFmpeg(ctx, d)
	return d
}

// checkFFmpeg returns nil where there is none.
func (r *Remover) checkFFmpeg(ctx context.Context, d *Diagnosis) *ffmpeg.Tools {
	tools, err := r.ffmpeg(ctx)
	if err != nil {
		d.Checks = append(d.Checks, Check{Name: "ffmpeg", Needed: true, Detail: err.Error(), Err: err})
		return nil
	}
	d.Checks = append(d.Checks,
		Check{Name: "ffmpeg", Needed: true, OK: true, Detail: tools.Version + " at " + tools.FFmpeg},
		Check{Name: "ffprobe", Needed: true, OK: true, Detail: tools.FFprobe})
	r.checkSandbox(tools, d)
	return tools
}

// checkCodecs looks for the parts of ffmpeg that not every build has.
func (r *Remover) checkCodecs(ctx context.Context, tools *ffmpeg.Tools, d *Diagnosis) {
	names := make([]string, len(features))
	for i, f := range features {
		names[i] = f.name
	}
	have, err := tools.Codecs(ctx, names...)
	if err != nil {
		d.Checks = append(d.Checks, Check{Name: "ffmpeg's codecs", Detail: err.Error(), Err: noFFmpeg(err)})
		return
	}
	for _, f := range features {
		if f.name == ffmpeg.AppleHEVC && runtime.GOOS != "darwin" {
			continue
		}
		c := Check{Name: "ffmpeg: " + f.name, OK: have[f.name], Detail: f.purpose}
		if !c.OK {
			c.Err = noCodec(f.name, nil)
		}
		d.Checks = append(d.Checks, c)
	}
}
