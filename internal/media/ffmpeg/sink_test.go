package ffmpeg_test

import (
	"bytes"
	"context"
	"errors"
	"image"
	"image/color"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strconv"
	"strings"
	"syscall"
	"testing"
	"time"

	"github.com/bgremove/bgremove/internal/media"
	"github.com/bgremove/bgremove/internal/media/ffmpeg"
	"github.com/bgremove/bgremove/internal/media/yuv"
)

const framesPerSecond = 25

// disc is a soft disc that moves and changes its colour.
func disc(size, n int) *image.NRGBA {
	img := image.NewNRGBA(image.Rect(0, 0, size, size))
	for y := range size {
		for x := range size {
			dx, dy := x-size/4-n%(size/2), y-size/2
			img.SetNRGBA(x, y, color.NRGBA{uint8(n), uint8(4 * x), uint8(4 * y), uint8(min(max(16*(size*size/16-dx*dx-dy*dy), 0), 255))})
		}
	}
	return img
}

// Two encoders and a muxer give the same result for colours and alpha as one
// ffmpeg: the same packets and key frames.
func TestJoinedFile(t *testing.T) {
	t.Parallel()
	const size, count = 64, 140 // VP9 has a key frame every 128
	dir := t.TempDir()
	path, planes, reference := filepath.Join(dir, "joined.webm"), filepath.Join(dir, "planes.yuv"), filepath.Join(dir, "reference.webm")
	o := ffmpeg.SinkOptions{Format: ffmpeg.WebM, Width: size, Height: size, End: count * time.Second / framesPerSecond, Workers: 4}
	sink, err := tools(t).NewSink(t.Context(), path, o)
	if err != nil {
		t.Fatal(err)
	}
	encoder := yuv.NewEncoder(yuv.Coding{Matrix: yuv.BT709}, yuv.Layout{Width: size, Height: size, Alpha: true})
	var raw bytes.Buffer
	picture := make([]uint8, encoder.Bytes())
	for i := range count {
		f := &media.Frame{Image: disc(size, i), PTS: time.Duration(i) * time.Second / framesPerSecond, Duration: time.Second / framesPerSecond}
		encoder.Encode(picture, f.Image)
		raw.Write(picture)
		if err := sink.Write(t.Context(), f); err != nil {
			t.Fatal(err)
		}
	}
	if err := sink.Close(); err != nil {
		t.Fatal(err)
	}
	if err := os.WriteFile(planes, raw.Bytes(), 0o600); err != nil {
		t.Fatal(err)
	}
	args := ffmpeg.EncodeArgs(reference, o)
	args = append([]string{"-f", "rawvideo", "-pix_fmt", "yuva420p", "-video_size", "64x64", "-framerate", "25", "-i", planes, "-vf", "setparams=range=tv:color_primaries=bt709:color_trc=bt709:colorspace=bt709", "-threads", "2"}, args[slices.Index(args, "-map"):]...)
	if out, err := exec.CommandContext(t.Context(), tools(t).FFmpeg, args...).CombinedOutput(); err != nil {
		t.Fatalf("%v: %s", err, out)
	}
	for _, command := range [][]string{
		{tools(t).FFprobe, "-v", "error", "-show_entries", "packet=pts,duration,size,flags", "-of", "csv", "FILE"},
		{tools(t).FFmpeg, "-v", "error", "-c:v", "libvpx-vp9", "-i", "FILE", "-f", "framemd5", "-"},
		{tools(t).FFprobe, "-v", "error", "-of", "json", "-show_entries",
			"stream=codec_name,width,height,pix_fmt,field_order,color_range,color_space,avg_frame_rate:stream_tags=alpha_mode:format=duration", "FILE"},
	} {
		got, want := output(t, command, path), output(t, command, reference)
		if got != want {
			t.Errorf("%v: \n%s\nwant\n%s", command, got, want)
		}
	}
}

// output is a command's output about a file.
func output(t *testing.T, command []string, path string) string {
	t.Helper()
	command = slices.Clone(command)
	command[slices.Index(command, "FILE")] = path
	out, err := exec.CommandContext(t.Context(), command[0], command[1:]...).Output()
	if err != nil {
		t.Fatalf("%v: %v", command, err)
	}
	return string(out)
}

// A WebM ends with its last frame, in milliseconds, and no frame's duration
// reaches into the next frame. This holds for every version of ffmpeg.
func TestSinkEnd(t *testing.T) {
	t.Parallel()
	const count = 5
	at := func(i int) time.Duration { return time.Duration(i) * time.Second / 24 }
	for name, opaque := range map[string]bool{"alpha": false, "opaque": true} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			path := filepath.Join(t.TempDir(), "out.webm")
			sink, err := tools(t).NewSink(t.Context(), path, ffmpeg.SinkOptions{Format: ffmpeg.WebM, Width: 64, Height: 64, Opaque: opaque, End: at(count)})
			if err != nil {
				t.Fatal(err)
			}
			for i := range count {
				if err := sink.Write(t.Context(), &media.Frame{Image: disc(64, i), PTS: at(i), Duration: at(i+1) - at(i)}); err != nil {
					t.Fatal(err)
				}
			}
			if err := sink.Close(); err != nil {
				t.Fatal(err)
			}
			if end := containerDuration(t, path); end != 0.208 {
				t.Errorf("the file ends at %v s", end)
			}
			packets := output(t, []string{tools(t).FFprobe, "-v", "error", "-show_entries", "packet=duration", "-of", "csv=p=0", "FILE"}, path)
			durations := strings.Fields(strings.ReplaceAll(packets, ",", " "))
			if len(durations) != count {
				t.Errorf("%d packets", len(durations))
			}
			for _, text := range durations {
				if ms, err := strconv.Atoi(text); err != nil || ms > 42 {
					t.Errorf("a frame takes %s ms", text)
				}
			}
		})
	}
}

// Stopping the work stops all encoders in any state.
func TestSinkCancel(t *testing.T) {
	t.Parallel()
	for name, opaque := range map[string]bool{"alpha": false, "opaque": true} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			ctx, cancel := context.WithCancelCause(t.Context())
			defer cancel(nil)
			path := filepath.Join(t.TempDir(), "out.webm")
			sink, err := tools(t).NewSink(ctx, path, ffmpeg.SinkOptions{Format: ffmpeg.WebM, Width: 64, Height: 64, Opaque: opaque, End: time.Hour})
			if err != nil {
				t.Fatal(err)
			}
			why := errors.New("interrupted")
			for i := 0; err == nil; i++ {
				if i == 3 {
					cancel(why)
				}
				err = sink.Write(t.Context(), &media.Frame{Image: disc(64, i), PTS: time.Duration(i) * time.Second, Duration: time.Second})
			}
			if !errors.Is(err, why) {
				t.Errorf("Write = %v, want %v", err, why)
			}
			if err := sink.Close(); !errors.Is(err, why) {
				t.Errorf("Close = %v, want %v", err, why)
			}
			sink.Abort()
		})
	}
}

// A sink ends as all writers do: a file that is not whole is never said to be complete, and
// nothing follows the end.
func TestSinkEnds(t *testing.T) {
	t.Parallel()
	cancelled, cancel := context.WithCancel(t.Context())
	cancel()
	write := func(ctx context.Context, s *ffmpeg.Sink) error {
		return s.Write(ctx, &media.Frame{Image: disc(64, 0), Duration: time.Second})
	}
	fail := func(s *ffmpeg.Sink) (err error) {
		for err == nil { // there may be room for a picture or two
			err = write(cancelled, s)
		}
		return err
	}
	for name, tt := range map[string]struct {
		end         func(s *ffmpeg.Sink) error
		first, then error
	}{
		"closed":        {(*ffmpeg.Sink).Close, nil, nil},
		"aborted":       {func(s *ffmpeg.Sink) error { s.Abort(); return nil }, nil, media.ErrClosed},
		"a write fails": {fail, context.Canceled, context.Canceled},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			o := ffmpeg.SinkOptions{Format: ffmpeg.WebM, Width: 64, Height: 64, Opaque: true, End: time.Second}
			sink, err := tools(t).NewSink(t.Context(), filepath.Join(t.TempDir(), "out.webm"), o)
			if err != nil {
				t.Fatal(err)
			}
			defer sink.Abort()
			if err := write(t.Context(), sink); err != nil {
				t.Fatal(err)
			}
			if err := tt.end(sink); !errors.Is(err, tt.first) {
				t.Errorf("error = %v, want %v", err, tt.first)
			}
			if err := sink.Close(); !errors.Is(err, tt.then) {
				t.Errorf("Close = %v, want %v", err, tt.then)
			}
			want := tt.then
			if want == nil {
				want = media.ErrClosed
			}
			if err := write(t.Context(), sink); !errors.Is(err, want) {
				t.Errorf("Write = %v, want %v", err, want)
			}
		})
	}
}

// A cancellation during the start is also the error.
func TestSinkCancelledBefore(t *testing.T) {
	t.Parallel()
	ctx, cancel := context.WithCancelCause(t.Context())
	why := errors.New("interrupted")
	cancel(why)
	o := ffmpeg.SinkOptions{Format: ffmpeg.WebM, Width: 64, Height: 64, End: time.Second}
	if _, err := tools(t).NewSink(ctx, filepath.Join(t.TempDir(), "out.webm"), o); !errors.Is(err, why) {
		t.Errorf("NewSink = %v, want %v", err, why)
	}
}

// The error is that of the failed program, not its effect on the others.
func TestOneProgramDies(t *testing.T) {
	t.Parallel()
	for name, tt := range map[string]struct {
		which string // the program, by an argument
		does  string // action of the first one that starts
	}{
		"encoder, at once":     {"-f ivf", "exit 7"},
		"encoder, in a packet": {"-f ivf", "printf 'DKIF%028d12345' 0; exec >&-; sleep 0.1; exit 7"},
		"muxer":                {"-f webm", "head -c 500 >/dev/null; exit 7"},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			err := encodeWith(t, tt.which, tt.does)
			if e := (*ffmpeg.Error)(nil); !errors.As(err, &e) || e.ExitCode != 7 {
				t.Errorf("error = %v, want the program's", err)
			}
		})
	}
}

// encodeWith makes a WebM with alpha. The program with a given argument does
// something else; of two such programs it is the first to start.
func encodeWith(t *testing.T, which, does string) error {
	t.Helper()
	dir := t.TempDir()
	script := filepath.Join(dir, "ffmpeg")
	first := "mkdir '" + filepath.Join(dir, "first") + "' 2>/dev/null"
	text := "#!/bin/sh\ncase \"$*\" in *'" + which + "'*) if " + first + "; then " + does + "; fi ;; esac\nexec ffmpeg \"$@\"\n"
	if err := os.WriteFile(script, []byte(text), 0o700); err != nil {
		t.Fatal(err)
	}
	found, err := ffmpeg.Find(t.Context(), script, "")
	if err != nil {
		t.Fatal(err)
	}
	sink, err := found.NewSink(t.Context(), filepath.Join(dir, "out.webm"), ffmpeg.SinkOptions{Format: ffmpeg.WebM, Width: 64, Height: 64, End: time.Second})
	if err != nil {
		return err
	}
	defer sink.Abort()
	for i := range 50 {
		if err := sink.Write(t.Context(), &media.Frame{Image: disc(64, i), PTS: time.Duration(i) * time.Second}); err != nil {
			return err
		}
	}
	return sink.Close()
}

// Colours are unchanged after a round trip and tagged as BT.709; alpha is
// unchanged too.
func TestSinkKeepsColourAndAlpha(t *testing.T) {
	t.Parallel()
	for _, format := range []ffmpeg.Format{ffmpeg.WebM, ffmpeg.MP4} {
		t.Run(string(format), func(t *testing.T) {
			t.Parallel()
			path := filepath.Join(t.TempDir(), "out."+string(format))
			want := color.NRGBA{200, 60, 40, 128}
			if format == ffmpeg.MP4 {
				want.A = 255
			}
			o := ffmpeg.SinkOptions{Format: format, Width: 64, Height: 64, Opaque: format == ffmpeg.MP4, End: time.Second, Quality: 100}
			sink, err := tools(t).NewSink(t.Context(), path, o)
			if err != nil {
				t.Fatal(err)
			}
			if err := sink.Write(t.Context(), &media.Frame{Image: picture(64, 64, want), Duration: time.Second}); err != nil {
				t.Fatal(err)
			}
			if err := sink.Close(); err != nil {
				t.Fatal(err)
			}
			got := frames(t, probe(t, path), media.ReadOptions{})[0].Image.NRGBAAt(32, 32)
			for i, d := range []int{int(got.R) - int(want.R), int(got.G) - int(want.G), int(got.B) - int(want.B), int(got.A) - int(want.A)} {
				if d < -4 || d > 4 {
					t.Errorf("channel %d of %v is off by %d from %v", i, got, d, want)
				}
			}
		})
	}
}

func TestEncoderErrorSurfaces(t *testing.T) {
	t.Parallel()
	path := filepath.Join(t.TempDir(), "absent", "out.webm")
	free, err := ffmpeg.Find(t.Context(), "", "")
	if err != nil {
		t.Fatal(err)
	}
	sink, err := free.NewSink(t.Context(), path, ffmpeg.SinkOptions{Format: ffmpeg.WebM, Width: 64, Height: 64, End: time.Second})
	for i := 0; err == nil && i < 100; i++ {
		err = sink.Write(t.Context(), &media.Frame{Image: picture(64, 64, color.NRGBA{A: 255}), PTS: time.Duration(i) * time.Second})
	}
	if err == nil {
		err = sink.Close()
	}
	if e := (*ffmpeg.Error)(nil); !errors.As(err, &e) || !strings.Contains(e.Stderr, "No such file") {
		t.Errorf("error = %v, want ffmpeg's complaint", err)
	}
}

func TestFullDisk(t *testing.T) {
	t.Parallel()
	for _, format := range []ffmpeg.Format{ffmpeg.WebM, ffmpeg.MP4} {
		sink, err := tools(t).NewSink(t.Context(), "/dev/full", ffmpeg.SinkOptions{Format: format, Width: 64, Height: 64, Opaque: format == ffmpeg.MP4, End: time.Second})
		if err != nil {
			t.Fatal(err)
		}
		err = sink.Write(t.Context(), &media.Frame{Image: picture(64, 64, color.NRGBA{A: 255}), Duration: time.Second})
		if err == nil {
			err = sink.Close()
		}
		sink.Abort()
		if !errors.Is(err, syscall.ENOSPC) {
			t.Errorf("%s: error = %v, want %v", format, err, syscall.ENOSPC)
		}
	}
}
