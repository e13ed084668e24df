//go:build linux && (amd64 || arm64)

package sandbox

import (
	"slices"

	"golang.org/x/sys/unix"
)

//go:generate go run names.go

// calls are the rules for process pid. They allow the calls that ffmpeg, its
// libraries and our helper made in measurements. They also allow equally
// harmless ones, which only ask or change nothing but the caller. The audit
// (Policy.Audit) shows the further calls of another build of ffmpeg.
//
// The list was measured with strace(1) over all our uses of ffmpeg. The builds
// were Debian's 5.1, 7.1 and 9.0 with glibc 2.36, 2.41 and 2.43, a 9.0 that
// brings its libraries, a 7.1 with musl, and a 7.0 for arm64. Scripts for dash,
// bash and busybox that become ffmpeg were measured too.
//
// Calls that act on a process may act on the caller alone. Files change only by
// writes to open files. Landlock checks paths: a filter cannot look into
// memory.
func calls(pid uint32) []rule {
	return slices.Concat(network, allow(selfInfo...), allow(memory...), allow(threads...), allow(waiting...), allow(files...),
		opening(unix.SYS_OPENAT, 2), threadsAlone, signals(pid), limits, options, older,
		// The helper becomes the program with it, and the filter cannot tell a
		// second call from the first. After one the filter and Landlock remain,
		// and Landlock allows no more programs than before.
		allow(unix.SYS_EXECVE))
}

// network closes the network: Landlock knows TCP alone, and only since its ABI
// 4. A child that opens an internet socket is killed, because no clip should
// make it do that. Libraries ask for other sockets too; refusing these does no
// harm.
var network = []rule{
	{unix.SYS_SOCKET, []condition{is(0, unix.AF_INET)}, unix.SECCOMP_RET_KILL_PROCESS},
	{unix.SYS_SOCKET, []condition{is(0, unix.AF_INET6)}, unix.SECCOMP_RET_KILL_PROCESS},
	refuse(unix.SYS_SOCKET, unix.EACCES),
}

// selfInfo are calls that ask about the caller and the machine.
var selfInfo = []uintptr{
	unix.SYS_CAPGET, unix.SYS_GETCPU, unix.SYS_GETCWD, unix.SYS_GETEGID, unix.SYS_GETEUID, unix.SYS_GETGID, unix.SYS_GETGROUPS,
	unix.SYS_GETPGID, unix.SYS_GETPID, unix.SYS_GETPPID, unix.SYS_GETPRIORITY, unix.SYS_GETRANDOM, unix.SYS_GETRESGID,
	unix.SYS_GETRESUID, unix.SYS_GETRLIMIT, unix.SYS_GETRUSAGE, unix.SYS_GETSID, unix.SYS_GETTID, unix.SYS_GETUID,
	unix.SYS_SCHED_GETAFFINITY, unix.SYS_SCHED_GETPARAM, unix.SYS_SCHED_GETSCHEDULER, unix.SYS_SCHED_GET_PRIORITY_MAX,
	unix.SYS_SCHED_GET_PRIORITY_MIN, unix.SYS_SYSINFO, unix.SYS_TIMES, unix.SYS_UNAME,
}

// memory is the caller's own. libnuma asks for its placement, and libgcrypt
// locks a page of it.
var memory = []uintptr{
	unix.SYS_BRK, unix.SYS_GET_MEMPOLICY, unix.SYS_MADVISE, unix.SYS_MLOCK, unix.SYS_MMAP, unix.SYS_MPROTECT, unix.SYS_MREMAP,
	unix.SYS_MSEAL, unix.SYS_MUNLOCK, unix.SYS_MUNMAP, unix.SYS_SET_MEMPOLICY,
}

// threads are calls with which threads start, wait for each other, take signals
// and end.
var threads = []uintptr{
	unix.SYS_EXIT, unix.SYS_EXIT_GROUP, unix.SYS_FUTEX, unix.SYS_MEMBARRIER, unix.SYS_RESTART_SYSCALL, unix.SYS_RSEQ,
	unix.SYS_RT_SIGACTION, unix.SYS_RT_SIGPENDING, unix.SYS_RT_SIGPROCMASK, unix.SYS_RT_SIGRETURN, unix.SYS_RT_SIGSUSPEND,
	unix.SYS_RT_SIGTIMEDWAIT, unix.SYS_SCHED_YIELD, unix.SYS_SET_ROBUST_LIST, unix.SYS_SET_TID_ADDRESS, unix.SYS_SIGALTSTACK,
}

// waiting is for time or for descriptors. The helper waits with epoll.
var waiting = []uintptr{
	unix.SYS_CLOCK_GETRES, unix.SYS_CLOCK_GETTIME, unix.SYS_CLOCK_NANOSLEEP, unix.SYS_EPOLL_CREATE1, unix.SYS_EPOLL_CTL,
	unix.SYS_EPOLL_PWAIT, unix.SYS_EVENTFD2, unix.SYS_GETTIMEOFDAY, unix.SYS_NANOSLEEP, unix.SYS_PPOLL, unix.SYS_PSELECT6,
}

// files are calls that read files, write open ones, and look at them. Scripts
// that become ffmpeg change their own folder and umask.
var files = []uintptr{
	unix.SYS_CHDIR, unix.SYS_CLOSE, unix.SYS_CLOSE_RANGE, unix.SYS_DUP, unix.SYS_DUP3, unix.SYS_FACCESSAT, unix.SYS_FACCESSAT2,
	unix.SYS_FADVISE64, unix.SYS_FSTAT, unix.SYS_FSTATFS, unix.SYS_GETDENTS64, unix.SYS_LSEEK, unix.SYS_NEWFSTATAT, unix.SYS_PIPE2,
	unix.SYS_PREAD64, unix.SYS_PWRITE64, unix.SYS_READ, unix.SYS_READLINKAT, unix.SYS_READV, unix.SYS_STATFS, unix.SYS_STATX,
	unix.SYS_UMASK, unix.SYS_WRITE, unix.SYS_WRITEV,
}

// opening allows a child to open files, but to truncate only files that it
// opens for writing. Before its ABI 3 Landlock does not see truncation. It
// never asks for a right for the mode 3, see open(2).
func opening(number uintptr, flags int) []rule {
	return []rule{
		allowWhere(number, has(flags, unix.O_ACCMODE|unix.O_TRUNC, unix.O_RDONLY)),
		allowWhere(number, has(flags, unix.O_ACCMODE, unix.O_WRONLY)),
		allowWhere(number, has(flags, unix.O_ACCMODE, unix.O_RDWR)),
	}
}

// threadsAlone allows threads and no processes. A child without processes is
// the whole job: its limits are the job's, and nothing outlives it. Root could
// make a thread in a namespace of its own, so namespaces are refused. clone3
// takes its flags from memory; without it the C library uses clone.
var threadsAlone = []rule{
	allowWhere(unix.SYS_CLONE, has(0, unix.CLONE_THREAD|namespaces, unix.CLONE_THREAD)),
	refuse(unix.SYS_CLONE3, unix.ENOSYS),
}

const namespaces = unix.CLONE_NEWCGROUP | unix.CLONE_NEWIPC | unix.CLONE_NEWNET | unix.CLONE_NEWNS |
	unix.CLONE_NEWPID | unix.CLONE_NEWUSER | unix.CLONE_NEWUTS

// signals may go to the caller, because abort(3) raises one. tkill names a
// thread; the filter knows only the first one.
func signals(pid uint32) []rule {
	return []rule{
		allowWhere(unix.SYS_KILL, is(0, pid)),
		allowWhere(unix.SYS_TGKILL, is(0, pid)),
		allowWhere(unix.SYS_TKILL, is(0, pid)),
	}
}

// limits may be read. The helper sets one: Go raises its own number of open
// files, and restores it for the program. Nobody can raise it beyond the hard
// limit, see dropCapabilities.
var limits = []rule{
	allowWhere(unix.SYS_PRLIMIT64, is(0, 0), null(2)),
	allowWhere(unix.SYS_PRLIMIT64, is(0, 0), is(1, unix.RLIMIT_NOFILE)),
}

// options are the harmless uses of calls that do many things. PR_SET_PDEATHSIG
// is not among them, because the child could then outlive us. F_SETOWN is not,
// because it sends signals to others. Requests that write to a terminal are not
// either.
var options = slices.Concat(
	allowAny(unix.SYS_PRCTL, 0, unix.PR_SET_NAME, unix.PR_GET_NAME, unix.PR_SET_VMA, unix.PR_CAPBSET_READ),
	allowAny(unix.SYS_FCNTL, 1, unix.F_DUPFD, unix.F_DUPFD_CLOEXEC, unix.F_GETFD, unix.F_SETFD, unix.F_GETFL, unix.F_SETFL),
	allowAny(unix.SYS_IOCTL, 1, unix.TCGETS, unix.TCGETS2, unix.TIOCGWINSZ, unix.TIOCGPGRP),
)
