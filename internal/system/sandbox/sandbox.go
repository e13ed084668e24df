// Package sandbox runs child processes that read files from strangers. It
// limits their CPU time, memory, file size and open files. It denies them the
// network and further processes. They can use only the files of their job, and
// only the system calls on a list.
//
// On Linux the program first starts itself as a helper. The helper gives up its
// rights and then becomes the child, so that the child keeps its process id.
// That needs Init at the start of main. The helper uses setrlimit(2),
// landlock(7) and seccomp(2), which need neither privileges nor a namespace. On
// other systems children run as they would without this package, and Support
// says so.
package sandbox

import (
	"encoding/json"
	"fmt"
	"os"
	"os/exec"
	"time"
)

// Limits bound one child. A zero field is no limit.
type Limits struct {
	CPU       time.Duration // of all its threads together, rounded up to whole seconds
	Memory    int64         // of its own, in bytes: heap, stacks, private mappings
	FileSize  int64         // of each file it writes, in bytes
	OpenFiles int           // at once, including pipes
}

// Policy says which resources one child may use.
type Policy struct {
	Limits Limits
	// Read are files that it may read, besides the system's libraries.
	Read []string
	// Write are files that it may read and overwrite. They must exist, because
	// it cannot create any.
	Write []string
	// Audit, if set, lets system calls through that are not on the list. It is
	// called once for each, from a goroutine. It gets the call's name and the
	// checked arguments, such as "unlink" or "ioctl(…, 0x5412)".
	Audit func(call string)
}

// Support names the mechanism that enforces each part of a policy on this system,
// such as "seccomp". Empty means that nothing enforces it.
type Support struct {
	Limits  string
	Files   string
	Network string // and access to other processes
	Missing string // why any part is empty, in words
}

// All reports whether a policy is enforced in full.
func (h Support) All() bool { return h.Limits != "" && h.Files != "" && h.Network != "" }

// Any reports whether any part of a policy is enforced.
func (h Support) Any() bool { return h.Limits != "" || h.Files != "" || h.Network != "" }

// marker is the first argument of a helper.
const marker = "sandboxed-child"

// initialised is whether this program can be its own helper.
var initialised bool

// Init must be the first thing that main does. In a helper it does not return:
// the process becomes the child. Otherwise it makes Confine work.
func Init() {
	if len(os.Args) > 3 && os.Args[1] == marker {
		fmt.Fprintf(os.Stderr, "sandbox: %v\n", execConfined(os.Args[2], os.Args[3], os.Args[4:]))
		os.Exit(helperFailed)
	}
	initialised = true
}

// helperFailed is the exit code of a helper that could not become the child.
const helperFailed = 125

// request is the message to a helper. Paths are bytes, because they need not be
// UTF-8.
type request struct {
	Limits      Limits
	Read, Write [][]byte
	Parent      int // the process that the child must not outlive
	Listener    int // the socket to the audit; 0 is none
}

// Confine makes cmd, which must not have been started, run under p as far as
// this system supports it. The child gets a small environment without any secrets of
// ours. If nothing holds, cmd stays unchanged. With p.Audit the caller must
// start and close the result; otherwise the result is nil, and both do nothing.
func Confine(cmd *exec.Cmd, p Policy) *Audit {
	if !Check().Any() {
		return nil
	}
	o := request{Limits: p.Limits, Read: asBytes(p.Read), Write: asBytes(p.Write), Parent: os.Getpid()}
	var a *Audit
	if p.Audit != nil && Check().Network != "" {
		a, o.Listener = audit(cmd, p.Audit)
	}
	message, _ := json.Marshal(o) // numbers and bytes can always be marshalled
	cmd.Args = append([]string{os.Args[0], marker, string(message), cmd.Path}, cmd.Args...)
	cmd.Path = self
	cmd.Env = environment()
	return a
}

func asBytes(paths []string) [][]byte {
	b := make([][]byte, len(paths))
	for i, p := range paths {
		b[i] = []byte(p)
	}
	return b
}

// environment is the part of our environment that a child gets: the variables
// that find programs and libraries. Ours may hold secrets. The language is
// fixed, because we read the child's messages.
func environment() []string {
	env := []string{"LC_ALL=C"}
	for _, name := range []string{"PATH", libraryPath} {
		if v, ok := os.LookupEnv(name); ok {
			env = append(env, name+"="+v)
		}
	}
	return env
}

const libraryPath = "LD_LIBRARY_PATH"
