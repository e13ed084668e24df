package packager_test

import (
	"slices"
	"strings"
	"testing"

	"github.com/bgremove/bgremove/internal/cli/packager"
)

func TestFFmpeg(t *testing.T) {
	t.Parallel()
	for _, c := range []struct {
		goos, release string
		root          bool
		has           string
		want          string
	}{
		{"linux", "ID=debian\n", false, "apt sudo", "sudo apt install ffmpeg"},
		{"linux", "NAME=\"Linux Mint\"\nID=linuxmint\nID_LIKE=\"ubuntu debian\"\n", false, "apt sudo", "sudo apt install ffmpeg"},
		{"linux", "ID=debian\n", true, "apt sudo", "apt install ffmpeg"},
		{"linux", "ID=debian\n", false, "apt", "su -c 'apt install ffmpeg'"},
		{"linux", "ID=fedora\n", false, "dnf sudo", "sudo dnf install ffmpeg-free"},
		{"linux", "ID=arch\n", false, "pacman sudo", "sudo pacman -S ffmpeg"},
		{"linux", "ID=\"opensuse-leap\"\nID_LIKE=\"suse opensuse\"\n", false, "zypper sudo", "sudo zypper install ffmpeg"},
		{"linux", "ID=alpine\n", false, "apk doas", "doas apk add ffmpeg"},
		{"linux", "ID=alpine\n", true, "apk", "apk add ffmpeg"},
		// Several managers: the system's own, whatever comes first in the table.
		{"linux", "ID=arch\n", false, "apt brew pacman sudo", "sudo pacman -S ffmpeg"},
		{"linux", "ID='fedora'\n", false, "apt dnf sudo", "sudo dnf install ffmpeg-free"},
		{"linux", "ID=unheard\n", false, "brew sudo", "brew install ffmpeg"},
		{"linux", "", false, "zypper brew sudo", "sudo zypper install ffmpeg"},
		{"linux", "ID=debian\n", false, "sudo", ""},
		{"darwin", "", false, "brew sudo", "brew install ffmpeg"},
		{"darwin", "", false, "apt", ""},
		{"windows", "", false, "winget scoop", "winget install --exact --id Gyan.FFmpeg"},
		{"windows", "", false, "scoop", "scoop install ffmpeg"},
		{"windows", "", false, "", ""},
		{"plan9", "", false, "apt", ""},
	} {
		has := strings.Fields(c.has)
		s := packager.System{GOOS: c.goos, OSRelease: c.release, Root: c.root, Has: func(p string) bool { return slices.Contains(has, p) }}
		if got := s.FFmpeg(); got != c.want {
			t.Errorf("%s, %q, with %s: %q, want %q", c.goos, c.release, c.has, got, c.want)
		}
	}
}
