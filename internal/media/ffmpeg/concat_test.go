package ffmpeg_test

import (
	"bytes"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"github.com/bgremove/bgremove/internal/media"
	"github.com/bgremove/bgremove/internal/media/ffmpeg"
)

// Pieces that are joined have the frames, the times and the transparency of the file that
// is written at once.
func TestConcat(t *testing.T) {
	t.Parallel()
	const side, count, cut = 64, 9, 4
	at := func(i int) time.Duration { return time.Duration(i*i+10*i) * 10 * time.Millisecond }
	for name, o := range map[string]ffmpeg.SinkOptions{
		"webm":        {Format: ffmpeg.WebM},
		"opaque webm": {Format: ffmpeg.WebM, Opaque: true},
		"mp4":         {Format: ffmpeg.MP4, Opaque: true},
		"mov":         {Format: ffmpeg.MOV, Timescale: 600},
		"stacked":     {Format: ffmpeg.Stacked, Timescale: 600},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			dir := t.TempDir()
			o.Width, o.Height = side, side
			write := func(name string, from, to int) string {
				t.Helper()
				path := filepath.Join(dir, name)
				o.End = at(to) - at(from)
				sink, err := tools(t).NewSink(t.Context(), path, o)
				if err != nil {
					t.Fatal(err)
				}
				for i := from; i < to; i++ {
					f := &media.Frame{Image: rainbow(side, side, i), PTS: at(i) - at(from), Duration: at(i+1) - at(i)}
					if err := sink.Write(t.Context(), f); err != nil {
						t.Fatal(err)
					}
				}
				if err := sink.Close(); err != nil {
					t.Fatal(err)
				}
				return path
			}
			whole, joined := write("whole", 0, count), filepath.Join(dir, "joined")
			pieces := []ffmpeg.Piece{{write("it's first", 0, cut), at(cut)}, {write("second", cut, count), at(count) - at(cut)}}
			o.End = at(count)
			if err := tools(t).Concat(t.Context(), joined, pieces, o); err != nil {
				t.Fatal(err)
			}
			if indexFirst(t, whole) != indexFirst(t, joined) {
				t.Errorf("the index is before the pictures: %t, want %t", indexFirst(t, joined), indexFirst(t, whole))
			}
			facts, pix := describe(t, whole)
			joinedFacts, joinedPix := describe(t, joined)
			if diff := cmp.Diff(facts, joinedFacts); diff != "" {
				t.Error(diff)
			}
			if len(pix) != len(joinedPix) {
				t.Fatalf("%d bytes, want %d", len(joinedPix), len(pix))
			}
			for i, v := range pix { // pieces are encoded by themselves
				if d := int(v) - int(joinedPix[i]); max(d, -d) > 12 {
					t.Fatalf("a mean of frame %d is %d, want %d", i/4, joinedPix[i], v)
				}
			}
		})
	}
}

// indexFirst reports whether the index of an MP4 or MOV comes before its pictures.
func indexFirst(t *testing.T, path string) bool {
	t.Helper()
	file, err := os.ReadFile(path)
	if err != nil {
		t.Fatal(err)
	}
	return bytes.Index(file, []byte("moov")) < bytes.Index(file, []byte("mdat"))
}

// describe is what ffprobe says of a file, with its pictures' times, and the mean red,
// green, blue and alpha of each.
func describe(t *testing.T, path string) (facts string, pix []byte) {
	t.Helper()
	facts = output(t, []string{tools(t).FFprobe, "-v", "error", "-select_streams", "v", "-show_entries", "format=duration:packet=pts_time:" +
		"stream=codec_name,pix_fmt,width,height,time_base,color_range,color_space,color_primaries:stream_tags=alpha_mode", "-of", "csv=p=0", "FILE"}, path)
	var args []string
	if strings.Contains(facts, "vp9") {
		args = append(args, "-c:v", "libvpx-vp9")
	}
	args = append(args, "-v", "error", "-i", path, "-fps_mode", "passthrough", "-vf", "format=rgba,scale=1:1:flags=area", "-f", "rawvideo", "-")
	pix, err := exec.CommandContext(t.Context(), tools(t).FFmpeg, args...).Output()
	if err != nil {
		t.Fatal(err)
	}
	return facts, pix
}
