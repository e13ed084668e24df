//go:build unix && !linux

package ffmpeg

import (
	"os"
	"os/exec"
	"syscall"
)

// isolate gives the child its own process group. Should we be killed, the
// child ends by itself when its pipe breaks.
func isolate(cmd *exec.Cmd) {
	cmd.SysProcAttr = &syscall.SysProcAttr{Setpgid: true}
}

// enlargePipe does nothing: the size of pipes is fixed here.
func enlargePipe(any) {}

func killGroup(p *os.Process) error { return syscall.Kill(-p.Pid, syscall.SIGKILL) }

func start(cmd *exec.Cmd) error { return cmd.Start() }
