package sandbox

import (
	"errors"
	"fmt"
	"os"
	"os/exec"
	"runtime"
	"strings"
	"sync"
	"unsafe"

	"golang.org/x/sys/unix"
)

// Audit learns of a child's calls that its filter does not list, through a
// listener of seccomp(2), and lets them through. The helper makes the listener
// and sends it through a socket.
type Audit struct {
	report       func(call string)
	ours, theirs *os.File // the socket's ends
	done         chan struct{}
	closeOnce    sync.Once
}

// audit prepares cmd for an audit, and returns the descriptor for the helper's
// request.
func audit(cmd *exec.Cmd, report func(call string)) (*Audit, int) {
	ends, err := unix.Socketpair(unix.AF_UNIX, unix.SOCK_STREAM|unix.SOCK_CLOEXEC, 0)
	if err != nil {
		cmd.Err = fmt.Errorf("audit: %w", err)
		return nil, 0
	}
	a := &Audit{report: report, done: make(chan struct{})}
	a.ours, a.theirs = os.NewFile(uintptr(ends[0]), "audit"), os.NewFile(uintptr(ends[1]), "audit")
	cmd.ExtraFiles = append(cmd.ExtraFiles, a.theirs)
	return a, 2 + len(cmd.ExtraFiles)
}

// Start must be called after the child's start, even if that failed.
func (a *Audit) Start() {
	if a != nil {
		go a.listen()
	}
}

// Close must be called after the end of the child. All calls have been reported
// when it returns.
func (a *Audit) Close() {
	if a == nil {
		return
	}
	a.closeOnce.Do(func() {
		_ = a.theirs.Close() // the last copy of this end, so listen returns
		<-a.done
		_ = a.ours.Close()
	})
}

func (a *Audit) listen() {
	defer close(a.done)
	listener, ok := a.receive()
	if !ok {
		return // the helper failed, and said why
	}
	defer unix.Close(listener)
	reported := make(map[string]bool)
	for a.await(listener) {
		call, err := allowNext(listener)
		switch {
		case errors.Is(err, unix.ENOENT), errors.Is(err, unix.EINTR):
			continue // the thread ended, or a signal interrupted it and it calls again
		case err != nil:
			return // without a listener all calls are refused
		}
		if !reported[call] {
			reported[call] = true
			a.report(call)
		}
	}
}

// receive waits for the helper's listener.
func (a *Audit) receive() (listener int, ok bool) {
	control := make([]byte, unix.CmsgSpace(4))
	_, n, _, _, err := unix.Recvmsg(int(a.ours.Fd()), make([]byte, 1), control, unix.MSG_CMSG_CLOEXEC)
	for errors.Is(err, unix.EINTR) {
		_, n, _, _, err = unix.Recvmsg(int(a.ours.Fd()), make([]byte, 1), control, unix.MSG_CMSG_CLOEXEC)
	}
	if err != nil {
		return 0, false
	}
	messages, err := unix.ParseSocketControlMessage(control[:n])
	if err != nil || len(messages) != 1 {
		return 0, false
	}
	fds, err := unix.ParseUnixRights(&messages[0])
	if err != nil || len(fds) != 1 {
		return 0, false
	}
	return fds[0], true
}

// await waits for a call. It reports false when no more calls can come.
func (a *Audit) await(listener int) bool {
	events := []unix.PollFd{{Fd: int32(listener), Events: unix.POLLIN}, {Fd: int32(a.ours.Fd()), Events: unix.POLLIN}}
	_, err := unix.Poll(events, -1)
	for errors.Is(err, unix.EINTR) {
		_, err = unix.Poll(events, -1)
	}
	return err == nil && events[0].Revents&unix.POLLIN != 0
}

// notification is struct seccomp_notif of the kernel, and response is struct
// seccomp_notif_resp.
type notification struct {
	id         uint64
	pid, flags uint32
	number     int32
	arch       uint32
	ip         uint64
	arguments  [6]uint64
}

type response struct {
	id    uint64
	value int64
	errno int32
	flags uint32
}

// allowNext takes the next call and lets it continue. Linux before 5.5 cannot
// do that; there the call gets the same answer as without an audit.
func allowNext(listener int) (call string, err error) {
	var n notification
	if err := ioctl(listener, unix.SECCOMP_IOCTL_NOTIF_RECV, unsafe.Pointer(&n)); err != nil {
		return "", err
	}
	r := response{id: n.id, flags: unix.SECCOMP_USER_NOTIF_FLAG_CONTINUE}
	if errors.Is(ioctl(listener, unix.SECCOMP_IOCTL_NOTIF_SEND, unsafe.Pointer(&r)), unix.EINVAL) {
		r = response{id: n.id, errno: -int32(unix.ENOSYS)}
		_ = ioctl(listener, unix.SECCOMP_IOCTL_NOTIF_SEND, unsafe.Pointer(&r)) // or the thread ended
	}
	return describe(uintptr(n.number), n.arguments), nil
}

func ioctl(fd int, request uintptr, argument unsafe.Pointer) error {
	if _, _, errno := unix.Syscall(unix.SYS_IOCTL, uintptr(fd), request, uintptr(argument)); errno != 0 {
		return errno
	}
	return nil
}

// describe names a call, with the arguments that the rules check.
func describe(number uintptr, arguments [6]uint64) string {
	name := fmt.Sprintf("#%d", number)
	if names := strings.Fields(callNames); number < uintptr(len(names)) && names[number] != "-" {
		name = names[number]
	}
	var shown [6]string
	last := -1
	for _, r := range calls(0) {
		for _, c := range r.when {
			if r.number == number && c.mask>>32 == 0 { // pointers differ each time
				shown[c.argument] = fmt.Sprintf("%#x", uint32(arguments[c.argument]))
				last = max(last, c.argument)
			}
		}
	}
	if last < 0 {
		return name
	}
	for i, s := range shown[:last] {
		if s == "" {
			shown[i] = "…"
		}
	}
	return name + "(" + strings.Join(shown[:last+1], ", ") + ")"
}

// prepareAudit is prepareFilter for a child in an audit: the socket takes the
// listener.
func prepareAudit(socket int) func() error {
	code := audited(os.Getpid()).code()
	listeners, sent := make(chan uintptr), make(chan error)
	go send(socket, listeners, sent)
	return func() error {
		listener, err := install(code, unix.SECCOMP_FILTER_FLAG_NEW_LISTENER)
		if err != nil {
			return err
		}
		listeners <- listener
		return <-sent
	}
}

// send sends a listener on, from a thread without the filter. A thread with the
// filter would block, because nobody handles its calls yet.
func send(socket int, listeners <-chan uintptr, sent chan<- error) {
	runtime.LockOSThread()
	unix.CloseOnExec(socket)
	sent <- unix.Sendmsg(socket, []byte{0}, unix.UnixRights(int(<-listeners)), nil, 0)
}
