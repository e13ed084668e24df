// Package ffmpeg decodes and encodes video by running the ffmpeg and ffprobe
// programs as child processes. Frames travel through pipes raw, as codecs have
// them or else as RGBA, with their times: NUT on the way in, because ffmpeg's
// Matroska muxer rounds to milliseconds, and Matroska on the way out.
package ffmpeg

import (
	"context"
	"errors"
	"fmt"
	"os"
	"os/exec"
	"regexp"
	"strconv"
	"strings"

	"github.com/bgremove/bgremove/internal/system/sandbox"
)

// MinMajor and MinMinor are the oldest ffmpeg release that works: -fps_mode
// came with 5.1.
const (
	MinMajor = 5
	MinMinor = 1
)

// ErrNotFound says that ffmpeg or ffprobe is not installed.
var ErrNotFound = errors.New("not found")

// ErrTooOld says that ffmpeg is older than MinMajor.MinMinor.
var ErrTooOld = fmt.Errorf("older than %d.%d", MinMajor, MinMinor)

// Tools are the programs found on this machine. Once checked the value is
// immutable and safe for concurrent use.
type Tools struct {
	FFmpeg, FFprobe string       // paths
	Version         string       // as ffmpeg prints it, such as "5.1.9-0+deb12u1"
	major, minor    int          // 0.0 for builds without a release number
	confinement     *Confinement // nil: none
}

// Confinement is what children may take in the sandbox, each by itself.
type Confinement struct {
	Work  sandbox.Limits // of those that decode and encode
	Probe sandbox.Limits // of those that read metadata, before anybody pays for it
	// Audit, if set, makes the sandbox allow system calls that are not on its
	// list, see sandbox.Policy. It gets each call with the program's name, from
	// several goroutines.
	Audit func(program, call string)
}

func (c *Confinement) work() *sandbox.Limits {
	if c == nil {
		return nil
	}
	return &c.Work
}

func (c *Confinement) probe() *sandbox.Limits {
	if c == nil {
		return nil
	}
	return &c.Probe
}

// Find locates ffmpeg and ffprobe, by the paths given or else in PATH, and
// asks ffmpeg for its version. The error wraps ErrNotFound or ErrTooOld and
// names the program.
func Find(ctx context.Context, ffmpegPath, ffprobePath string) (*Tools, error) {
	t, err := Locate(ffmpegPath, ffprobePath, nil)
	if err != nil {
		return nil, err
	}
	return t, t.Check(ctx)
}

// Locate is Find without the question for the version, which takes as long as
// starting a program does: until Check is done Tools can Probe, and no more.
// With a confinement the programs run in the sandbox, as far as it holds, and
// with no files but those of their job.
func Locate(ffmpegPath, ffprobePath string, c *Confinement) (*Tools, error) {
	t := &Tools{confinement: c}
	var err error
	if t.FFmpeg, err = findProgram(ffmpegPath, "ffmpeg"); err != nil {
		return nil, err
	}
	if t.FFprobe, err = findProgram(ffprobePath, "ffprobe"); err != nil {
		return nil, err
	}
	return t, nil
}

// Check asks ffmpeg for its version. The error wraps ErrTooOld, or is an
// *Error if ffmpeg does not start, as it may not in the sandbox.
func (t *Tools) Check(ctx context.Context) error {
	out, err := t.ask(ctx, "-version")
	if err != nil {
		return err
	}
	t.Version, t.major, t.minor = parseVersion(out)
	if t.major > 0 && (t.major < MinMajor || t.major == MinMajor && t.minor < MinMinor) {
		return fmt.Errorf("ffmpeg %s: %w", t.Version, ErrTooOld)
	}
	return nil
}

// Confined reports whether the programs run in the sandbox.
func (t *Tools) Confined() bool { return t.confinement != nil && sandbox.Check().Any() }

func findProgram(path, name string) (string, error) {
	if path == "" {
		path = name
	}
	found, err := exec.LookPath(path)
	if err != nil {
		return "", fmt.Errorf("%s: %w", path, ErrNotFound)
	}
	return found, nil
}

var versionPattern = regexp.MustCompile(`^ffmpeg version (n?(\d+)\.(\d+)\S*|\S+)`)

// parseVersion reads the first line of "ffmpeg -version". Builds from git
// print no release number; they count as new.
func parseVersion(out string) (version string, major, minor int) {
	m := versionPattern.FindStringSubmatch(out)
	if m == nil {
		return "unknown", 0, 0
	}
	major, _ = strconv.Atoi(m[2])
	minor, _ = strconv.Atoi(m[3])
	return m[1], major, minor
}

// Codecs lists which of the given encoders, decoders and filters this build has, by
// ffmpeg's names.
func (t *Tools) Codecs(ctx context.Context, names ...string) (map[string]bool, error) {
	have := make(map[string]bool, len(names))
	for _, list := range []string{"-encoders", "-decoders", "-filters"} {
		out, err := t.ask(ctx, list)
		if err != nil {
			return nil, err
		}
		for line := range strings.Lines(out) {
			if f := strings.Fields(line); len(f) > 1 {
				have[f[1]] = true
			}
		}
	}
	found := make(map[string]bool, len(names))
	for _, n := range names {
		found[n] = have[n]
	}
	return found, nil
}

// Decodes reports whether this build has a decoder for a codec, by the codec's name.
func (t *Tools) Decodes(ctx context.Context, codec string) (bool, error) {
	out, err := t.ask(ctx, "-codecs")
	for line := range strings.Lines(out) {
		if f := strings.Fields(line); len(f) > 1 && f[1] == codec {
			return strings.HasPrefix(f[0], "D"), err
		}
	}
	return false, err
}

// ask runs ffmpeg for a description of itself.
func (t *Tools) ask(ctx context.Context, what string) (string, error) {
	p := t.command(ctx, t.FFmpeg+" "+what, t.FFmpeg, []string{"-hide_banner", what}, files{})
	var out strings.Builder
	p.cmd.Stdout = &out
	if err := p.start(); err != nil {
		return "", err
	}
	err := p.wait() // only now is everything in out
	return out.String(), err
}

// fileURL names a local file so that ffmpeg can take it for nothing else, not
// an option, a protocol or standard input.
func fileURL(path string) string { return "file:" + path }

// environment for child processes: ours, without a log file request.
func environment() []string {
	env := os.Environ()
	kept := env[:0]
	for _, e := range env {
		if !strings.HasPrefix(e, "FFREPORT=") {
			kept = append(kept, e)
		}
	}
	return kept
}
