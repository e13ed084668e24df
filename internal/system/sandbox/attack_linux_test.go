package sandbox_test

import (
	"cmp"
	"errors"
	"fmt"
	"io/fs"
	"maps"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strconv"
	"strings"
	"testing"

	"golang.org/x/sys/unix"

	"github.com/bgremove/bgremove/internal/system/sandbox"
)

// victim is the target of a hostile child: another process of the same user,
// and a folder and a file in it. The child may read the file.
type victim struct {
	pid          int
	folder, file string
}

// attack is an operation that the kernel must refuse a child. The filter
// answers ENOSYS to calls that are not on its list; nothing else does.
type attack struct {
	want unix.Errno
	try  func(v victim) error
}

func init() {
	attempts["attack"] = func(a []string) error {
		pid, err := strconv.Atoi(a[0])
		for _, name := range slices.Sorted(maps.Keys(attacks)) {
			err = errors.Join(err, refused(name, attacks[name].try(victim{pid, a[1], a[2]}), attacks[name].want))
		}
		const nonsense = ^uintptr(0)
		for _, number := range unlisted {
			got := raw(number, nonsense, nonsense, nonsense, nonsense, nonsense, nonsense)
			err = errors.Join(err, refused(fmt.Sprintf("call %d", number), got, unix.ENOSYS))
		}
		return err
	}
}

var errDone = errors.New("it is done")

// refused returns nil if an attack got the expected answer.
func refused(name string, got error, want unix.Errno) error {
	if errors.Is(got, want) {
		return nil
	}
	return fmt.Errorf("%s: the kernel says %w, want %w", name, cmp.Or(got, errDone), want)
}

// raw makes a call that golang.org/x/sys has no function for.
func raw(number uintptr, arguments ...uintptr) error {
	var a [6]uintptr
	copy(a[:], arguments)
	if _, _, errno := unix.RawSyscall6(number, a[0], a[1], a[2], a[3], a[4], a[5]); errno != 0 {
		return errno
	}
	return nil
}

var few = unix.Rlimit{Cur: 3, Max: 3}

var attacks = map[string]attack{
	// The data folder.
	"chmod":          {unix.ENOSYS, func(v victim) error { return unix.Chmod(v.folder, 0) }},
	"fchmod":         {unix.ENOSYS, func(v victim) error { return withFile(v, func(fd int) error { return unix.Fchmod(fd, 0) }) }},
	"chown":          {unix.ENOSYS, func(v victim) error { return unix.Lchown(v.folder, 7, 7) }},
	"fchown":         {unix.ENOSYS, func(v victim) error { return withFile(v, func(fd int) error { return unix.Fchown(fd, 7, 7) }) }},
	"utimensat":      {unix.ENOSYS, func(v victim) error { return unix.UtimesNanoAt(unix.AT_FDCWD, v.file, make([]unix.Timespec, 2), 0) }},
	"setxattr":       {unix.ENOSYS, func(v victim) error { return unix.Setxattr(v.folder, "user.a", []byte("a"), 0) }},
	"lsetxattr":      {unix.ENOSYS, func(v victim) error { return unix.Lsetxattr(v.file, "user.a", []byte("a"), 0) }},
	"removexattr":    {unix.ENOSYS, func(v victim) error { return unix.Removexattr(v.folder, "user.a") }},
	"mkdir":          {unix.ENOSYS, func(v victim) error { return unix.Mkdir(v.folder+"/new", 0o700) }},
	"mknod":          {unix.ENOSYS, func(v victim) error { return unix.Mknod(v.folder+"/new", unix.S_IFIFO|0o600, 0) }},
	"symlink":        {unix.ENOSYS, func(v victim) error { return unix.Symlink("/", v.folder+"/new") }},
	"link":           {unix.ENOSYS, func(v victim) error { return unix.Link(v.file, v.folder+"/new") }},
	"rename":         {unix.ENOSYS, func(v victim) error { return unix.Rename(v.file, v.folder+"/new") }},
	"unlink":         {unix.ENOSYS, func(v victim) error { return unix.Unlink(v.file) }},
	"rmdir":          {unix.ENOSYS, func(v victim) error { return unix.Rmdir(v.folder) }},
	"truncate":       {unix.ENOSYS, func(v victim) error { return unix.Truncate(v.file, 0) }},
	"empty and read": {unix.EPERM, func(v victim) error { return open(v.file, unix.O_RDONLY|unix.O_TRUNC) }},
	"empty unopened": {unix.EPERM, func(v victim) error { return open(v.file, unix.O_ACCMODE|unix.O_TRUNC) }},

	// Another process.
	"prlimit":            {unix.EPERM, func(v victim) error { return unix.Prlimit(v.pid, unix.RLIMIT_NOFILE, &few, nil) }},
	"reading its limits": {unix.EPERM, func(v victim) error { return unix.Prlimit(v.pid, unix.RLIMIT_NOFILE, nil, &unix.Rlimit{}) }},
	"setpriority":        {unix.ENOSYS, func(v victim) error { return unix.Setpriority(unix.PRIO_PROCESS, v.pid, 19) }},
	"sched_setaffinity":  {unix.ENOSYS, func(v victim) error { return unix.SchedSetaffinity(v.pid, &unix.CPUSet{1}) }},
	"sched_setattr": {unix.ENOSYS, func(v victim) error {
		return unix.SchedSetAttr(v.pid, &unix.SchedAttr{Size: unix.SizeofSchedAttr, Nice: 19}, 0)
	}},
	"ioprio_set":           {unix.ENOSYS, func(v victim) error { return raw(unix.SYS_IOPRIO_SET, 1, uintptr(v.pid), 3<<13) }},
	"kill":                 {unix.EPERM, func(v victim) error { return unix.Kill(v.pid, unix.SIGKILL) }},
	"killing its group":    {unix.EPERM, func(v victim) error { return unix.Kill(-v.pid, unix.SIGKILL) }},
	"killing ours":         {unix.EPERM, func(victim) error { return unix.Kill(0, unix.SIGCONT) }},
	"killing everybody":    {unix.EPERM, func(victim) error { return unix.Kill(-1, unix.SIGCONT) }},
	"tkill":                {unix.EPERM, func(v victim) error { return raw(unix.SYS_TKILL, uintptr(v.pid), uintptr(unix.SIGKILL)) }},
	"tgkill":               {unix.EPERM, func(v victim) error { return unix.Tgkill(v.pid, v.pid, unix.SIGKILL) }},
	"pidfd_open":           {unix.ENOSYS, func(v victim) error { _, err := unix.PidfdOpen(v.pid, 0); return err }},
	"a signal by F_SETOWN": {unix.EPERM, func(v victim) error { _, err := unix.FcntlInt(0, unix.F_SETOWN, v.pid); return err }},
	"another signal":       {unix.EPERM, func(victim) error { _, err := unix.FcntlInt(0, unix.F_SETSIG, int(unix.SIGKILL)); return err }},
	"ptrace":               {unix.ENOSYS, func(v victim) error { return unix.PtraceAttach(v.pid) }},

	// Itself, beyond its own rights.
	"raising a limit":     {unix.EPERM, func(victim) error { return more(unix.RLIMIT_NOFILE) }},
	"lowering a limit":    {unix.EPERM, func(victim) error { return unix.Prlimit(0, unix.RLIMIT_CPU, &unix.Rlimit{Cur: 9, Max: 9}, nil) }},
	"unshare":             {unix.ENOSYS, func(victim) error { return unix.Unshare(unix.CLONE_NEWUSER) }},
	"a file in memory":    {unix.ENOSYS, func(victim) error { _, err := unix.MemfdCreate("a", 0); return err }},
	"a request of a tty":  {unix.EPERM, func(victim) error { return unix.IoctlSetPointerInt(0, unix.TIOCSTI, 0) }},
	"a console's request": {unix.EPERM, func(victim) error { return unix.IoctlSetPointerInt(0, unix.TIOCLINUX, 0) }},
	"an unknown option":   {unix.EPERM, func(victim) error { return unix.Prctl(unix.PR_SET_DUMPABLE, 1, 0, 0, 0) }},
}

// unlisted are calls that no child may make. Their arguments make no sense, so
// that they do nothing where they are let through.
var unlisted = []uintptr{
	unix.SYS_SCHED_SETSCHEDULER, unix.SYS_RT_SIGQUEUEINFO, unix.SYS_FCHMODAT2, unix.SYS_PERSONALITY, unix.SYS_USERFAULTFD,
	unix.SYS_KEYCTL, unix.SYS_ADD_KEY, unix.SYS_REQUEST_KEY, unix.SYS_SETNS, unix.SYS_PROCESS_MADVISE,
	unix.SYS_PIDFD_SEND_SIGNAL, unix.SYS_PIDFD_GETFD, unix.SYS_PROCESS_VM_READV, unix.SYS_PROCESS_VM_WRITEV, unix.SYS_KCMP,
	unix.SYS_MOVE_PAGES, unix.SYS_MIGRATE_PAGES, unix.SYS_MOUNT, unix.SYS_UMOUNT2, unix.SYS_PIVOT_ROOT,
	unix.SYS_MOVE_MOUNT, unix.SYS_FSOPEN, unix.SYS_OPEN_TREE, unix.SYS_MOUNT_SETATTR, unix.SYS_CHROOT, unix.SYS_SWAPON,
	unix.SYS_BPF, unix.SYS_PERF_EVENT_OPEN, unix.SYS_IO_URING_SETUP, unix.SYS_IO_SETUP, unix.SYS_MEMFD_SECRET,
	unix.SYS_EXECVEAT, unix.SYS_OPEN_BY_HANDLE_AT, unix.SYS_NAME_TO_HANDLE_AT, unix.SYS_OPENAT2, unix.SYS_FANOTIFY_INIT,
	unix.SYS_QUOTACTL, unix.SYS_REBOOT, unix.SYS_SYSLOG, unix.SYS_ACCT, unix.SYS_INIT_MODULE, unix.SYS_KEXEC_LOAD,
	unix.SYS_SETHOSTNAME, unix.SYS_CLOCK_SETTIME, unix.SYS_SETTIMEOFDAY, unix.SYS_SETUID, unix.SYS_CAPSET,
	unix.SYS_SETPGID, unix.SYS_SETSID, unix.SYS_SECCOMP, unix.SYS_SHMGET, unix.SYS_MSGGET, unix.SYS_CONNECT,
	unix.SYS_SENDMSG, unix.SYS_CLONE3,
}

func open(path string, flags int) error {
	fd, err := unix.Open(path, flags, 0)
	if err == nil {
		_ = unix.Close(fd)
	}
	return err
}

func withFile(v victim, do func(fd int) error) error {
	fd, err := unix.Open(v.file, unix.O_RDONLY, 0)
	if err != nil {
		return err
	}
	defer unix.Close(fd)
	return do(fd)
}

// more raises a hard limit, as root may.
func more(resource int) error {
	var now unix.Rlimit
	if err := unix.Prlimit(0, resource, nil, &now); err != nil {
		return err
	}
	now.Max++
	return unix.Prlimit(0, resource, &now, nil)
}

// state is everything that an attack could change of a victim.
func (v victim) state(t *testing.T) string {
	t.Helper()
	var s strings.Builder
	err := filepath.WalkDir(v.folder, func(path string, _ fs.DirEntry, err error) error {
		if err != nil {
			return err
		}
		var stat unix.Stat_t
		if err := unix.Lstat(path, &stat); err != nil {
			return err
		}
		names, err := unix.Listxattr(path, nil)
		fmt.Fprintln(&s, path, stat.Mode, stat.Uid, stat.Size, stat.Mtim, stat.Nlink, "attributes:", names, err)
		return nil
	})
	if err != nil {
		t.Fatal(err)
	}
	for _, resource := range []int{unix.RLIMIT_NOFILE, unix.RLIMIT_CPU} {
		var limit unix.Rlimit
		fmt.Fprintln(&s, "limit", unix.Prlimit(v.pid, resource, nil, &limit), limit)
	}
	priority, err := unix.Getpriority(unix.PRIO_PROCESS, v.pid)
	fmt.Fprintln(&s, "priority", priority, err)
	var cpus unix.CPUSet
	fmt.Fprintln(&s, "affinity", unix.SchedGetaffinity(v.pid, &cpus), cpus.Count())
	return s.String()
}

// A program that is not ffmpeg at all is refused, and its target stays
// unchanged.
func TestAttacks(t *testing.T) {
	t.Parallel()
	require(t, sandbox.Check().Network)
	file := write(t, "theirs")
	other := exec.Command(os.Args[0], "sleep")
	out, err := other.StdoutPipe()
	if err != nil {
		t.Fatal(err)
	}
	if err := other.Start(); err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() {
		_ = other.Process.Kill()
		_ = other.Wait() // killed
	})
	v := victim{folder: filepath.Dir(file), file: file}
	if _, err := fmt.Fscan(out, &v.pid); err != nil { // its state is final from here on
		t.Fatal(err)
	}
	before := v.state(t)
	p := sandbox.Policy{Read: []string{file}, Limits: sandbox.Limits{OpenFiles: 40}}
	if _, stderr, err := attempt(confined("attack", p, strconv.Itoa(v.pid), v.folder, v.file), p); err != nil {
		t.Errorf("%v: %s", err, stderr)
	}
	if after := v.state(t); after != before {
		t.Errorf("the victim was\n%sand is\n%s", before, after)
	}
}

// A child may signal itself, as abort does, and read its limits.
func TestOwnSignals(t *testing.T) {
	t.Parallel()
	p := sandbox.Policy{}
	if _, stderr, err := attempt(confined("itself", p), p); err != nil {
		t.Errorf("%v: %s", err, stderr)
	}
}

func init() {
	attempts["itself"] = func([]string) error {
		pid := os.Getpid()
		return errors.Join(unix.Kill(pid, unix.SIGCONT), unix.Tgkill(pid, pid, unix.SIGCONT),
			raw(unix.SYS_TKILL, uintptr(pid), uintptr(unix.SIGCONT)), unix.Prlimit(0, unix.RLIMIT_CPU, nil, &unix.Rlimit{}))
	}
}
