package sandbox

import (
	"fmt"
	"os"
	"strings"
	"sync"
	"syscall"
	"unsafe"

	ll "github.com/landlock-lsm/go-landlock/landlock/syscall"
	"golang.org/x/sys/unix"
)

// self is this program, even if its file has been replaced since.
const self = "/proc/self/exe"

// Check finds out which mechanisms hold. The first call asks the kernel.
func Check() Support {
	if !initialised {
		return Support{Missing: "this program does not begin with Init"}
	}
	return kernelSupport()
}

var kernelSupport = sync.OnceValue(func() Support {
	h := Support{Limits: "setrlimit"}
	if filters() {
		h.Network = "seccomp"
	} else {
		h.Missing = "this kernel or architecture does not offer seccomp filters"
	}
	if abi, err := ll.LandlockGetABIVersion(); err == nil && abi > 0 {
		h.Files = landlockSupport(abi, h.Network != "")
	} else {
		h.Missing = "this kernel does not offer Landlock"
	}
	return h
})

// laterRights are the things that Landlock refuses only since a later ABI than its
// first.
var laterRights = []struct {
	abi  int
	what string
}{
	{3, "truncation"},
	{4, "TCP"},
	{5, "device requests"},
	{6, "signals"},
}

// landlockSupport lists what this ABI of Landlock is too old to refuse, and says
// whether the filter of system calls refuses it.
func landlockSupport(abi int, filtered bool) string {
	var missing []string
	for _, l := range laterRights {
		if abi < l.abi {
			missing = append(missing, l.what)
		}
	}
	text := fmt.Sprintf("Landlock ABI %d", abi)
	if len(missing) == 0 {
		return text
	}
	text += ", too old to refuse " + strings.Join(missing, ", ")
	if filtered {
		return text + "; seccomp does"
	}
	return text + "; nothing else does"
}

// filters reports whether the kernel takes our filter of system calls.
func filters() bool {
	action := uint32(unix.SECCOMP_RET_KILL_PROCESS)
	_, _, errno := unix.Syscall(unix.SYS_SECCOMP, unix.SECCOMP_GET_ACTION_AVAIL, 0, uintptr(unsafe.Pointer(&action)))
	return errno == 0 && auditArch != 0
}

// endedFor is the resource that ended a child, as far as the kernel shows.
func endedFor(state *os.ProcessState, l Limits) Resource {
	status, ok := state.Sys().(syscall.WaitStatus)
	if !ok {
		return ""
	}
	switch {
	case !status.Signaled():
	case status.Signal() == unix.SIGXFSZ:
		return FileSize
	case status.Signal() == unix.SIGSYS:
		return Network
	// The kernel counts ticks for the limit, but reports measured time; the two
	// differ on a busy machine.
	case status.Signal() == unix.SIGKILL && l.CPU > 0 && state.UserTime()+state.SystemTime() >= l.CPU/2:
		return CPU
	}
	if l.Memory > 0 && float64(ownPeak(state)) >= 0.75*float64(l.Memory) {
		return Memory // it used most of its memory, and failed
	}
	return ""
}

// ownPeak is the largest number of bytes that a child had in memory, or 0 if
// our own peak is larger. The kernel counts our memory too, because a child
// shares it until it runs its program.
func ownPeak(state *os.ProcessState) int64 {
	var ours unix.Rusage
	child, ok := state.SysUsage().(*syscall.Rusage)
	if !ok || unix.Getrusage(unix.RUSAGE_SELF, &ours) != nil || child.Maxrss <= ours.Maxrss {
		return 0
	}
	return int64(child.Maxrss) << 10 //nolint:unconvert // it has 32 bits elsewhere
}
