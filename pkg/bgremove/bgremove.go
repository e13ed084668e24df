// Package bgremove takes the background out of animations, video and pictures. It
// reads GIF, MP4, MOV, WebM, Matroska and AVI, animated and still PNG, WebP and AVIF,
// JPEG and HEIC. It writes the formats of package option, such as GIF and WebM, and
// keeps every frame and its time:
//
//	r := bgremove.New(bgremove.Config{})
//	result, err := r.Remove(ctx, "clip.gif", "clip-nobg.gif", bgremove.Defaults(), bgremove.Extras{})
//
// Videos, AVIF and HEIC are decoded by the ffmpeg program, 5.1 or newer, which must be
// installed. It also encodes all formats but GIF, APNG and PNG.
//
// Errors wrap an *Error, for errors.As. Its Kind groups them by remedy, its Cause
// tells them apart, and its other fields are the facts: a path, an option, the
// name of a network or codec, a limit.
package bgremove

import (
	"cmp"
	"context"
	"errors"
	"slices"
	"sync"

	"github.com/bgremove/bgremove/internal/media"
	"github.com/bgremove/bgremove/internal/media/ffmpeg"
	"github.com/bgremove/bgremove/pkg/option"
)

// Config configures a Remover. The zero value is ready to use.
type Config struct {
	// FFmpeg and FFprobe are the programs' paths; empty means in PATH.
	FFmpeg, FFprobe string
	// Library is ONNX Runtime's shared library, or its folder; empty looks
	// beside the executable, in the user's cache and in the system.
	Library string
	// ModelsDir is the folder of installed models; empty is the user's cache.
	ModelsDir string
	// Device is where networks run; RequireGPU makes it an error if that is
	// the CPU.
	Device     Device
	RequireGPU bool
	// TempDir is where mattes, and the decoded frames of short clips, are kept between two passes
	// over a clip; empty is the system's.
	TempDir string
	// Inputs are the only contents that are read, for programs that do not read
	// all; empty means all.
	Inputs []option.Input
	// Limits bound the work that a file may demand.
	Limits Limits
	// Sandbox is how ffmpeg and ffprobe are run; empty is SandboxAuto.
	Sandbox Sandbox
	// ChildLimits bound each ffmpeg and ffprobe in the sandbox, and files that
	// are written without them. ProbeLimits bound children that only read
	// metadata.
	ChildLimits, ProbeLimits ChildLimits
	// Audit is called, with SandboxAudit, for each system call that the
	// sandbox's list lacks. It gets the program, ffmpeg or ffprobe, and the
	// call's name. It is called once for each, from any goroutine, one at a
	// time.
	Audit func(program, call string)
	// Workers is the number of frames processed at once; 0 means one for each
	// core.
	Workers int
	// Memory bounds the pictures in flight, in bytes; 0 is what keeps the
	// workers busy, some 70 MB at 1080p with two.
	Memory int64
}

// Limits bound the work that a file may demand, before any of its pictures is
// decoded. Zero fields have the defaults.
type Limits struct {
	MaxSide   int   // longest side in pixels; 16,384
	MaxArea   int64 // width × height; 64 × 10^6
	MaxFrames int   // 100,000 of a GIF, and any number of a video
	MaxPixels int64 // width × height × frames; 40 × 10^9 of a GIF, and any number of a video
}

// Remover removes backgrounds. It is safe for concurrent use. Close it when it
// is not needed any more, if a network may have run.
type Remover struct {
	config Config

	toolsMu sync.Mutex
	located *ffmpeg.Tools // once located
	tools   *ffmpeg.Tools // once confirmed: those located, or others

	networksMu sync.Mutex // of networks
	networks   map[string]*opening
	openMu     sync.Mutex // held while one is opened
}

// New makes a Remover. Nothing is opened or started before it is used.
func New(c Config) *Remover {
	if c.Sandbox == SandboxOn {
		c.ChildLimits, c.ProbeLimits = c.ChildLimits.orDefaults(DefaultChildLimits()), c.ProbeLimits.orDefaults(DefaultProbeLimits())
	}
	return &Remover{config: c}
}

// takes reports whether files of a container are read.
func (r *Remover) takes(c media.Container) bool {
	only := r.config.Inputs
	return len(only) == 0 || slices.Contains(only, option.Input(c))
}

// video returns the limits of a video. Its length is bounded by its file's
// size.
func (l Limits) video() media.Limits {
	l.MaxSide = cmp.Or(l.MaxSide, 16384)
	l.MaxArea = cmp.Or(l.MaxArea, 64_000_000)
	return media.Limits(l)
}

// gif returns the limits of a GIF. A few bytes of it can be many frames.
func (l Limits) gif() media.Limits {
	l.MaxFrames = cmp.Or(l.MaxFrames, 100_000)
	l.MaxPixels = cmp.Or(l.MaxPixels, 40_000_000_000)
	return l.video()
}

// ffmpeg finds the programs, once.
func (r *Remover) ffmpeg(ctx context.Context) (*ffmpeg.Tools, error) {
	r.toolsMu.Lock()
	defer r.toolsMu.Unlock()
	if r.tools != nil {
		return r.tools, nil
	}
	t, err := r.confirmFFmpegLocked(ctx)
	if ctx.Err() != nil {
		return nil, context.Cause(ctx)
	}
	if err != nil {
		return nil, noFFmpeg(err)
	}
	r.tools = t
	return t, nil
}

// noFFmpeg is the error of programs that were not found, or do not work.
func noFFmpeg(err error) error {
	if known := (*Error)(nil); errors.As(err, &known) {
		return err
	}
	return &Error{Kind: Missing, Cause: NoFFmpeg, Reason: err.Error(), Err: err}
}
