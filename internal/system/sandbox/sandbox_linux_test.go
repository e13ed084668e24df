package sandbox_test

import (
	"errors"
	"fmt"
	"net"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"syscall"
	"testing"
	"time"

	"golang.org/x/sys/unix"

	"github.com/bgremove/bgremove/internal/system/sandbox"
)

// The tests' children are this program too: the first argument names the
// attempt.
func TestMain(m *testing.M) {
	sandbox.Init()
	if len(os.Args) > 1 {
		if try, ok := attempts[os.Args[1]]; ok {
			if err := try(os.Args[2:]); err != nil {
				fmt.Fprintln(os.Stderr, err)
				os.Exit(1)
			}
			os.Exit(0)
		}
	}
	os.Exit(m.Run())
}

// attempts are the operations that a child can try on its arguments.
var attempts = map[string]func([]string) error{
	"tcp":   func(a []string) error { return dial("tcp", a[0]) },
	"udp":   func(a []string) error { return dial("udp", a[0]) },
	"unix":  func(a []string) error { return dial("unix", a[0]) },
	"read":  func(a []string) error { _, err := os.ReadFile(a[0]); return err },
	"list":  func(a []string) error { _, err := os.ReadDir(a[0]); return err },
	"write": func(a []string) error { return os.WriteFile(a[0], []byte("written"), 0o600) },
	"spin":  func([]string) error { return spin() },
	"open":  func(a []string) error { return openMany(a[0]) },
	"run":   func(a []string) error { return exec.Command(a[0]).Run() },
	"immortal": func([]string) error {
		return unix.Prctl(unix.PR_SET_PDEATHSIG, 0, 0, 0, 0)
	},
	"environment": func(a []string) error {
		if v, ok := os.LookupEnv(a[0]); ok {
			return fmt.Errorf("%s=%s", a[0], v)
		}
		return nil
	},
	"capabilities": func([]string) error { return capabilities() },
	"sleep":        func([]string) error { fmt.Println(os.Getpid()); time.Sleep(time.Hour); return nil },
	"parent":       func([]string) error { return confined("sleep", sandbox.Policy{}).Run() },
}

func dial(network, address string) error {
	c, err := net.Dial(network, address)
	if err != nil {
		return err
	}
	return c.Close()
}

func spin() error {
	for n := 0; ; n++ {
		if n < 0 {
			return errors.New("overflow")
		}
	}
}

// capabilities fails if it finds any but those to open files.
func capabilities() error {
	header, sets := unix.CapUserHeader{Version: unix.LINUX_CAPABILITY_VERSION_3}, [2]unix.CapUserData{}
	if err := unix.Capget(&header, &sets[0]); err != nil {
		return err
	}
	sets[0].Permitted &^= 1<<unix.CAP_DAC_OVERRIDE | 1<<unix.CAP_DAC_READ_SEARCH
	if sets[0].Permitted != 0 || sets[1].Permitted != 0 {
		return fmt.Errorf("capabilities %#x and %#x", sets[0].Permitted, sets[1].Permitted)
	}
	return nil
}

func openMany(path string) error {
	for {
		if _, err := os.Open(path); err != nil {
			return err
		}
	}
}

// confined is this program as a child that makes an attempt under a policy. Its
// standard output is ours.
func confined(attempt string, p sandbox.Policy, args ...string) *exec.Cmd {
	cmd := exec.Command(os.Args[0], append([]string{attempt}, args...)...)
	cmd.Stdout = os.Stdout
	sandbox.Confine(cmd, p)
	return cmd
}

// attempt runs a child to its end, and explains that end.
func attempt(cmd *exec.Cmd, p sandbox.Policy) (explained error, stderr string, err error) {
	var said strings.Builder
	cmd.Stderr = &said
	err = cmd.Run()
	return p.Explain(cmd.ProcessState, said.String()), said.String(), err
}

func write(t *testing.T, name string) string {
	t.Helper()
	path := filepath.Join(t.TempDir(), name)
	if err := os.WriteFile(path, []byte("as it was"), 0o600); err != nil {
		t.Fatal(err)
	}
	return path
}

// require skips a test where the kernel cannot enforce the tested part.
func require(t *testing.T, holds string) {
	t.Helper()
	if holds == "" {
		t.Skip(sandbox.Check().Missing)
	}
}

func TestForbidden(t *testing.T) {
	t.Parallel()
	secret, mine, created := write(t, "secret"), write(t, "mine"), filepath.Join(t.TempDir(), "new")
	listener, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		t.Fatal(err)
	}
	defer listener.Close()
	local, err := net.Listen("unix", filepath.Join(t.TempDir(), "s"))
	if err != nil {
		t.Fatal(err)
	}
	defer local.Close()
	holds := sandbox.Check()
	tests := []struct {
		name     string
		holds    string
		args     []string
		resource sandbox.Resource // "": refused, with the words in said
		said     string
	}{
		{"tcp", holds.Network, []string{"tcp", listener.Addr().String()}, sandbox.Network, ""},
		{"udp", holds.Network, []string{"udp", listener.Addr().String()}, sandbox.Network, ""},
		{"local socket", holds.Network, []string{"unix", local.Addr().String()}, sandbox.Files, ""},
		{"passwd", holds.Files, []string{"read", "/etc/passwd"}, sandbox.Files, ""},
		{"another file", holds.Files, []string{"read", secret}, sandbox.Files, ""},
		{"our environment", holds.Files, []string{"read", fmt.Sprintf("/proc/%d/environ", os.Getpid())}, sandbox.Files, ""},
		{"the file's folder", holds.Files, []string{"list", filepath.Dir(mine)}, sandbox.Files, ""},
		{"writing what it may read", holds.Files, []string{"write", mine}, sandbox.Files, ""},
		{"a new file", holds.Files, []string{"write", created}, sandbox.Files, ""},
		{"a process", holds.Network, []string{"run", "/bin/true"}, "", "operation not permitted"},
		{"outliving its parent", holds.Network, []string{"immortal"}, "", "operation not permitted"},
	}
	for _, tt := range tests { // in turn, because they share files
		require(t, tt.holds)
		if out, err := exec.Command(os.Args[0], tt.args...).CombinedOutput(); err != nil {
			t.Fatalf("%s: without a sandbox it fails, too: %v: %s", tt.name, err, out)
		}
		_ = os.Remove(created)
		p := sandbox.Policy{Read: []string{mine}}
		explained, stderr, err := attempt(confined(tt.args[0], p, tt.args[1:]...), p)
		limit := (*sandbox.LimitError)(nil)
		switch {
		case err == nil:
			t.Errorf("%s: it was let", tt.name)
		case tt.resource == "" && !strings.Contains(stderr, tt.said):
			t.Errorf("%s: it said %q, want %q", tt.name, stderr, tt.said)
		case tt.resource != "" && (!errors.As(explained, &limit) || limit.Resource != tt.resource):
			t.Errorf("%s: explained as %v (%v: %s), want %s", tt.name, explained, err, stderr, tt.resource)
		}
	}
	if _, err := os.Stat(created); err == nil {
		t.Error("a file was made")
	}
}

// A child can use the files that its policy names, whatever their names.
func TestAllowed(t *testing.T) {
	t.Parallel()
	odd := write(t, "odd \xff\xfe name")
	link := filepath.Join(t.TempDir(), "link")
	if err := os.Symlink(odd, link); err != nil {
		t.Fatal(err)
	}
	if os.Getuid() == 0 { // root may open anybody's files
		if err := os.Chown(odd, 65534, 65534); err != nil {
			t.Fatal(err)
		}
	}
	p := sandbox.Policy{Read: []string{odd, filepath.Join(t.TempDir(), "absent")}, Write: []string{link},
		Limits: sandbox.Limits{CPU: time.Minute, FileSize: 1 << 20, OpenFiles: 20}}
	for _, args := range [][]string{{"read", odd}, {"write", link}, {"environment", "HOME"}, {"capabilities"}} {
		if _, stderr, err := attempt(confined(args[0], p, args[1:]...), p); err != nil {
			t.Errorf("%q: %v: %s", args, err, stderr)
		}
	}
	if got, err := os.ReadFile(odd); err != nil || string(got) != "written" {
		t.Errorf("the file holds %q, %v", got, err)
	}
}

func TestLimits(t *testing.T) {
	t.Parallel()
	mine := write(t, "mine")
	files := sandbox.Policy{Read: []string{mine, "/dev/zero"}, Write: []string{mine}}
	tests := map[string]struct {
		limits sandbox.Limits
		cmd    *exec.Cmd
		want   sandbox.LimitError
	}{
		"cpu":        {sandbox.Limits{CPU: time.Second}, exec.Command(os.Args[0], "spin"), sandbox.LimitError{Resource: sandbox.CPU, Limit: "1s"}},
		"open files": {sandbox.Limits{OpenFiles: 30}, exec.Command(os.Args[0], "open", mine), sandbox.LimitError{Resource: sandbox.OpenFiles, Limit: "30"}},
		"file size":  {sandbox.Limits{FileSize: 1 << 20}, exec.Command("dd", "if=/dev/zero", "of="+mine, "bs=64k", "count=17"), sandbox.LimitError{Resource: sandbox.FileSize, Limit: "1.0 MiB"}},
	}
	for name, tt := range tests {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			p := files
			p.Limits = tt.limits
			sandbox.Confine(tt.cmd, p)
			explained, stderr, err := attempt(tt.cmd, p)
			limit := (*sandbox.LimitError)(nil)
			if !errors.As(explained, &limit) || *limit != tt.want {
				t.Errorf("explained as %v (%v: %s), want %v", explained, err, stderr, &tt.want)
			}
		})
	}
}

// A child that is not started leaves an error of ours.
func TestNoProgram(t *testing.T) {
	t.Parallel()
	cmd := exec.Command("/bin/true")
	cmd.Path = filepath.Join(t.TempDir(), "absent")
	p := sandbox.Policy{}
	sandbox.Confine(cmd, p)
	explained, stderr, _ := attempt(cmd, p)
	if !errors.Is(explained, sandbox.ErrHelper) || !strings.Contains(stderr, "absent: no such file") {
		t.Errorf("explained as %v: %s", explained, stderr)
	}
}

// Other failures are not the sandbox's.
func TestOwnFailure(t *testing.T) {
	t.Parallel()
	p := sandbox.Policy{Limits: sandbox.Limits{CPU: time.Minute, Memory: 1 << 40}}
	cmd := exec.Command("/bin/false")
	sandbox.Confine(cmd, p)
	if explained, _, err := attempt(cmd, p); err == nil || explained != nil {
		t.Errorf("%v, explained as %v", err, explained)
	}
}

// A killed parent takes its child with it. Here the middle one of three
// generations is killed.
func TestChildDiesWithItsParent(t *testing.T) {
	t.Parallel()
	parent := exec.Command(os.Args[0], "parent")
	out, err := parent.StdoutPipe()
	if err != nil {
		t.Fatal(err)
	}
	if err := parent.Start(); err != nil {
		t.Fatal(err)
	}
	child := 0
	if _, err := fmt.Fscan(out, &child); err != nil || child == parent.Process.Pid {
		t.Fatalf("the child is %d: %v", child, err)
	}
	fd, err := unix.PidfdOpen(child, 0)
	if err != nil {
		t.Fatal(err)
	}
	defer unix.Close(fd)
	if err := parent.Process.Kill(); err != nil {
		t.Fatal(err)
	}
	_ = parent.Wait() // killed
	ended := []unix.PollFd{{Fd: int32(fd), Events: unix.POLLIN}}
	n, err := unix.Poll(ended, 10_000)
	for errors.Is(err, unix.EINTR) {
		n, err = unix.Poll(ended, 10_000)
	}
	if n != 1 || err != nil {
		t.Errorf("the child lives: %d, %v", n, err)
	}
}

// The helper becomes the child in place: killing the one kills the other.
func TestKeepsItsProcess(t *testing.T) {
	t.Parallel()
	cmd := confined("sleep", sandbox.Policy{})
	cmd.Stdout = nil
	out, err := cmd.StdoutPipe()
	if err != nil {
		t.Fatal(err)
	}
	if err := cmd.Start(); err != nil {
		t.Fatal(err)
	}
	pid := 0
	if _, err := fmt.Fscan(out, &pid); err != nil || pid != cmd.Process.Pid {
		t.Errorf("the child is %d, the helper was %d: %v", pid, cmd.Process.Pid, err)
	}
	if err := cmd.Process.Signal(syscall.SIGKILL); err != nil {
		t.Fatal(err)
	}
	_ = cmd.Wait() // killed
}
