//go:build unix

package cli_test

import (
	"bufio"
	"encoding/json"
	"io"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strings"
	"syscall"
	"testing"
)

// hangingFFmpeg is an ffmpeg that reports its start in a fifo and then hangs.
func hangingFFmpeg(t *testing.T, dir string) (program, fifo string) {
	t.Helper()
	program, fifo = filepath.Join(dir, "ffmpeg"), filepath.Join(dir, "fifo")
	if err := syscall.Mkfifo(fifo, 0o600); err != nil {
		t.Fatal(err)
	}
	script := "#!/bin/sh\ncase \"$*\" in *-version*) echo ffmpeg version 5.1; exit;; esac\necho $$ >" + fifo + "\nexec sleep 600\n"
	if err := os.WriteFile(program, []byte(script), 0o700); err != nil {
		t.Fatal(err)
	}
	return program, fifo
}

// sample copies a file of testdata.
func sample(t *testing.T, name, to string) {
	t.Helper()
	data, err := os.ReadFile(filepath.Join("..", "..", "testdata", name))
	if err != nil {
		t.Fatal(err)
	}
	// The file appears at once, like a moved file.
	if err := os.WriteFile(to+".part", data, 0o600); err != nil {
		t.Fatal(err)
	}
	if err := os.Rename(to+".part", to); err != nil {
		t.Fatal(err)
	}
}

func names(t *testing.T, dir string) []string {
	t.Helper()
	entries, err := os.ReadDir(dir)
	if err != nil {
		t.Fatal(err)
	}
	var list []string
	for _, e := range entries {
		list = append(list, e.Name())
	}
	return list
}

// Ctrl-C ends a batch with 130. Finished outputs stay, unfinished ones leave
// nothing, and the same command does the rest.
func TestBatchInterrupt(t *testing.T) {
	t.Parallel()
	dir := t.TempDir()
	in, out, tmp := filepath.Join(dir, "in"), filepath.Join(dir, "out"), filepath.Join(dir, "tmp")
	for _, d := range []string{in, tmp} {
		if err := os.Mkdir(d, 0o700); err != nil {
			t.Fatal(err)
		}
	}
	sample(t, "pygif/animation.gif", filepath.Join(in, "a.gif"))
	sample(t, "demo/hop.mp4", filepath.Join(in, "b.mp4"))
	sample(t, "pygif/animation.gif", filepath.Join(in, "c.gif"))
	decoder, fifo := hangingFFmpeg(t, dir)
	run := func(args ...string) *exec.Cmd {
		cmd := exec.CommandContext(t.Context(), "bgremove", append([]string{"batch", in, "--out", out, "--method", "fast", "--jobs", "1"}, args...)...)
		cmd.Env = append(os.Environ(), "TMPDIR="+tmp)
		cmd.Stderr = new(strings.Builder)
		return cmd
	}
	cmd := run("--ffmpeg", decoder, "--sandbox", "off")
	if err := cmd.Start(); err != nil {
		t.Fatal(err)
	}
	if _, err := os.ReadFile(fifo); err != nil { // waits for the decoder
		t.Fatal(err)
	}
	if err := cmd.Process.Signal(os.Interrupt); err != nil {
		t.Fatal(err)
	}
	_ = cmd.Wait()
	if code := cmd.ProcessState.ExitCode(); code != 130 || !strings.Contains(cmd.Stderr.(*strings.Builder).String(), "interrupted after 1 of 3 files; the same command continues") {
		t.Errorf("exit code %d, stderr %s", code, cmd.Stderr)
	}
	if got := names(t, out); !slices.Equal(got, []string{"a-nobg.gif"}) {
		t.Errorf("outputs of the first run: %v", got)
	}
	cmd = run("--end", "0.2")
	if err := cmd.Run(); err != nil || !strings.Contains(cmd.Stderr.(*strings.Builder).String(), "skipped      1") {
		t.Errorf("second run: %v, %s", err, cmd.Stderr)
	}
	if got := names(t, out); !slices.Equal(got, []string{"a-nobg.gif", "b-nobg.gif", "c-nobg.gif"}) {
		t.Errorf("outputs of the second run: %v", got)
	}
	if left := names(t, tmp); len(left) > 0 {
		t.Errorf("left behind: %v", left)
	}
}

// --watch processes existing and new files, in folders below too, but not its
// own outputs. Ctrl-C is its normal end.
func TestBatchWatch(t *testing.T) {
	t.Parallel()
	dir := t.TempDir()
	in := filepath.Join(dir, "in")
	if err := os.Mkdir(in, 0o700); err != nil {
		t.Fatal(err)
	}
	sample(t, "pygif/animation.gif", filepath.Join(in, "a.gif"))
	cmd := exec.CommandContext(t.Context(), "bgremove", "batch", in, "--out", filepath.Join(in, "cut"), "--recursive", "--watch", "--json", "--method", "fast")
	said, end := watched(t, cmd, in)
	next := func(input, output, status string) {
		t.Helper()
		if got := said(input, status).Output; got != filepath.Join(in, "cut", filepath.FromSlash(output)) {
			t.Errorf("output %s of %s, want %s", got, input, output)
		}
	}
	next("a.gif", "a-nobg.gif", "done")
	sample(t, "pygif/animation.gif", filepath.Join(in, "a.mov"))
	next("a.mov", "a-mov-nobg.gif", "done") // its content is a GIF's
	if err := os.Mkdir(filepath.Join(in, "sub"), 0o700); err != nil {
		t.Fatal(err)
	}
	sample(t, "pygif/animation.gif", filepath.Join(in, "sub", "b.gif"))
	next("sub/b.gif", "sub/b-nobg.gif", "done")
	if err := os.WriteFile(filepath.Join(in, "a.gif"), []byte("GIF, changed"), 0o600); err != nil {
		t.Fatal(err)
	}
	if code := end(); code != 0 {
		t.Errorf("exit code %d", code)
	}
}

// A file that is replaced during its processing does not go to a second worker.
// It is processed again when the first has ended.
func TestBatchWatchInWork(t *testing.T) {
	t.Parallel()
	dir := t.TempDir()
	in, out := filepath.Join(dir, "in"), filepath.Join(dir, "out")
	if err := os.Mkdir(in, 0o700); err != nil {
		t.Fatal(err)
	}
	sample(t, "demo/hop.mp4", filepath.Join(in, "a.mp4"))
	decoder, began, end := slowFFmpeg(t, dir)
	// It is named twice but processed once.
	cmd := exec.CommandContext(t.Context(), "bgremove", "batch", filepath.Join(in, "a.mp4"), in, "--out", out, "--watch", "--update", "--jobs", "2", "--json",
		"--method", "fast", "--end", "0.2", "--ffmpeg", decoder, "--sandbox", "off")
	next, interrupt := watched(t, cmd, in)
	if _, err := os.ReadFile(began); err != nil { // waits for the decoder
		t.Fatal(err)
	}
	sample(t, "demo/hop.mp4", filepath.Join(in, "a.mp4"))
	sample(t, "pygif/animation.gif", filepath.Join(in, "b.gif"))
	next("b.gif", "done") // it came later, so a.mp4 was looked at too
	if err := os.WriteFile(end, nil, 0o600); err != nil {
		t.Fatal(err)
	}
	next("a.mp4", "done")
	next("a.mp4", "done")
	if code := interrupt(); code != 0 {
		t.Errorf("exit code %d", code)
	}
}

// outcome is a line of --json about a file.
type outcome struct{ Input, Status, Output, Error, Hint string }

// watched starts a command that reports with --json on each file of a folder.
// next reads the next line. end interrupts the command, checks that no more
// lines follow, and returns its exit code.
func watched(t *testing.T, cmd *exec.Cmd, in string) (next func(input, status string) outcome, end func() int) {
	t.Helper()
	if cmd.Stderr == nil {
		cmd.Stderr = t.Output()
	}
	stdout, err := cmd.StdoutPipe()
	if err != nil {
		t.Fatal(err)
	}
	if err := cmd.Start(); err != nil {
		t.Fatal(err)
	}
	next = outcomes(t, stdout, in)
	return next, func() int {
		t.Helper()
		if err := cmd.Process.Signal(os.Interrupt); err != nil {
			t.Fatal(err)
		}
		next("", "")
		_ = cmd.Wait()
		return cmd.ProcessState.ExitCode()
	}
}

// outcomes reads the lines of --json about the files of a folder; "" marks the
// end.
func outcomes(t *testing.T, stdout io.Reader, in string) (next func(input, status string) outcome) {
	t.Helper()
	lines := bufio.NewScanner(stdout)
	return func(input, status string) outcome {
		t.Helper()
		var line outcome
		switch more := lines.Scan(); {
		case more != (input != ""):
			t.Fatalf("line %q, %v, want %q", lines.Bytes(), lines.Err(), input)
		case !more:
			return line
		}
		if err := json.Unmarshal(lines.Bytes(), &line); err != nil {
			t.Fatal(err)
		}
		if line.Input != filepath.Join(in, filepath.FromSlash(input)) || line.Status != status {
			t.Errorf("%+v, want %s of %s", line, status, input)
		}
		return line
	}
}

// A new file gets an unused name, or fails with the name's owner. Even --force
// does not overwrite the output of another file.
func TestBatchWatchNames(t *testing.T) {
	t.Parallel()
	dir := t.TempDir()
	args := []string{"batch", "--out", filepath.Join(dir, "out"), "--watch", "--force", "--json", "--method", "fast"}
	for _, name := range []string{"x", "y", "z"} {
		if err := os.Mkdir(filepath.Join(dir, name), 0o700); err != nil {
			t.Fatal(err)
		}
		args = append(args, filepath.Join(dir, name))
	}
	cmd := exec.CommandContext(t.Context(), "bgremove", args...)
	stderr := new(strings.Builder)
	cmd.Stderr = stderr
	next, end := watched(t, cmd, dir)
	for _, file := range []struct{ input, status, output string }{
		{"y/a.gif", "done", "a-nobg.gif"}, {"x/a.gif", "done", "a-gif-nobg.gif"}, {"z/a.gif", "failed", "a-gif-nobg.gif"},
	} {
		sample(t, "pygif/animation.gif", filepath.Join(dir, filepath.FromSlash(file.input)))
		said := next(file.input, file.status)
		if said.Output != filepath.Join(dir, "out", file.output) {
			t.Errorf("output of %+v", said)
		}
		if file.status == "failed" && said.Error != said.Output+": the output of "+filepath.Join(dir, "x", "a.gif")+" and of "+filepath.Join(dir, "z", "a.gif") {
			t.Errorf("error of %+v", said)
		}
	}
	if code := end(); code != 3 || !strings.Contains(stderr.String(), "\nhint: rename one of them") {
		t.Errorf("exit code %d, stderr %s", code, stderr)
	}
}

// A vanished folder is reported with a hint and counts as a failure. Its files
// are processed when it is back.
func TestBatchWatchGone(t *testing.T) {
	t.Parallel()
	dir := t.TempDir()
	in := filepath.Join(dir, "in")
	if err := os.Mkdir(in, 0o700); err != nil {
		t.Fatal(err)
	}
	sample(t, "pygif/animation.gif", filepath.Join(in, "a.gif"))
	cmd := exec.CommandContext(t.Context(), "bgremove", "batch", in, "--out", filepath.Join(dir, "out"), "--watch", "--json", "--method", "fast")
	next, end := watched(t, cmd, in)
	next("a.gif", "done")
	if err := os.RemoveAll(in); err != nil {
		t.Fatal(err)
	}
	if said := next(".", "failed"); said.Error != in+": no such file or folder" || said.Hint != "the watch continues when the folder is back" {
		t.Errorf("said %+v", said)
	}
	if err := os.Mkdir(in, 0o700); err != nil {
		t.Fatal(err)
	}
	sample(t, "pygif/animation.gif", filepath.Join(in, "b.gif"))
	next("b.gif", "done")
	if code := end(); code != 3 {
		t.Errorf("exit code %d", code)
	}
}

// slowFFmpeg is an ffmpeg that reports its start in one fifo and waits for a
// write to another.
func slowFFmpeg(t *testing.T, dir string) (program, began, end string) {
	t.Helper()
	ffmpeg, err := exec.LookPath("ffmpeg")
	if err != nil {
		t.Fatal(err)
	}
	program, began, end = filepath.Join(dir, "ffmpeg"), filepath.Join(dir, "began"), filepath.Join(dir, "end")
	for _, fifo := range []string{began, end} {
		if err := syscall.Mkfifo(fifo, 0o600); err != nil {
			t.Fatal(err)
		}
	}
	script := "#!/bin/sh\ncase \"$*\" in *-version*) ;; *) if mkdir " + filepath.Join(dir, "first") + " 2>/dev/null; then echo >" + began + "; cat " + end + "; fi;; esac\n" +
		"exec " + ffmpeg + " \"$@\"\n"
	if err := os.WriteFile(program, []byte(script), 0o700); err != nil {
		t.Fatal(err)
	}
	return program, began, end
}
