package sandbox

import (
	"cmp"
	"errors"
	"fmt"
	"os"
	"strings"

	"github.com/dustin/go-humanize"
)

// Resource is something that a Policy limits.
type Resource string

// The resources.
const (
	CPU       Resource = "CPU time"
	Memory    Resource = "memory"
	FileSize  Resource = "file size"
	OpenFiles Resource = "open files"
	Network   Resource = "network"
	Files     Resource = "files"
)

// LimitError says that a child ended because of its policy.
type LimitError struct {
	Resource Resource
	Limit    string // for people, such as "30s"; empty if none at all is allowed
}

func (e *LimitError) Error() string {
	switch {
	case e.Resource == Files:
		return "stopped by the sandbox: it asked for a file outside its job"
	case e.Limit == "":
		return fmt.Sprintf("stopped by the sandbox: no %s is allowed", e.Resource)
	}
	return fmt.Sprintf("stopped by the sandbox: %s is limited to %s", e.Resource, e.Limit)
}

// ErrHelper says that the helper could not become the child; its output says
// why.
var ErrHelper = errors.New("the sandbox could not be entered")

// complaints are messages of the C library, the loader, ffmpeg, libvpx and x264
// about a refused resource. A child that is refused something, and not killed,
// has no other way to report it.
var complaints = []struct {
	text     string
	resource Resource
}{
	{"cannot allocate memory", Memory},
	{"memory allocation error", Memory},
	{"failed to allocate", Memory},
	{"malloc of size", Memory},
	{"failed to map segment", Memory},
	{"error while opening encoder", Memory}, // we give its arguments, and they are right
	{"too many open files", OpenFiles},
	{"permission denied", Files},
}

// Explain returns the policy's part in the end of a child that Confine prepared
// with it: a *LimitError, ErrHelper, or nil for none. stderr is the child's
// output on standard error. A child that reports success but ran out of memory
// left something out, and counts as failed.
func (p Policy) Explain(state *os.ProcessState, stderr string) error {
	if state == nil || !Check().Any() {
		return nil
	}
	if state.ExitCode() == helperFailed {
		return ErrHelper
	}
	resource := complaint(stderr)
	if !state.Success() {
		resource = cmp.Or(endedFor(state, p.Limits), resource)
	} else if resource != Memory {
		return nil
	}
	limit, bounded := p.Limits.text(resource)
	if !bounded {
		return nil
	}
	return &LimitError{Resource: resource, Limit: limit}
}

func complaint(stderr string) Resource {
	stderr = strings.ToLower(stderr)
	for _, c := range complaints {
		if strings.Contains(stderr, c.text) {
			return c.resource
		}
	}
	return ""
}

// text is the limit on a resource in words for people, and whether there is
// one.
func (l Limits) text(r Resource) (limit string, bounded bool) {
	switch r {
	case CPU:
		return l.CPU.String(), l.CPU > 0
	case Memory:
		return byteSize(l.Memory), l.Memory > 0
	case FileSize:
		return byteSize(l.FileSize), l.FileSize > 0
	case OpenFiles:
		return fmt.Sprint(l.OpenFiles), l.OpenFiles > 0
	case Network:
		return "", Check().Network != ""
	case Files:
		return "", Check().Files != ""
	}
	return "", false
}

func byteSize(n int64) string { return humanize.IBytes(uint64(n)) }
