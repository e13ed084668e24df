package sandbox

import (
	"unsafe"

	"golang.org/x/sys/unix"
)

// call is a rule about one system call.
type call struct {
	number uint32
	// mask and value choose by the first argument: the rule is for calls where
	// argument & mask == value. A zero mask is every call.
	mask, value uint32
	action      uint32
}

func refuse(number uintptr, errno unix.Errno) call {
	return call{number: uint32(number), action: unix.SECCOMP_RET_ERRNO | uint32(errno)}
}

// where narrows a rule to calls whose first argument fits.
func (c call) where(mask, value uint32) call {
	c.mask, c.value = mask, value
	return c
}

const exactly = ^uint32(0)

// calls are refused to children; the first rule that fits decides.
//
// Landlock knows TCP alone, and only since its ABI 4: the network is closed
// here. Who opens an internet socket is killed, since it does what no clip
// should make it do. Other sockets libraries ask for in vain without harm.
//
// A child that makes no processes is all of its job: its limits are the job's,
// and nothing outlives it. clone3 takes its flags from memory, where a filter
// cannot look; without it the C library uses clone.
var calls = append([]call{
	{number: unix.SYS_SOCKET, mask: exactly, value: unix.AF_INET, action: unix.SECCOMP_RET_KILL_PROCESS},
	{number: unix.SYS_SOCKET, mask: exactly, value: unix.AF_INET6, action: unix.SECCOMP_RET_KILL_PROCESS},
	refuse(unix.SYS_SOCKET, unix.EACCES),
	refuse(unix.SYS_IO_URING_SETUP, unix.EPERM), // opens sockets, too
	refuse(unix.SYS_CLONE, unix.EPERM).where(unix.CLONE_THREAD, 0),
	refuse(unix.SYS_CLONE3, unix.ENOSYS),
	refuse(unix.SYS_PRCTL, unix.EPERM).where(exactly, unix.PR_SET_PDEATHSIG),
	refuse(unix.SYS_PTRACE, unix.EPERM),
	refuse(unix.SYS_PROCESS_VM_READV, unix.EPERM),
	refuse(unix.SYS_PROCESS_VM_WRITEV, unix.EPERM),
}, oldCalls...)

// Offsets into struct seccomp_data, seccomp(2). The low half of the first
// argument is enough: what is asked of it are ints and flags.
const (
	offsetNumber   = 0
	offsetArch     = 4
	offsetArgument = 16
)

// restrictCalls installs the filter on this thread and what it becomes.
func restrictCalls() error {
	if !filters() {
		return nil
	}
	code := program()
	f := unix.SockFprog{Len: uint16(len(code)), Filter: &code[0]}
	_, _, errno := unix.Syscall(unix.SYS_SECCOMP, unix.SECCOMP_SET_MODE_FILTER, 0, uintptr(unsafe.Pointer(&f)))
	if errno != 0 {
		return errno
	}
	return nil
}

// program is the filter. Calls of another architecture, numbered otherwise, do
// not exist for the child.
func program() []unix.SockFilter {
	code := []unix.SockFilter{
		load(offsetArch),
		skipUnless(unix.BPF_JEQ, auditArch, 2), // to the answer
		load(offsetNumber),
		skipUnless(unix.BPF_JGE, otherNumbers, 1),
		answer(unix.SECCOMP_RET_ERRNO | uint32(unix.ENOSYS)),
	}
	for _, c := range calls {
		rule := []unix.SockFilter{answer(c.action)}
		if c.mask != 0 {
			rule = append([]unix.SockFilter{
				load(offsetArgument),
				{Code: unix.BPF_ALU | unix.BPF_AND | unix.BPF_K, K: c.mask},
				skipUnless(unix.BPF_JEQ, c.value, 1),
			}, rule...)
		}
		code = append(code, load(offsetNumber), skipUnless(unix.BPF_JEQ, c.number, uint8(len(rule))))
		code = append(code, rule...)
	}
	return append(code, answer(unix.SECCOMP_RET_ALLOW))
}

func load(offset uint32) unix.SockFilter {
	return unix.SockFilter{Code: unix.BPF_LD | unix.BPF_W | unix.BPF_ABS, K: offset}
}

// skipUnless goes over n instructions unless what was loaded compares to k.
func skipUnless(comparison uint16, k uint32, n uint8) unix.SockFilter {
	return unix.SockFilter{Code: unix.BPF_JMP | comparison | unix.BPF_K, K: k, Jf: n}
}

func answer(action uint32) unix.SockFilter {
	return unix.SockFilter{Code: unix.BPF_RET | unix.BPF_K, K: action}
}
