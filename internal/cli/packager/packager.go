// Package packager knows how this system's package manager installs ffmpeg.
package packager

import (
	"os"
	"os/exec"
	"runtime"
	"slices"
	"strings"
)

// System is what decides about the command.
type System struct {
	GOOS      string
	OSRelease string // the content of /etc/os-release; may be empty
	Root      bool   // the user may install without further rights
	// Has reports whether a program is in PATH.
	Has func(program string) bool
}

// manager is a package manager.
type manager struct {
	program  string
	families []string // the systems in os-release whose own manager it is
	command  string
	asRoot   bool
}

// managers are those that are looked for on each system.
var managers = map[string][]manager{
	"linux": {
		{"apt", []string{"debian", "ubuntu"}, "apt install ffmpeg", true},
		{"dnf", []string{"fedora", "rhel"}, "dnf install ffmpeg-free", true}, // Fedora's own repository has only this
		{"pacman", []string{"arch"}, "pacman -S ffmpeg", true},
		{"zypper", []string{"suse", "opensuse"}, "zypper install ffmpeg", true},
		{"apk", []string{"alpine"}, "apk add ffmpeg", true},
		{"brew", nil, "brew install ffmpeg", false},
	},
	"darwin": {{"brew", nil, "brew install ffmpeg", false}},
	"windows": {
		{"winget", nil, "winget install --exact --id Gyan.FFmpeg", false},
		{"scoop", nil, "scoop install ffmpeg", false},
	},
}

// Here is the system that the program runs on.
func Here() System {
	release, _ := os.ReadFile("/etc/os-release") // other systems have none
	return System{runtime.GOOS, string(release), os.Geteuid() == 0, func(program string) bool {
		_, err := exec.LookPath(program)
		return err == nil
	}}
}

// FFmpeg is the command that installs ffmpeg, or empty where no manager is known.
func (s System) FFmpeg() string {
	var installed []manager
	for _, m := range managers[s.GOOS] {
		if s.Has(m.program) {
			installed = append(installed, m)
		}
	}
	if len(installed) == 0 {
		return ""
	}
	chosen := installed[0]
	families := s.families()
	for _, m := range installed {
		if slices.ContainsFunc(m.families, func(f string) bool { return slices.Contains(families, f) }) {
			chosen = m
			break
		}
	}
	return s.withRights(chosen)
}

// withRights puts the program that gives the rights before a command that needs them.
func (s System) withRights(m manager) string {
	if !m.asRoot || s.Root {
		return m.command
	}
	for _, program := range []string{"sudo", "doas"} {
		if s.Has(program) {
			return program + " " + m.command
		}
	}
	return "su -c '" + m.command + "'"
}

// families are the system and those that it is like, from os-release.
func (s System) families() (all []string) {
	for line := range strings.Lines(s.OSRelease) {
		key, value, _ := strings.Cut(strings.TrimSpace(line), "=")
		if key == "ID" || key == "ID_LIKE" {
			all = append(all, strings.Fields(strings.Trim(value, `"'`))...)
		}
	}
	return all
}
