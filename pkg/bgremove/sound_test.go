package bgremove_test

import (
	"bytes"
	"errors"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"github.com/bgremove/bgremove/pkg/bgremove"
)

// Sound that ffmpeg has no decoder for is named, and can be left out.
func TestSoundUnreadable(t *testing.T) {
	t.Parallel()
	for name, tt := range map[string]struct {
		file     string
		old, new []string // pieces of the file, each found once in its sound's description
		known    bool     // ffmpeg has a name for the codec, so its failure tells
	}{
		"unknown codec": {file: "in.mkv", old: []string{"A_AAC"}, new: []string{"A_XYZ"}},
		"no decoder":    {file: "in.mp4", old: []string{"mp4a", "esds"}, new: []string{"mhm1", "free"}, known: true}, // MPEG-H
	} {
		in := generate(t, tt.file, "-f", "lavfi", "-i", "sine=duration=1", "-f", "lavfi", "-i", onGreen, "-shortest", "-c:a", "aac")
		content, err := os.ReadFile(in)
		if err != nil {
			t.Fatal(err)
		}
		for i, old := range tt.old {
			if n := bytes.Count(content, []byte(old)); n != 1 {
				t.Fatalf("%s: %q is there %d times", name, old, n)
			}
			content = bytes.Replace(content, []byte(old), []byte(tt.new[i]), 1)
		}
		if err := os.WriteFile(in, content, 0o600); err != nil {
			t.Fatal(err)
		}
		r := bgremove.New(bgremove.Config{})
		for _, o := range []bgremove.Options{{Format: bgremove.WebM}, {Format: bgremove.MP4, Background: "#000000"}} {
			out := filepath.Join(t.TempDir(), "out."+string(o.Format))
			_, err := r.Remove(t.Context(), in, out, o, bgremove.Extras{})
			if e := (*bgremove.Error)(nil); !errors.Is(err, bgremove.SoundUnreadable) || !errors.As(err, &e) || e.Path != in {
				t.Errorf("%s to %s: %v", name, o.Format, err)
			}
			if !tt.known {
				if _, err := r.Split(t.Context(), in, o, time.Second); !errors.Is(err, bgremove.SoundUnreadable) {
					t.Errorf("%s to %s, in parts: %v", name, o.Format, err)
				}
			}
			o.NoAudio = true
			remove(t, in, out, o)
		}
		dir := t.TempDir() // an MP4 with a matte beside it is one without a background, too
		_, err = r.Remove(t.Context(), in, filepath.Join(dir, "out.mp4"), bgremove.Options{Format: bgremove.MP4}, bgremove.Extras{Matte: filepath.Join(dir, "matte.mp4")})
		if !errors.Is(err, bgremove.SoundUnreadable) {
			t.Errorf("%s to mp4 and its matte: %v", name, err)
		}
		remove(t, in, filepath.Join(t.TempDir(), "out.gif"), bgremove.Options{Format: bgremove.GIF})
	}
}

// Sound goes along into WebM, MP4 and MOV, unless it is not wanted.
func TestSound(t *testing.T) {
	t.Parallel()
	in := generate(t, "in.mp4", append([]string{"-f", "lavfi", "-i", "sine=duration=1"}, "-f", "lavfi", "-i", onGreen, "-shortest")...)
	for _, format := range []bgremove.Format{bgremove.WebM, bgremove.MP4, bgremove.MOV, bgremove.Stacked} {
		for _, silent := range []bool{false, true} {
			out := filepath.Join(t.TempDir(), "out."+string(format))
			o := bgremove.Options{Format: format, Background: "#000000", NoAudio: silent}
			remove(t, in, out, o)
			info, err := bgremove.New(bgremove.Config{}).Probe(t.Context(), out)
			if err != nil {
				t.Fatal(err)
			}
			if info.HasAudio == silent {
				t.Errorf("%s, silent %v: sound is %v", format, silent, info.HasAudio)
			}
		}
	}
}

// Editors read AAC and PCM in a MOV, so other sound becomes PCM.
func TestSoundOfMOV(t *testing.T) {
	t.Parallel()
	for name, want := range map[string]string{"in.mp4": "aac", "in.webm": "pcm_s16le"} {
		in := generate(t, name, append([]string{"-f", "lavfi", "-i", "sine=duration=1"}, "-f", "lavfi", "-i", onGreen, "-shortest")...)
		out := filepath.Join(t.TempDir(), "out.mov")
		remove(t, in, out, bgremove.Options{Format: bgremove.MOV})
		got, err := exec.CommandContext(t.Context(), "ffprobe", "-v", "error", "-select_streams", "a", "-show_entries", "stream=codec_name", "-of", "csv=p=0", out).Output()
		if err != nil || strings.TrimSpace(string(got)) != want {
			t.Errorf("the sound of %s is %s, want %s: %v", name, got, want, err)
		}
	}
}
