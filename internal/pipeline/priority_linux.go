package pipeline

import (
	"runtime"

	"golang.org/x/sys/unix"
)

// niceness of threads that work on frames: a ninth of the weight of others
// (sched(7), 1.25 a step).
const niceness = 10

// yield makes the rest of this goroutine give way to others on the machine: to
// the encoder above all, a process of its own, which is last in line, so that
// all wait where it waits. The goroutine keeps its thread, which ends with it.
// Where priorities cannot be changed all stays as it was.
func yield() {
	runtime.LockOSThread()
	_ = unix.Setpriority(unix.PRIO_PROCESS, unix.Gettid(), niceness)
}
