package ffmpeg

import (
	"os"
	"os/exec"
	"syscall"

	"golang.org/x/sys/unix"
)

// isolate gives the child its own process group. The kernel kills it when the
// thread that started it ends, which is when we are killed: Go keeps its
// threads, except those of goroutines that end while locked to one, and none
// of ours is.
func isolate(cmd *exec.Cmd) {
	cmd.SysProcAttr = &syscall.SysProcAttr{Setpgid: true, Pdeathsig: syscall.SIGKILL}
}

// pipeSize is a whole small frame: fewer, longer reads and writes than the 64
// KiB that pipes have by default.
const pipeSize = 1 << 20

// widen enlarges a pipe where the system lets us.
func widen(pipe any) {
	conn, ok := pipe.(syscall.Conn)
	if !ok {
		return
	}
	if raw, err := conn.SyscallConn(); err == nil {
		_ = raw.Control(func(fd uintptr) { _, _ = unix.FcntlInt(fd, unix.F_SETPIPE_SZ, pipeSize) })
	}
}

func killGroup(p *os.Process) error { return syscall.Kill(-p.Pid, syscall.SIGKILL) }
