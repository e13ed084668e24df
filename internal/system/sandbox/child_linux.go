package sandbox

import (
	"encoding/json"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"runtime"
	"runtime/debug"
	"syscall"
	"time"

	"github.com/landlock-lsm/go-landlock/landlock"
	ll "github.com/landlock-lsm/go-landlock/landlock/syscall"
	"golang.org/x/sys/unix"
)

// execConfined gives up the rights that the policy forbids, and replaces this process
// with the program at path. It returns only if that fails. Some settings belong
// to a thread, so one thread makes them all and becomes the program.
func execConfined(message, path string, argv []string) error {
	runtime.LockOSThread()
	var o request
	if err := json.Unmarshal([]byte(message), &o); err != nil {
		return err
	}
	if err := killWithParent(o.Parent); err != nil {
		return err
	}
	if err := restrictFiles(o, path); err != nil {
		return err
	}
	if err := dropCapabilities(); err != nil {
		return fmt.Errorf("capabilities: %w", err)
	}
	restrictCalls := prepareFilter(o.Listener)
	if err := o.Limits.set(); err != nil {
		return err
	}
	if err := restrictCalls(); err != nil { // from here on no limit can be set
		return fmt.Errorf("seccomp: %w", err)
	}
	return fmt.Errorf("%s: %w", path, syscall.Exec(path, argv, os.Environ()))
}

// killWithParent asks for a SIGKILL when parent ends. The parent already asked for one
// at our start, but only for our first thread.
func killWithParent(parent int) error {
	if err := unix.Prctl(unix.PR_SET_PDEATHSIG, uintptr(unix.SIGKILL), 0, 0, 0); err != nil {
		return fmt.Errorf("parent death signal: %w", err)
	}
	if os.Getppid() != parent {
		return errors.New("the parent is gone")
	}
	return nil
}

// systemFolders may be read for programs and their libraries. They are those of
// distributions, of Nix, Guix and Homebrew. None holds settings or data.
var systemFolders = []string{
	"/bin", "/lib", "/lib32", "/lib64", "/usr/bin", "/usr/lib", "/usr/lib32", "/usr/lib64",
	"/usr/local/bin", "/usr/local/lib", "/usr/local/lib64",
	"/nix/store", "/gnu/store", "/home/linuxbrew/.linuxbrew",
	"/sys/devices/system", // holds the number of cores
}

var systemFiles = []string{"/etc/ld.so.cache", "/dev/urandom"}

// restrictFiles allows the program, its libraries and the request's files.
// Everything else that Landlock knows, signals and ports included, is refused.
func restrictFiles(o request, program string) error {
	const overwrite = ll.AccessFSReadFile | ll.AccessFSWriteFile | ll.AccessFSTruncate
	err := landlock.V11.BestEffort().Restrict(
		landlock.RODirs(systemFolders...).IgnoreIfMissing(),
		landlock.RODirs(libraryFolders(program)...).IgnoreIfMissing(),
		landlock.ROFiles(append(systemFiles, program)...).IgnoreIfMissing(),
		landlock.PathAccess(ll.AccessFSReadFile, asStrings(o.Read)...).IgnoreIfMissing(),
		landlock.PathAccess(overwrite, "/dev/null").IgnoreIfMissing(),
		landlock.PathAccess(overwrite, asStrings(o.Write)...).IgnoreIfMissing(),
	)
	if err != nil {
		return fmt.Errorf("landlock: %w", err)
	}
	return nil
}

func asStrings(paths [][]byte) []string {
	s := make([]string, len(paths))
	for i, p := range paths {
		s[i] = string(p)
	}
	return s
}

// libraryFolders are possible folders of the libraries of a program that was
// not installed by the system.
func libraryFolders(program string) []string {
	var folders []string
	for _, f := range filepath.SplitList(os.Getenv(libraryPath)) {
		if filepath.IsAbs(f) {
			folders = append(folders, f)
		}
	}
	if target, err := filepath.EvalSymlinks(program); err == nil && filepath.Base(filepath.Dir(target)) == "bin" {
		prefix := filepath.Dir(filepath.Dir(target))
		folders = append(folders, filepath.Join(prefix, "lib"), filepath.Join(prefix, "lib64"))
	}
	return folders
}

// dropCapabilities leaves root only the right to open anybody's files; Landlock
// allows few of them. Other users have no capabilities.
func dropCapabilities() error {
	// Otherwise root would get all of them back with the program.
	if err := unix.Prctl(unix.PR_SET_NO_NEW_PRIVS, 1, 0, 0, 0); err != nil {
		return err
	}
	header := unix.CapUserHeader{Version: unix.LINUX_CAPABILITY_VERSION_3}
	var sets [2]unix.CapUserData // of the first 32 and of the rest
	if err := unix.Capget(&header, &sets[0]); err != nil {
		return err
	}
	const kept = 1<<unix.CAP_DAC_OVERRIDE | 1<<unix.CAP_DAC_READ_SEARCH
	left := [2]unix.CapUserData{{Effective: sets[0].Effective & kept, Permitted: sets[0].Permitted & kept}}
	if left == sets {
		return nil
	}
	return unix.Capset(&header, &left[0])
}

// threadStack is the stack size of each thread. The kernel counts all of it as
// memory from the start. Its default of 8 MiB would use up most of the limit on
// many cores. musl gives ffmpeg as much as this.
const threadStack = 2 << 20

// set lowers this process's limits for good: the soft and the hard limit are
// equal. Too much CPU time is thus a SIGKILL. ffmpeg would take a SIGXCPU for a
// request to stop normally.
//
// The limit on memory counts for this process, too, until it is the program. Go's
// heap and the stacks of a few threads count as some 120 MiB. With a limit near that,
// a thread that Go starts just then can fail, and so does the child.
func (l Limits) set() error {
	// From here on nothing may ask the kernel for memory; the remaining steps
	// use memory that is free already.
	runtime.KeepAlive(make([]byte, 4<<20))
	runtime.GC()
	debug.SetGCPercent(-1)
	stack := int64(0)
	if l.Memory > 0 {
		stack = threadStack
	}
	limits := []struct {
		resource int
		value    int64
	}{
		{unix.RLIMIT_CORE, 1}, // no core dumps; 0 would still allow those that go to a program
		{unix.RLIMIT_CPU, int64((l.CPU + time.Second - 1) / time.Second)},
		{unix.RLIMIT_FSIZE, l.FileSize},
		{unix.RLIMIT_NOFILE, int64(l.OpenFiles)},
		{unix.RLIMIT_STACK, stack},
		{unix.RLIMIT_DATA, l.Memory}, // not RLIMIT_AS: address space is not memory
	}
	for _, limit := range limits {
		if limit.value <= 0 {
			continue
		}
		var now unix.Rlimit
		if err := unix.Getrlimit(limit.resource, &now); err != nil {
			return fmt.Errorf("getrlimit %d: %w", limit.resource, err)
		}
		value := min(uint64(limit.value), now.Max)
		if err := unix.Setrlimit(limit.resource, &unix.Rlimit{Cur: value, Max: value}); err != nil {
			return fmt.Errorf("setrlimit %d: %w", limit.resource, err)
		}
	}
	return nil
}
