// Package cores is how many cores the program uses.
package cores

import (
	"runtime"
	"sync/atomic"
)

// spare is how many of Go's processors are there for threads in C.
var spare atomic.Int64

// Count is how many threads compute at once: one for each core that the program may use, or
// as many as the variable GOMAXPROCS says.
func Count() int { return max(1, runtime.GOMAXPROCS(0)-int(spare.Load())) }

// Spare gives Go half as many processors again, for a program with long calls of C. A thread
// keeps its processor during a call, until the runtime notices that others wait for one. Go
// follows no later change of the limit of cores. Call it once, before anything else starts.
func Spare() {
	n := Count()
	more := (n + 1) / 2
	runtime.GOMAXPROCS(n + more)
	spare.Store(int64(more))
}
