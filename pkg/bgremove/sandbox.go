package bgremove

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"sync"
	"time"

	"github.com/bgremove/bgremove/internal/media/ffmpeg"
	"github.com/bgremove/bgremove/internal/system/sandbox"
)

// Sandbox chooses how ffmpeg and ffprobe run, because they read files from
// strangers. In the sandbox they have no network and start no processes. Of our
// environment they get only PATH and LD_LIBRARY_PATH. They may read the
// system's libraries, the input and the output, and write only the output. They
// may make only the system calls of a list. The sandbox needs Linux, Landlock
// (5.13) for the files, and a program whose main begins with InitSandbox.
type Sandbox string

// The ways to run them. SandboxAuto uses every part that the system offers; an
// ffmpeg that does not start in the sandbox runs without it. Diagnose shows
// which parts work. SandboxOn requires all parts, and uses the default for each
// limit that is 0 in ChildLimits. SandboxOff runs them with our rights.
// SandboxAudit finds out what an ffmpeg needs: it allows system calls that are
// not on the list and passes them to Config.Audit.
const (
	SandboxAuto  Sandbox = "auto"
	SandboxOn    Sandbox = "on"
	SandboxOff   Sandbox = "off"
	SandboxAudit Sandbox = "audit"
)

// InitSandbox makes the sandbox available. It must be the first thing that
// main does: the program runs itself to start a child, and then InitSandbox
// does not return. In programs without it SandboxAuto is SandboxOff.
func InitSandbox() { sandbox.Init() }

// ChildLimits bound each ffmpeg and ffprobe in the sandbox. FileSize also
// bounds files that are written without them. Zero means no limit, or with
// SandboxOn the default.
type ChildLimits struct {
	CPU       time.Duration // of all cores together
	Memory    int64         // bytes; with less than 256 MiB a child may fail to start
	FileSize  int64         // bytes of the output
	OpenFiles int
}

// DefaultChildLimits are the defaults of Config.ChildLimits. An encoder of
// 4096×4096 pixels takes half of the memory.
func DefaultChildLimits() ChildLimits {
	return ChildLimits{CPU: time.Hour, Memory: 8 << 30, FileSize: 8 << 30, OpenFiles: 256}
}

// DefaultProbeLimits are the defaults of Config.ProbeLimits.
func DefaultProbeLimits() ChildLimits {
	return ChildLimits{CPU: 20 * time.Second, Memory: 512 << 20, FileSize: 1, OpenFiles: 256}
}

func (l ChildLimits) orDefaults(d ChildLimits) ChildLimits {
	return ChildLimits{
		CPU: cmp.Or(l.CPU, d.CPU), Memory: cmp.Or(l.Memory, d.Memory),
		FileSize: cmp.Or(l.FileSize, d.FileSize), OpenFiles: cmp.Or(l.OpenFiles, d.OpenFiles),
	}
}

// locateFFmpeg finds the programs for the sandbox that was asked for, and starts
// none. Those that it returns may be confirmed already.
func (r *Remover) locateFFmpeg() (_ *ffmpeg.Tools, confirmed bool, err error) {
	r.toolsMu.Lock()
	defer r.toolsMu.Unlock()
	if r.tools != nil {
		return r.tools, true, nil
	}
	err = r.locateFFmpegLocked()
	return r.located, false, err
}

// locateFFmpegLocked sets r.located, once. r.toolsMu is held.
func (r *Remover) locateFFmpegLocked() (err error) {
	if r.located != nil {
		return nil
	}
	c := r.config
	if c.Sandbox == SandboxOff {
		r.located, err = ffmpeg.Locate(c.FFmpeg, c.FFprobe, nil)
		return err
	}
	support := sandbox.Check()
	if c.Sandbox == SandboxOn && !support.All() || c.Sandbox == SandboxAudit && support.Network == "" {
		return &Error{Kind: Missing, Cause: NoSandbox, Reason: "the sandbox does not work here: " + support.Missing}
	}
	confinement := &ffmpeg.Confinement{Work: sandbox.Limits(c.ChildLimits), Probe: sandbox.Limits(c.ProbeLimits)}
	if c.Sandbox == SandboxAudit {
		confinement.Audit = reportOnce(c.Audit)
	}
	r.located, err = ffmpeg.Locate(c.FFmpeg, c.FFprobe, confinement)
	return err
}

// reportOnce passes each call of a program to report, the first time only. report may
// be nil.
func reportOnce(report func(program, call string)) func(program, call string) {
	var mu sync.Mutex
	reported := make(map[[2]string]bool)
	return func(program, call string) {
		mu.Lock()
		defer mu.Unlock()
		if key := [2]string{program, call}; report != nil && !reported[key] {
			reported[key] = true
			report(program, call)
		}
	}
}

// confirmFFmpegLocked checks the located programs. If they do not start in the
// sandbox and need not, it locates them again outside it. r.toolsMu is held.
func (r *Remover) confirmFFmpegLocked(ctx context.Context) (*ffmpeg.Tools, error) {
	if err := r.locateFFmpegLocked(); err != nil {
		return nil, err
	}
	err := r.located.Check(ctx)
	if failed := (*ffmpeg.Error)(nil); !errors.As(err, &failed) || ctx.Err() != nil {
		return r.located, err
	}
	c := r.config
	if c.Sandbox == SandboxOff {
		return nil, err
	}
	if c.Sandbox == SandboxOn || c.Sandbox == SandboxAudit {
		return nil, &Error{Kind: Missing, Cause: NoSandbox, Reason: "ffmpeg does not start in the sandbox: " + err.Error(), Err: err}
	}
	return ffmpeg.Find(ctx, c.FFmpeg, c.FFprobe)
}

// checkSandbox says what holds of it for ffmpeg, which was found as tools.
func (r *Remover) checkSandbox(tools *ffmpeg.Tools, d *Diagnosis) {
	support := sandbox.Check()
	why := support.Missing
	switch {
	case r.config.Sandbox == SandboxOff:
		why = "switched off"
	case !tools.Confined() && support.Any():
		why = "this ffmpeg does not start in it"
	case r.config.Sandbox == SandboxAudit:
		why, support.Network = cmp.Or(why, "audited: system calls that are not on the list are let through"), ""
	}
	for _, part := range []struct{ name, means, purpose string }{
		{"files", support.Files, "ffmpeg opens nothing but the files of its job"},
		{"network", support.Network, "ffmpeg has no network and starts no processes"},
		{"limits", support.Limits, "ffmpeg can be bounded in CPU time, memory, file size, open files"},
	} {
		c := Check{Name: "sandbox: " + part.name, Detail: part.purpose, Confines: true}
		if part.means != "" && tools.Confined() {
			c.OK, c.Detail = true, fmt.Sprintf("%s (%s)", part.purpose, part.means)
		} else {
			c.Err = &Error{Kind: Missing, Cause: NoSandbox, Reason: why}
		}
		d.Checks = append(d.Checks, c)
	}
}
