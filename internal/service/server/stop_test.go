//go:build unix

package server_test

import (
	"os"
	"path/filepath"
	"syscall"
	"testing"
	"time"

	"github.com/bgremove/bgremove/internal/service/job"
	"github.com/bgremove/bgremove/internal/service/server"
	"github.com/bgremove/bgremove/internal/service/store/storetest"
)

// gate stands in for the one program of a job that makes a WebM. It reports
// that a job has arrived, and lets it continue when told.
type gate struct {
	*testing.T
	ffmpeg         string // the program to configure
	arrived, opens string // pipes
}

func newGate(t *testing.T) *gate {
	t.Helper()
	dir := t.TempDir()
	g := &gate{T: t, ffmpeg: filepath.Join(dir, "ffmpeg"), arrived: filepath.Join(dir, "arrived"), opens: filepath.Join(dir, "opens")}
	for _, pipe := range []string{g.arrived, g.opens} {
		if err := syscall.Mkfifo(pipe, 0o600); err != nil {
			t.Fatal(err)
		}
	}
	script := "#!/bin/sh\ncase \"$*\" in *\"-f webm\"*) echo >" + g.arrived + "; read -r _ <" + g.opens + ";; esac\nexec ffmpeg \"$@\"\n"
	if err := os.WriteFile(g.ffmpeg, []byte(script), 0o700); err != nil {
		t.Fatal(err)
	}
	return g
}

// wait waits for a job to arrive.
func (g *gate) wait() {
	g.Helper()
	if _, err := os.ReadFile(g.arrived); err != nil {
		g.Fatal(err)
	}
}

// open lets the job continue.
func (g *gate) open() {
	g.Helper()
	if err := os.WriteFile(g.opens, []byte("\n"), 0o600); err != nil {
		g.Fatal(err)
	}
}

// TestDrain checks that a running job ends although the node is told to stop.
func TestDrain(t *testing.T) {
	t.Parallel()
	g := newGate(t)
	c := configuration(t, storetest.SQLite(t))
	c.Engine.FFmpeg = g.ffmpeg
	n := start(t, c)
	ada := newCustomer(t, c.Database, 10)
	id := ada.submitted(n, clip(t), "method", "fast", "outputFormat", "webm")
	g.wait()
	stopped := make(chan error)
	go func() { stopped <- n.stop() }()
	n.refuses()
	g.open()
	if err := <-stopped; err != nil {
		t.Errorf("the node ended: %v", err)
	}
	if s := ada.state(id); s != job.Done {
		t.Errorf("the job is %s", s)
	}
}

// TestGiveBack checks that a job that does not end in time returns to the
// queue, for the next node.
func TestGiveBack(t *testing.T) {
	t.Parallel()
	each(t, func(t *testing.T, c server.Config) {
		g := newGate(t)
		c.Drain = 10 * time.Millisecond
		stuck := c
		stuck.Engine.FFmpeg = g.ffmpeg
		n := start(t, stuck)
		ada := newCustomer(t, c.Database, 10)
		id := ada.submitted(n, clip(t), "method", "fast", "outputFormat", "webm")
		g.wait()
		n.stopped()
		if s := ada.state(id); s != job.Queued {
			t.Errorf("the job is %s", s)
		}
		if done := ada.ended(start(t, c), id); done.Status != "done" {
			t.Errorf("the job is %+v", done)
		}
		if left := ada.credits(); left != 7 {
			t.Errorf("%d credits are left", left)
		}
	})
}
