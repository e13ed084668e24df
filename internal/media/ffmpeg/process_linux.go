package ffmpeg

import (
	"os"
	"os/exec"
	"runtime"
	"sync"
	"syscall"

	"golang.org/x/sys/unix"
)

// starter takes calls to one thread, which lives as long as we do.
var starter = sync.OnceValue(func() chan<- func() {
	calls := make(chan func())
	go func() {
		runtime.LockOSThread()
		for call := range calls {
			call()
		}
	}()
	return calls
})

// start starts the child from a thread of its own: the kernel kills a child
// when the thread that started it ends, which Go's other threads may do before
// we do, and a child inherits that thread's priority.
func start(cmd *exec.Cmd) (err error) {
	done := make(chan struct{})
	starter() <- func() {
		defer close(done)
		err = cmd.Start()
	}
	<-done
	return err
}

// isolate gives the child its own process group, and has the kernel kill it
// when we are killed.
func isolate(cmd *exec.Cmd) {
	cmd.SysProcAttr = &syscall.SysProcAttr{Setpgid: true, Pdeathsig: syscall.SIGKILL}
}

// pipeSize is a whole small frame: fewer, longer reads and writes than the 64
// KiB that pipes have by default.
const pipeSize = 1 << 20

// enlargePipe enlarges a pipe where the system lets us.
func enlargePipe(pipe any) {
	conn, ok := pipe.(syscall.Conn)
	if !ok {
		return
	}
	if raw, err := conn.SyscallConn(); err == nil {
		_ = raw.Control(func(fd uintptr) { _, _ = unix.FcntlInt(fd, unix.F_SETPIPE_SZ, pipeSize) })
	}
}

func killGroup(p *os.Process) error { return syscall.Kill(-p.Pid, syscall.SIGKILL) }
