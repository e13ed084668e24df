package sandbox

import "golang.org/x/sys/unix"

const (
	auditArch = unix.AUDIT_ARCH_X86_64
	// otherNumbers is where those of the x32 ABI begin.
	otherNumbers = 0x40000000
)

// oldCalls are calls that newer architectures have no more.
var oldCalls = []call{refuse(unix.SYS_FORK, unix.EPERM), refuse(unix.SYS_VFORK, unix.EPERM)}
