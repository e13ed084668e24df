package pipeline

import (
	"runtime"

	"golang.org/x/sys/unix"
)

// niceness is by how much threads that work on frames are nicer than the process: they have
// a ninth of the weight of others (sched(7), 1.25 a step).
const niceness = 10

// lowerPriority lowers this goroutine's priority for the rest of its life. Other
// processes on the machine come first, above all the encoder, which is last in
// the pipeline: if it waits, everything waits. The goroutine keeps its thread,
// which ends with it. If priorities cannot be changed, nothing happens.
func lowerPriority() {
	runtime.LockOSThread()
	thread := unix.Gettid()
	if own, err := unix.Getpriority(unix.PRIO_PROCESS, thread); err == nil {
		_ = unix.Setpriority(unix.PRIO_PROCESS, thread, 20-own+niceness) // the kernel counts from 20 down
	}
}
