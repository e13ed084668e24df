// Package sandbox runs child processes that read what strangers send: with
// limits on CPU time, memory, file size and open files, without network,
// without processes of their own, with no files but those of their job, and
// with the system calls that a list has.
//
// On Linux the program runs itself first, as a helper that gives up its rights
// and then becomes the child, so that the child keeps its process id. That
// needs Init at the start of main. Rights are given up through setrlimit(2),
// landlock(7) and seccomp(2), none of which needs privileges or a namespace.
// Elsewhere children run as they would without this package, and Holds says so.
package sandbox

import (
	"encoding/json"
	"fmt"
	"os"
	"os/exec"
	"time"
)

// Limits bound one child. Zero fields are no limits.
type Limits struct {
	CPU       time.Duration // of all its threads together; whole seconds, rounded up
	Memory    int64         // bytes of its own: heap, stacks, private mappings
	FileSize  int64         // bytes of each file it writes
	OpenFiles int           // at once, pipes included
}

// Policy is what one child may use.
type Policy struct {
	Limits Limits
	// Read are files that it may read, beside the system's libraries.
	Read []string
	// Write are files that it may read and overwrite. They must exist: it can
	// make none.
	Write []string
	// Audit, if set, has the system calls let through that are not on the list.
	// It is told of each, once, from a goroutine: a name, and what of the
	// arguments was looked at, such as "unlink" or "ioctl(…, 0x5412)".
	Audit func(call string)
}

// Holds says what enforces each part of a policy on this system, such as
// "seccomp"; empty is nothing.
type Holds struct {
	Limits  string
	Files   string
	Network string // and other processes
	Missing string // why any part is empty
}

// All reports whether a policy is enforced in full.
func (h Holds) All() bool { return h.Limits != "" && h.Files != "" && h.Network != "" }

// Any reports whether any part of a policy is enforced.
func (h Holds) Any() bool { return h.Limits != "" || h.Files != "" || h.Network != "" }

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

// order is what a helper is told. Paths are bytes, since they need not be UTF-8.
type order struct {
	Limits      Limits
	Read, Write [][]byte
	Parent      int // the process that it must not outlive
	Listener    int // the socket for what listens to its calls; 0 is none
}

// Confine makes cmd, which must not have been started, run under p as far as
// this system Holds, with a small environment that has nothing of ours. Where
// nothing holds, cmd stays as it is. With p.Audit the caller starts and closes
// the audit; else it is nil, for which nothing happens then.
func Confine(cmd *exec.Cmd, p Policy) *Audit {
	if !Check().Any() {
		return nil
	}
	o := order{Limits: p.Limits, Read: asBytes(p.Read), Write: asBytes(p.Write), Parent: os.Getpid()}
	var a *Audit
	if p.Audit != nil && Check().Network != "" {
		a, o.Listener = audit(cmd, p.Audit)
	}
	said, _ := json.Marshal(o) // numbers and bytes always can be marshalled
	cmd.Args = append([]string{os.Args[0], marker, string(said), cmd.Path}, cmd.Args...)
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

// environment is what a child gets of ours, where secrets may be: what finds
// programs and libraries. The language is fixed, since messages are read.
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
