package sandbox_test

import (
	"errors"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"golang.org/x/sys/unix"

	"github.com/bgremove/bgremove/internal/system/sandbox"
)

func init() {
	attempts["unlisted"] = func(a []string) error {
		for range 2 {
			_, err := unix.FcntlInt(0, unix.F_GETOWN, 0)
			if err := errors.Join(err, os.Chmod(a[0], 0o640), unix.Prctl(unix.PR_GET_TIMERSLACK, 0, 0, 0, 0)); err != nil {
				return err
			}
		}
		return dial("tcp", "127.0.0.1:9")
	}
}

// listened runs a child to its end in an audit.
func listened(cmd *exec.Cmd, p sandbox.Policy) (explained error, heard []string, err error) {
	p.Audit = func(call string) { heard = append(heard, call) }
	var said strings.Builder
	cmd.Stderr = &said
	audit := sandbox.Confine(cmd, p)
	err = cmd.Start()
	audit.Start()
	if err == nil {
		err = cmd.Wait()
	}
	audit.Close()
	slices.Sort(heard)
	return p.Explain(cmd.ProcessState, said.String()), heard, err
}

// An audit lets calls through that are not on the list, and reports each once.
// The network stays closed.
func TestAudit(t *testing.T) {
	t.Parallel()
	require(t, sandbox.Check().Network)
	file := write(t, "theirs")
	explained, heard, err := listened(exec.Command(os.Args[0], "unlisted", file), sandbox.Policy{Read: []string{file}})
	if limit := (*sandbox.LimitError)(nil); !errors.As(explained, &limit) || limit.Resource != sandbox.Network {
		t.Errorf("explained as %v (%v), want the network", explained, err)
	}
	if want := []string{"fchmodat", "fcntl(…, 0x9)", "prctl(0x1e)"}; !slices.Equal(heard, want) {
		t.Errorf("heard %q, want %q", heard, want)
	}
	if stat, err := os.Stat(file); err != nil || stat.Mode() != 0o640 {
		t.Errorf("the file is %v, %v", stat, err)
	}
}

// An audit ends with its child, however the child ends.
func TestAuditEnds(t *testing.T) {
	t.Parallel()
	require(t, sandbox.Check().Network)
	absent := filepath.Join(t.TempDir(), "absent")
	for name, path := range map[string]string{"a program": "/bin/true", "no program": absent, "no helper": ""} {
		cmd := &exec.Cmd{Path: path, Args: []string{path}}
		if path == "" {
			cmd.Dir = absent
		}
		explained, heard, err := listened(cmd, sandbox.Policy{})
		if ran := path == "/bin/true"; len(heard) > 0 || ran != (err == nil) || (path == absent) != errors.Is(explained, sandbox.ErrHelper) {
			t.Errorf("%s: heard %q, explained as %v (%v)", name, heard, explained, err)
		}
	}
}
