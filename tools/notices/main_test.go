package main

import (
	"os"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/bgremove/bgremove/internal/cli/notices"
)

// The notices name every module of the program on each system of a release, and have
// all of its licences.
func TestNothingIsMissing(t *testing.T) {
	t.Parallel()
	want, err := generate(t.Context())
	if err != nil {
		t.Fatal(err)
	}
	if diff := cmp.Diff(want, notices.Text); diff != "" {
		t.Errorf("run go generate ./internal/cli/notices: needed (-) and there (+):\n%.2000s", diff)
	}
	for _, name := range []string{"\ngithub.com/spf13/cobra: Apache-2.0\n", "\ngithub.com/inconshreveable/mousetrap: ", "\n" + goName + ": BSD-3-Clause", "ffmpeg/ffmpeggo: Apache-2.0\n"} {
		if !strings.Contains(want, name) {
			t.Errorf("nothing about %q", name)
		}
	}
}

// No licence asks for the source of the whole program.
func TestNoCopyleft(t *testing.T) {
	t.Parallel()
	list, _, _ := strings.Cut(notices.Text, strings.Repeat("-", 80))
	for line := range strings.Lines(list) {
		name, ids, found := strings.Cut(line, ": ")
		if found && strings.Contains(ids, "GPL") && !strings.Contains(ids, " OR ") {
			t.Errorf("%s is under %s", name, ids)
		}
	}
}

// The systems are those of the releases.
func TestTargets(t *testing.T) {
	t.Parallel()
	data, err := os.ReadFile("../../.goreleaser.yaml")
	if err != nil {
		t.Fatal(err)
	}
	for line := range strings.Lines(string(data)) {
		_, systems, is := strings.Cut(line, "targets: [")
		if !is {
			continue
		}
		for system := range strings.SplitSeq(strings.TrimRight(systems, "]\n"), ", ") {
			found := false
			for _, target := range targets {
				found = found || target.goos+"_"+target.goarch == system
			}
			if !found {
				t.Errorf("the notices leave out %s", system)
			}
		}
	}
}

// A source without a licence that is known is an error.
func TestNoLicence(t *testing.T) {
	t.Parallel()
	if _, err := render([]source{{name: "example.com/none"}}); err == nil || !strings.Contains(err.Error(), "example.com/none") {
		t.Errorf("error: %v", err)
	}
	if got := licences("/* SPDX-License-Identifier: BSD-3-Clause OR GPL-2.0-only */"); len(got) != 1 || got[0] != "BSD-3-Clause OR GPL-2.0-only" {
		t.Errorf("the text's own words: %q", got)
	}
}
