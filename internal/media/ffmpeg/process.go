package ffmpeg

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"io"
	"os/exec"
	"path/filepath"
	"regexp"
	"strconv"
	"strings"
	"sync"
	"sync/atomic"
	"syscall"
	"time"

	"github.com/bgremove/bgremove/internal/media"
	"github.com/bgremove/bgremove/internal/media/yuv"
	"github.com/bgremove/bgremove/internal/system/sandbox"
)

// Error is the failure of a child process. Err is a *sandbox.LimitError where
// the sandbox ended it.
type Error struct {
	Op       string // its task, such as "decode clip.mp4"
	ExitCode int    // -1 when it was killed or never started
	Stderr   string // the beginning and the end of its messages
	Err      error
}

func (e *Error) Error() string {
	msg := lastLine(e.Stderr)
	if limit := (*sandbox.LimitError)(nil); msg == "" || errors.As(e.Err, &limit) {
		msg = e.Err.Error()
	}
	return fmt.Sprintf("%s: %s", e.Op, msg)
}

func (e *Error) Unwrap() error { return e.Err }

func lastLine(s string) string {
	s = strings.TrimSpace(s)
	if i := strings.LastIndexByte(s, '\n'); i >= 0 {
		s = s[i+1:]
	}
	return strings.TrimSpace(s)
}

// process is one running child with the ends of its standard error. Its methods
// may be called from several goroutines.
type process struct {
	op     string
	cmd    *exec.Cmd
	policy *sandbox.Policy // nil outside of the sandbox
	audit  *sandbox.Audit
	stderr headTail
	// maxArea is the most pixels of a picture that may be decoded; 0 is any number.
	maxArea int64
	wait    func() error
	reaped  atomic.Bool // its id may belong to another process by now
}

// files are those of one child's job.
type files struct{ read, written []string }

// command prepares a child that decodes or encodes.
func (t *Tools) command(ctx context.Context, op, path string, args []string, f files) *process {
	return t.child(ctx, op, path, args, f, t.confinement.work())
}

// child prepares a child in a process group of its own, so that a Ctrl-C in
// the terminal reaches us and not it. When ctx ends the whole group is killed.
// Standard input is never inherited. In the sandbox, where there are limits, it
// may read and write those files alone.
func (t *Tools) child(ctx context.Context, op, path string, args []string, f files, l *sandbox.Limits) *process {
	p := &process{op: op, cmd: exec.CommandContext(ctx, path, args...)}
	p.cmd.Env = environment()
	p.cmd.Stderr = &p.stderr
	p.cmd.Cancel = func() error { return killGroup(p.cmd.Process) }
	p.cmd.WaitDelay = 5 * time.Second
	isolate(p.cmd)
	if l != nil {
		p.policy = &sandbox.Policy{Limits: *l, Read: f.read, Write: f.written}
		if audit := t.confinement.Audit; audit != nil {
			p.policy.Audit = func(call string) { audit(filepath.Base(path), call) }
		}
		p.audit = sandbox.Confine(p.cmd, *p.policy)
	}
	p.wait = sync.OnceValue(func() error {
		err := p.cmd.Wait()
		p.reaped.Store(true)
		p.audit.Close()
		return p.childError(err)
	})
	return p
}

func (p *process) start() error {
	err := start(p.cmd)
	p.audit.Start()
	if err != nil {
		p.audit.Close()
	}
	return p.childError(err)
}

// pipe starts the child with a pipe to its standard input, through which it is
// given pictures as Matroska.
func (p *process) pipe(c codec, l yuv.Layout) (io.WriteCloser, *matroskaWriter, error) {
	pipe, err := p.cmd.StdinPipe()
	if err != nil {
		return nil, nil, err
	}
	enlargePipe(pipe)
	if err := p.start(); err != nil {
		return nil, nil, err
	}
	mkv, err := newMatroskaWriter(pipe, c, l)
	if err != nil {
		return nil, nil, p.writeError(err)
	}
	return pipe, mkv, nil
}

// writeError explains a failed write to the child's pipe by the child's message.
func (p *process) writeError(err error) error {
	if exit := p.finish(); exit != nil {
		return exit
	}
	return &Error{Op: p.op, Stderr: p.stderr.String(), Err: err}
}

// kill ends the child and its group at once; wait must still be called.
func (p *process) kill() {
	if p.cmd.Process != nil && !p.reaped.Load() {
		_ = killGroup(p.cmd.Process)
	}
}

func (p *process) childError(err error) error {
	stderr := p.stderr.String()
	if limit := oversizeError(stderr, p.maxArea); limit != nil {
		err = limit // also if it has ended well, leaving frames out
	}
	code := p.cmd.ProcessState.ExitCode()
	if p.policy != nil {
		if why := p.policy.Explain(p.cmd.ProcessState, stderr); why != nil {
			err = why
		}
	}
	if err == nil {
		return nil
	}
	if strings.Contains(stderr, "No space left on device") {
		// A child has no other way to say so.
		err = fmt.Errorf("%w: %w", syscall.ENOSPC, err)
	}
	return &Error{Op: p.op, ExitCode: code, Stderr: stderr, Err: err}
}

// finish waits for a child that makes a file.
func (p *process) finish() error {
	if err := p.wait(); err != nil {
		return err
	}
	return p.unfinished()
}

// unfinished is the failure of a child that has ended well although it could not
// finish its file, as ffmpeg 5 does. (Its -xerror tells, but also ends for every
// packet of sound that cannot be decoded.)
func (p *process) unfinished() error {
	for _, message := range []string{"Error writing trailer", "Error closing file", "No space left on device"} {
		if strings.Contains(p.stderr.String(), message) {
			return p.childError(errors.New("the file was not finished"))
		}
	}
	return nil
}

var oversizePattern = regexp.MustCompile(`Picture size (\d+)x(\d+) exceeds specified max pixel count`)

// oversizeError matches a decoder's messages about a picture larger than -max_pixels
// allows, which is a little more than the limit. Such a picture may follow smaller ones.
// Messages about the decoder's own memory name smaller sizes than the picture's.
func oversizeError(stderr string, limit int64) error {
	most := int64(0)
	for _, m := range oversizePattern.FindAllStringSubmatch(stderr, -1) {
		width, _ := strconv.ParseInt(m[1], 10, 32)
		height, _ := strconv.ParseInt(m[2], 10, 32)
		most = max(most, width*height)
	}
	if most == 0 || limit == 0 {
		return nil
	}
	return &media.LimitError{What: "picture area", Got: most, Max: limit}
}

// headTail keeps the first and the last bytes written to it.
type headTail struct {
	mu         sync.Mutex
	head, tail bytes.Buffer
}

const headSize, tailSize = 1 << 10, 4 << 10

func (s *headTail) Write(b []byte) (int, error) {
	s.mu.Lock()
	defer s.mu.Unlock()
	n := min(len(b), headSize-s.head.Len())
	s.head.Write(b[:n])
	s.tail.Write(b[n:])
	if extra := s.tail.Len() - tailSize; extra > 0 {
		s.tail.Next(extra)
	}
	return len(b), nil
}

func (s *headTail) String() string {
	s.mu.Lock()
	defer s.mu.Unlock()
	return s.head.String() + s.tail.String()
}
