//go:build linux && cgo

package main

import (
	"os"
	"path/filepath"
	"testing"

	"github.com/google/go-cmp/cmp"
)

// TestNaturalClips checks that the measurements without names of clips find one in the project.
func TestNaturalClips(t *testing.T) {
	t.Setenv(clipsVariable, "")
	clips := naturalClips()
	if len(clips) != 1 {
		t.Fatalf("clips %q", clips)
	}
	if _, err := os.Stat(filepath.Join("..", "..", clips[0])); err != nil {
		t.Error(err)
	}
	t.Setenv(clipsVariable, "a.mp4:b.mp4")
	if diff := cmp.Diff([]string{"a.mp4", "b.mp4"}, naturalClips()); diff != "" {
		t.Error(diff)
	}
}
