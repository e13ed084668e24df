package bgremove_test

import (
	"context"
	"errors"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"github.com/bgremove/bgremove/pkg/bgremove"
)

// TestMain runs the tests with the sandbox, and this program once more as one
// whose main does not know of it.
func TestMain(m *testing.M) {
	if len(os.Args) == 4 && os.Args[1] == "probe" {
		_, err := bgremove.New(bgremove.Config{Sandbox: bgremove.Sandbox(os.Args[2])}).Probe(context.Background(), os.Args[3])
		fmt.Println(err)
		return
	}
	bgremove.InitSandbox()
	os.Exit(m.Run())
}

// needSandbox skips a test where the sandbox does not hold.
func needSandbox(t *testing.T) {
	t.Helper()
	for _, c := range bgremove.New(bgremove.Config{}).DiagnoseFFmpeg(t.Context()).Checks {
		if strings.HasPrefix(c.Name, "sandbox") && !c.OK {
			t.Skipf("%s: %v", c.Name, c.Err)
		}
	}
}

const (
	green = "color=0x00ff00:size=96x64:rate=25:duration=0.4,drawbox=30:20:30:24:red:fill"
	tone  = "sine=duration=0.4"
)

// Every kind of clip converts in the strictest sandbox, with its sound, and the
// list of system calls has all that this ffmpeg makes.
func TestSandboxOn(t *testing.T) {
	t.Parallel()
	needSandbox(t)
	video := []string{"-f", "lavfi", "-i", green, "-f", "lavfi", "-i", tone}
	inputs := map[string][]string{
		"in.gif":  {"-f", "lavfi", "-i", green},
		"in.mp4":  append(video, "-pix_fmt", "yuv420p"),
		"in.mov":  append(video, "-c:v", "qtrle"),
		"in.webm": append(video, "-vf", "format=yuva420p", "-c:v", "libvpx-vp9", "-cpu-used", "8"),
	}
	removers := []*bgremove.Remover{
		bgremove.New(bgremove.Config{Sandbox: bgremove.SandboxOn}),
		bgremove.New(bgremove.Config{Sandbox: bgremove.SandboxAudit, Audit: func(program, call string) {
			t.Errorf("%s made the system call %s", program, call)
		}}),
	}
	for name, args := range inputs {
		for i, format := range []bgremove.Format{bgremove.WebM, bgremove.MP4, bgremove.GIF, bgremove.WebM, bgremove.MP4, bgremove.WebP, bgremove.MOV, bgremove.Stacked, bgremove.AVIF} {
			remover := removers[i/3%2]
			t.Run(name+" to "+string(format), func(t *testing.T) {
				t.Parallel()
				in, out := generate(t, name, args...), filepath.Join(t.TempDir(), "out."+format.Extension())
				o := bgremove.Defaults()
				o.Format, o.Background = format, "#0000ff"
				result, err := remover.Remove(t.Context(), in, out, o, bgremove.Extras{})
				if err != nil {
					t.Fatal(err)
				}
				if format == bgremove.WebP { // which cannot be read
					if result.Frames != 10 {
						t.Errorf("%d frames", result.Frames)
					}
					return
				}
				info, err := remover.Probe(t.Context(), out)
				if err != nil {
					t.Fatal(err)
				}
				if sound := name != "in.gif" && format != bgremove.GIF && format != bgremove.AVIF; info.Frames != 10 || result.Frames != 10 || info.HasAudio != sound {
					t.Errorf("%d frames, sound: %v; want 10, %v", info.Frames, info.HasAudio, sound)
				}
			})
		}
	}
}

func TestChildLimits(t *testing.T) {
	t.Parallel()
	needSandbox(t)
	in := generate(t, "in.mp4", "-f", "lavfi", "-i", green)
	r := bgremove.New(bgremove.Config{ChildLimits: bgremove.ChildLimits{FileSize: 100}})
	out := filepath.Join(t.TempDir(), "out.webm")
	o := bgremove.Defaults()
	o.Format = bgremove.WebM
	_, err := r.Remove(t.Context(), in, out, o, bgremove.Extras{})
	if e := (*bgremove.Error)(nil); !errors.As(err, &e) || e.Kind != bgremove.TooLarge || !strings.Contains(e.Reason, "file size is limited") {
		t.Errorf("error = %v, want one about the file's size", err)
	}
	if left, err := os.ReadDir(filepath.Dir(out)); err != nil || len(left) > 0 {
		t.Errorf("left behind: %v, %v", left, err)
	}
}

// An ffmpeg that needs more than the sandbox gives runs without it, unless the
// sandbox is insisted on.
func TestFFmpegThatDoesNotStartThere(t *testing.T) {
	t.Parallel()
	needSandbox(t)
	dir := t.TempDir()
	wrapper := filepath.Join(dir, "ffmpeg")
	script := "#!/bin/sh\nread -r line <" + filepath.Join(dir, "settings") + " || exit 3\nexec ffmpeg \"$@\"\n"
	for path, text := range map[string]string{wrapper: script, filepath.Join(dir, "settings"): "yes\n"} {
		if err := os.WriteFile(path, []byte(text), 0o700); err != nil {
			t.Fatal(err)
		}
	}
	in := generate(t, "in.mp4", "-f", "lavfi", "-i", green)
	c := bgremove.Config{FFmpeg: wrapper}
	d := bgremove.New(c).DiagnoseFFmpeg(t.Context())
	if _, err := bgremove.New(c).Probe(t.Context(), in); err != nil || d.Checks[2].OK || !strings.Contains(d.Checks[2].Err.Error(), "does not start") {
		t.Errorf("probe: %v; diagnosis: %+v", err, d.Checks[2])
	}
	c.Sandbox = bgremove.SandboxOn
	_, err := bgremove.New(c).Probe(t.Context(), in)
	if e := (*bgremove.Error)(nil); !errors.As(err, &e) || e.Kind != bgremove.Missing || !strings.Contains(e.Reason, "does not start in the sandbox") {
		t.Errorf("error = %v", err)
	}
}

// An audit tells once of what it lets through.
func TestSandboxAudit(t *testing.T) {
	t.Parallel()
	needSandbox(t)
	wrapper := filepath.Join(t.TempDir(), "ffmpeg")
	if err := os.WriteFile(wrapper, []byte("#!/bin/sh\n/bin/true\nexec ffmpeg \"$@\"\n"), 0o700); err != nil {
		t.Fatal(err)
	}
	var heard []string
	r := bgremove.New(bgremove.Config{FFmpeg: wrapper, Sandbox: bgremove.SandboxAudit,
		Audit: func(program, call string) { heard = append(heard, program+" "+call) }})
	d := r.DiagnoseFFmpeg(t.Context())
	if d.Err() != nil || !d.Checks[2].OK || d.Checks[3].OK || !strings.Contains(d.Checks[3].Err.Error(), "audited") {
		t.Errorf("diagnosis: %+v", d.Checks)
	}
	began := slices.IndexFunc(heard, func(h string) bool { return strings.HasPrefix(h, "ffmpeg clone(") || h == "ffmpeg vfork" })
	slices.Sort(heard)
	if began < 0 || len(slices.Compact(heard)) != len(heard) {
		t.Errorf("heard %q, want a new process, each call once", heard)
	}
	quiet := bgremove.New(bgremove.Config{FFmpeg: wrapper, Sandbox: bgremove.SandboxAudit})
	if err := quiet.DiagnoseFFmpeg(t.Context()).Err(); err != nil {
		t.Errorf("where nobody is told: %v", err)
	}
}

// A program whose main does not begin with InitSandbox has none, and says so
// when it is asked to insist.
func TestSandboxNeedsInit(t *testing.T) {
	t.Parallel()
	in := generate(t, "in.mp4", "-f", "lavfi", "-i", green)
	refused := "the sandbox does not work here"
	for sandbox, want := range map[string]string{"auto": "<nil>", "off": "<nil>", "on": refused, "audit": refused} {
		out, err := exec.CommandContext(t.Context(), os.Args[0], "probe", sandbox, in).Output()
		if err != nil || !strings.Contains(string(out), want) {
			t.Errorf("%s: %s, %v; want %q", sandbox, out, err, want)
		}
	}
}

// The sandbox costs a clip's job little, whatever else it does.
func BenchmarkProbe(b *testing.B) {
	in := filepath.Join("..", "..", "testdata", "demo", "hop.mp4")
	for _, s := range []bgremove.Sandbox{bgremove.SandboxOff, bgremove.SandboxAuto} {
		b.Run(string(s), func(b *testing.B) {
			r := bgremove.New(bgremove.Config{Sandbox: s})
			for b.Loop() {
				if _, err := r.Probe(b.Context(), in); err != nil { // two children
					b.Fatal(err)
				}
			}
		})
	}
}
