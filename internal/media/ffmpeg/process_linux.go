package ffmpeg

import (
	"os"
	"os/exec"
	"syscall"
)

// isolate gives the child its own process group. The kernel kills it when the
// thread that started it ends, which is when we are killed: Go keeps its
// threads, except those of goroutines that end while locked to one, and none
// of ours is.
func isolate(cmd *exec.Cmd) {
	cmd.SysProcAttr = &syscall.SysProcAttr{Setpgid: true, Pdeathsig: syscall.SIGKILL}
}

func killGroup(p *os.Process) error { return syscall.Kill(-p.Pid, syscall.SIGKILL) }
