package sandbox

import (
	"slices"

	"golang.org/x/sys/unix"
)

const (
	auditArch = unix.AUDIT_ARCH_X86_64
	// otherNumbers is the first number of the x32 ABI.
	otherNumbers = 0x40000000
)

// older are rules for calls that newer architectures no longer have.
var older = slices.Concat(
	allow(unix.SYS_ACCESS, unix.SYS_ARCH_PRCTL, unix.SYS_DUP2, unix.SYS_EPOLL_WAIT, unix.SYS_GETDENTS, unix.SYS_GETPGRP, unix.SYS_LSTAT,
		unix.SYS_PIPE, unix.SYS_POLL, unix.SYS_READLINK, unix.SYS_SELECT, unix.SYS_STAT, unix.SYS_TIME),
	opening(unix.SYS_OPEN, 1),
	[]rule{{number: unix.SYS_FORK, answer: forbidden}, {number: unix.SYS_VFORK, answer: forbidden}},
)
