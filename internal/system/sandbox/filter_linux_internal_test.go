//go:build linux && (amd64 || arm64)

package sandbox

import (
	"encoding/binary"
	"testing"

	"golang.org/x/sys/unix"
)

// decide runs a filter on one call, as the kernel does.
func decide(t *testing.T, code []unix.SockFilter, arch uint32, number uintptr, arguments ...uint64) uint32 {
	t.Helper()
	var data [64]byte // struct seccomp_data
	binary.NativeEndian.PutUint32(data[offsetNumber:], uint32(number))
	binary.NativeEndian.PutUint32(data[offsetArch:], arch)
	for i, a := range arguments {
		binary.NativeEndian.PutUint64(data[offsetArguments+8*i:], a)
	}
	var loaded uint32
	for i := 0; i < len(code); i++ {
		switch is := code[i]; is.Code {
		case unix.BPF_LD | unix.BPF_W | unix.BPF_ABS:
			loaded = binary.NativeEndian.Uint32(data[is.K:])
		case unix.BPF_ALU | unix.BPF_AND | unix.BPF_K:
			loaded &= is.K
		case unix.BPF_JMP | unix.BPF_JEQ | unix.BPF_K:
			i += skipped(is, loaded == is.K)
		case unix.BPF_JMP | unix.BPF_JGE | unix.BPF_K:
			i += skipped(is, loaded >= is.K)
		case unix.BPF_RET | unix.BPF_K:
			return is.K
		default:
			t.Fatalf("instruction %+v", is)
		}
	}
	t.Fatal("the filter ends without an answer")
	return 0
}

func skipped(jump unix.SockFilter, holds bool) int {
	if holds {
		return int(jump.Jt)
	}
	return int(jump.Jf)
}

const (
	ownPID   = 4711
	noPID    = ^uint64(0) // -1
	thread   = unix.CLONE_VM | unix.CLONE_FS | unix.CLONE_FILES | unix.CLONE_SIGHAND | unix.CLONE_THREAD | unix.CLONE_SYSVSEM
	highBits = 0x1_0000_0000 // the kernel ignores them where it takes an int
	allowed  = unix.SECCOMP_RET_ALLOW
	kill     = unix.SECCOMP_RET_KILL_PROCESS
)

var eperm, enosys, eacces = refusal(unix.EPERM), refusal(unix.ENOSYS), refusal(unix.EACCES)

var decisions = []struct {
	name      string
	number    uintptr
	arguments []uint64
	want      uint32
}{
	{"read", unix.SYS_READ, nil, allowed},
	{"execve", unix.SYS_EXECVE, nil, allowed},
	{"unlinkat", unix.SYS_UNLINKAT, nil, enosys},
	{"the last number", 0x3fffffff, nil, enosys},
	{"socket of files", unix.SYS_SOCKET, []uint64{unix.AF_UNIX}, eacces},
	{"socket of IPv4", unix.SYS_SOCKET, []uint64{unix.AF_INET}, kill},
	{"socket of IPv6", unix.SYS_SOCKET, []uint64{unix.AF_INET6}, kill},
	{"socket of IPv4, high bits", unix.SYS_SOCKET, []uint64{unix.AF_INET | highBits}, kill},
	{"thread", unix.SYS_CLONE, []uint64{thread | unix.CLONE_SETTLS}, allowed},
	{"process", unix.SYS_CLONE, []uint64{uint64(unix.SIGCHLD)}, eperm},
	{"process with our memory", unix.SYS_CLONE, []uint64{unix.CLONE_VM | unix.CLONE_VFORK}, eperm},
	{"thread with a network", unix.SYS_CLONE, []uint64{thread | unix.CLONE_NEWNET}, eperm},
	{"clone3", unix.SYS_CLONE3, nil, enosys},
	{"kill itself", unix.SYS_KILL, []uint64{ownPID}, allowed},
	{"kill another", unix.SYS_KILL, []uint64{ownPID + 1}, eperm},
	{"kill all", unix.SYS_KILL, []uint64{noPID}, eperm},
	{"kill the group", unix.SYS_KILL, []uint64{0}, eperm},
	{"tgkill itself", unix.SYS_TGKILL, []uint64{ownPID, ownPID + 5}, allowed},
	{"tgkill another", unix.SYS_TGKILL, []uint64{1, 1}, eperm},
	{"tkill another", unix.SYS_TKILL, []uint64{1}, eperm},
	{"read limits", unix.SYS_PRLIMIT64, []uint64{0, unix.RLIMIT_STACK, 0, 8}, allowed},
	{"read another's limits", unix.SYS_PRLIMIT64, []uint64{1, unix.RLIMIT_STACK, 0, 8}, eperm},
	{"set a limit", unix.SYS_PRLIMIT64, []uint64{0, unix.RLIMIT_STACK, 8}, eperm},
	{"set a limit, far", unix.SYS_PRLIMIT64, []uint64{0, unix.RLIMIT_STACK, highBits}, eperm},
	{"set open files", unix.SYS_PRLIMIT64, []uint64{0, unix.RLIMIT_NOFILE, highBits}, allowed},
	{"set another's open files", unix.SYS_PRLIMIT64, []uint64{1, unix.RLIMIT_NOFILE, 8}, eperm},
	{"open to read", unix.SYS_OPENAT, []uint64{noPID, 0, unix.O_RDONLY | unix.O_CLOEXEC}, allowed},
	{"open to write", unix.SYS_OPENAT, []uint64{noPID, 0, unix.O_WRONLY | unix.O_CREAT | unix.O_TRUNC}, allowed},
	{"open for both", unix.SYS_OPENAT, []uint64{noPID, 0, unix.O_RDWR | unix.O_TRUNC}, allowed},
	{"open to empty", unix.SYS_OPENAT, []uint64{noPID, 0, unix.O_RDONLY | unix.O_TRUNC}, eperm},
	{"open for neither", unix.SYS_OPENAT, []uint64{noPID, 0, unix.O_ACCMODE}, eperm},
	{"name a thread", unix.SYS_PRCTL, []uint64{unix.PR_SET_NAME}, allowed},
	{"outlive us", unix.SYS_PRCTL, []uint64{unix.PR_SET_PDEATHSIG}, eperm},
	{"ask for a terminal", unix.SYS_IOCTL, []uint64{1, unix.TCGETS}, allowed},
	{"write to a terminal", unix.SYS_IOCTL, []uint64{0, unix.TIOCSTI}, eperm},
	{"write to a terminal, high bits", unix.SYS_IOCTL, []uint64{0, unix.TIOCSTI | highBits}, eperm},
	{"close at exec", unix.SYS_FCNTL, []uint64{3, unix.F_SETFD}, allowed},
	{"signal another", unix.SYS_FCNTL, []uint64{3, unix.F_SETOWN}, eperm},
}

func TestFilter(t *testing.T) {
	t.Parallel()
	code := strict(ownPID).code()
	if len(code) > 4096 { // BPF_MAXINSNS
		t.Errorf("the filter has %d instructions", len(code))
	}
	heard := audited(ownPID).code()
	for _, d := range decisions {
		if got := decide(t, code, auditArch, d.number, d.arguments...); got != d.want {
			t.Errorf("%s: %#x, want %#x", d.name, got, d.want)
		}
		want := d.want
		if (want == eperm || want == enosys) && d.number != unix.SYS_CLONE3 {
			want = unix.SECCOMP_RET_USER_NOTIF
		}
		if got := decide(t, heard, auditArch, d.number, d.arguments...); got != want {
			t.Errorf("%s, in an audit: %#x, want %#x", d.name, got, want)
		}
	}
	for name, got := range map[string]uint32{
		"another architecture": decide(t, code, unix.AUDIT_ARCH_I386, unix.SYS_READ),
		"x32":                  decide(t, code, auditArch, uintptr(otherNumbers)|unix.SYS_READ),
	} {
		if got != enosys {
			t.Errorf("%s: %#x", name, got)
		}
	}
}

func TestDescribe(t *testing.T) {
	t.Parallel()
	for want, got := range map[string]string{
		"unlinkat":                describe(unix.SYS_UNLINKAT, [6]uint64{1, 2}),
		"landlock_create_ruleset": describe(unix.SYS_LANDLOCK_CREATE_RULESET, [6]uint64{}),
		"#9999":                   describe(9999, [6]uint64{}),
		"ioctl(…, 0x5412)":        describe(unix.SYS_IOCTL, [6]uint64{1, unix.TIOCSTI | highBits}),
		"prlimit64(0x1, 0x2)":     describe(unix.SYS_PRLIMIT64, [6]uint64{1, 2, 3}),
		"clone(0x11)":             describe(unix.SYS_CLONE, [6]uint64{uint64(unix.SIGCHLD)}),
	} {
		if got != want {
			t.Errorf("%q, want %q", got, want)
		}
	}
}

// doctor says more about an old kernel than about a new one.
func TestLandlockHolds(t *testing.T) {
	t.Parallel()
	for _, tt := range []struct {
		abi      int
		filtered bool
		want     string
	}{
		{1, true, "Landlock ABI 1, too old to refuse truncation, TCP, device requests, signals; seccomp does"},
		{2, false, "Landlock ABI 2, too old to refuse truncation, TCP, device requests, signals; nothing else does"},
		{3, true, "Landlock ABI 3, too old to refuse TCP, device requests, signals; seccomp does"},
		{5, true, "Landlock ABI 5, too old to refuse signals; seccomp does"},
		{6, true, "Landlock ABI 6"},
		{7, false, "Landlock ABI 7"},
		{99, true, "Landlock ABI 99"},
	} {
		if got := landlockSupport(tt.abi, tt.filtered); got != tt.want {
			t.Errorf("%q, want %q", got, tt.want)
		}
	}
}
