//go:build unix

package cli_test

import (
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"syscall"
	"testing"

	"github.com/modelcontextprotocol/go-sdk/mcp"
)

// Ctrl-C ends the run with 130, and leaves no file and no child process. The
// decoder is a script that writes its pid and then hangs.
func TestInterrupt(t *testing.T) {
	t.Parallel()
	dir := t.TempDir()
	decoder, fifo := hangingFFmpeg(t, dir)
	work := filepath.Join(dir, "work")
	if err := os.Mkdir(work, 0o700); err != nil {
		t.Fatal(err)
	}
	hop, err := filepath.Abs("../../testdata/demo/hop.mp4")
	if err != nil {
		t.Fatal(err)
	}
	cmd := exec.CommandContext(t.Context(), "bgremove", "remove", hop, "-o", filepath.Join(work, "out.webm"), "--ffmpeg", decoder,
		"--sandbox", "off") // in the sandbox it could not write to the fifo
	cmd.Env = append(os.Environ(), "TMPDIR="+work)
	var stderr strings.Builder
	cmd.Stderr = &stderr
	if err := cmd.Start(); err != nil {
		t.Fatal(err)
	}
	children := decoding(t, fifo)
	if err := cmd.Process.Signal(os.Interrupt); err != nil {
		t.Fatal(err)
	}
	_ = cmd.Wait()
	if code := cmd.ProcessState.ExitCode(); code != 130 || !strings.Contains(stderr.String(), "interrupted") {
		t.Errorf("exit code %d, stderr %q", code, &stderr)
	}
	if left, err := os.ReadDir(work); err != nil || len(left) > 0 {
		t.Errorf("left behind: %v, %v", left, err)
	}
	gone(t, children)
}

// decoding waits for both decoders of hangingFFmpeg, that of the survey and that of the
// first pass, and returns their pids.
func decoding(t *testing.T, fifo string) (pids [2]int) {
	t.Helper()
	f, err := os.OpenFile(fifo, os.O_RDWR, 0) // with a writer of our own the first one's end is no end
	if err != nil {
		t.Fatal(err)
	}
	defer f.Close()
	for i := range pids {
		if _, err := fmt.Fscanln(f, &pids[i]); err != nil {
			t.Fatal(err)
		}
	}
	return pids
}

// gone wants no process with these pids.
func gone(t *testing.T, pids [2]int) {
	t.Helper()
	for _, pid := range pids {
		if err := syscall.Kill(pid, 0); err == nil {
			t.Errorf("the decoder %d is still running", pid)
		}
	}
}

// Ctrl-C also ends a run that waits for standard input.
func TestInterruptWhileReading(t *testing.T) {
	t.Parallel()
	work := t.TempDir()
	cmd := exec.CommandContext(t.Context(), "bgremove", "remove", "-", "-o", filepath.Join(work, "out.gif"))
	cmd.Env = append(os.Environ(), "TMPDIR="+work)
	var stderr strings.Builder
	cmd.Stderr = &stderr
	stdin, err := cmd.StdinPipe()
	if err != nil {
		t.Fatal(err)
	}
	defer stdin.Close()
	if err := cmd.Start(); err != nil {
		t.Fatal(err)
	}
	// This is more than a pipe holds: once it is written, the command is
	// reading.
	if _, err := stdin.Write(make([]byte, 1<<20)); err != nil {
		t.Fatal(err)
	}
	if err := cmd.Process.Signal(os.Interrupt); err != nil {
		t.Fatal(err)
	}
	_ = cmd.Wait()
	if code := cmd.ProcessState.ExitCode(); code != 130 {
		t.Errorf("exit code %d, stderr %q", code, &stderr)
	}
	if left, err := os.ReadDir(work); err != nil || len(left) > 0 {
		t.Errorf("left behind: %v, %v", left, err)
	}
}

// A signal ends the tools of an assistant like a service, without an error. A call that runs
// leaves neither a file nor a child process.
func TestInterruptAssistant(t *testing.T) {
	t.Parallel()
	dir := t.TempDir()
	decoder, fifo := hangingFFmpeg(t, dir)
	work := filepath.Join(dir, "work")
	if err := os.Mkdir(work, 0o700); err != nil {
		t.Fatal(err)
	}
	sample(t, "demo/hop.mp4", filepath.Join(work, "hop.mp4"))
	cmd := exec.Command("bgremove", "mcp", "--ffmpeg", decoder, "--sandbox", "off")
	cmd.Dir, cmd.Env = work, append(os.Environ(), "TMPDIR="+work)
	var stderr strings.Builder
	cmd.Stderr = &stderr
	session, err := mcp.NewClient(&mcp.Implementation{Name: "test", Version: "1"}, nil).Connect(t.Context(), &mcp.CommandTransport{Command: cmd}, nil)
	if err != nil {
		t.Fatal(err)
	}
	go func() {
		_, _ = session.CallTool(t.Context(), &mcp.CallToolParams{Name: "remove", Arguments: map[string]any{"input": "hop.mp4", "output": "out.webm"}})
	}()
	children := decoding(t, fifo)
	if err := cmd.Process.Signal(os.Interrupt); err != nil {
		t.Fatal(err)
	}
	_ = session.Wait()
	if _ = session.Close(); cmd.ProcessState.ExitCode() != 0 || stderr.Len() > 0 {
		t.Errorf("exit code %d, stderr %q", cmd.ProcessState.ExitCode(), &stderr)
	}
	if left, err := os.ReadDir(work); err != nil || len(left) != 1 {
		t.Errorf("left behind: %v, %v", left, err)
	}
	gone(t, children)
}
