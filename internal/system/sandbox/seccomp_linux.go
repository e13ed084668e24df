package sandbox

import (
	"os"
	"unsafe"

	"golang.org/x/sys/unix"
)

// rule is the answer to one system call if all conditions hold.
type rule struct {
	number uintptr
	when   []condition
	answer uint32
}

// condition checks an argument, counted from 0: argument & mask == value.
type condition struct {
	argument    int
	mask, value uint64
}

// is compares an argument that the kernel takes as an int.
func is(argument int, value uint32) condition {
	return condition{argument, uint64(^uint32(0)), uint64(value)}
}

// has compares some bits of an argument that the kernel takes as an int.
func has(argument int, mask, value uint32) condition {
	return condition{argument, uint64(mask), uint64(value)}
}

// null holds if a pointer argument is null in all of its 64 bits.
func null(argument int) condition { return condition{argument: argument, mask: ^uint64(0)} }

// allow lets calls through with any arguments.
func allow(numbers ...uintptr) []rule {
	rules := make([]rule, len(numbers))
	for i, n := range numbers {
		rules[i] = rule{number: n, answer: unix.SECCOMP_RET_ALLOW}
	}
	return rules
}

// allowWhere lets a call through if all conditions hold.
func allowWhere(number uintptr, when ...condition) rule {
	return rule{number, when, unix.SECCOMP_RET_ALLOW}
}

// allowAny lets a call through if an argument has one of the values.
func allowAny(number uintptr, argument int, values ...uint32) []rule {
	rules := make([]rule, len(values))
	for i, v := range values {
		rules[i] = allowWhere(number, is(argument, v))
	}
	return rules
}

// refuse makes a call fail silently, even in an audit.
func refuse(number uintptr, errno unix.Errno) rule {
	return rule{number: number, answer: refusal(errno)}
}

func refusal(errno unix.Errno) uint32 { return unix.SECCOMP_RET_ERRNO | uint32(errno) }

// forbidden stands for the filter's own answer.
const forbidden = ^uint32(0)

// filter answers the calls of a child by rules; the first matching rule
// decides. If no rule matches the arguments of a listed call, it answers
// forbidden. It answers unknown to all other calls.
type filter struct {
	rules              []rule
	forbidden, unknown uint32
}

// strict is the filter of a process. C libraries do without a call that the
// kernel does not have. The filter therefore gives that answer to every call
// that is not on the list.
func strict(pid int) filter {
	return filter{calls(uint32(pid)), refusal(unix.EPERM), refusal(unix.ENOSYS)}
}

// audited is the filter of a process in an audit.
func audited(pid int) filter {
	return filter{calls(uint32(pid)), unix.SECCOMP_RET_USER_NOTIF, unix.SECCOMP_RET_USER_NOTIF}
}

// code is the filter for the kernel. A call numbered for another architecture
// gets the answer that it does not exist.
func (f filter) code() []unix.SockFilter {
	code := []unix.SockFilter{
		load(offsetArch),
		skipUnless(unix.BPF_JEQ, auditArch, 2), // jumps to the answer
		load(offsetNumber),
		skipUnless(unix.BPF_JGE, otherNumbers, 1),
		answer(refusal(unix.ENOSYS)),
	}
	rest := make(map[uintptr]bool) // calls whose other arguments still need an answer
	for _, r := range f.rules {
		if r.answer == forbidden {
			r.answer = f.forbidden
		}
		code = append(code, r.code()...)
		rest[r.number] = len(r.when) > 0
	}
	for _, r := range f.rules {
		if rest[r.number] {
			code = append(code, rule{number: r.number, answer: f.forbidden}.code()...)
			delete(rest, r.number)
		}
	}
	return append(code, answer(f.unknown))
}

// code is the code of one rule. It begins with the number, so that the kernel
// caches the answer for calls that the number alone decides.
func (r rule) code() []unix.SockFilter {
	rest := []unix.SockFilter{answer(r.answer)}
	for _, c := range r.when {
		rest = append(c.code(uint8(len(rest))), rest...)
	}
	return append([]unix.SockFilter{load(offsetNumber), skipUnless(unix.BPF_JEQ, uint32(r.number), uint8(len(rest)))}, rest...)
}

// code skips the n instructions that follow unless the condition holds. A
// filter handles 32 bits at a time.
func (c condition) code(n uint8) []unix.SockFilter {
	half := func(offset, mask, value uint32, n uint8) []unix.SockFilter {
		return []unix.SockFilter{
			load(offset),
			{Code: unix.BPF_ALU | unix.BPF_AND | unix.BPF_K, K: mask},
			skipUnless(unix.BPF_JEQ, value, n),
		}
	}
	offset := uint32(offsetArguments + 8*c.argument) // of the low half, which comes first on both architectures
	low := half(offset, uint32(c.mask), uint32(c.value), n)
	if c.mask>>32 == 0 {
		return low
	}
	return append(half(offset+4, uint32(c.mask>>32), uint32(c.value>>32), n+uint8(len(low))), low...)
}

// Offsets into struct seccomp_data, seccomp(2).
const (
	offsetNumber    = 0
	offsetArch      = 4
	offsetArguments = 16
)

func load(offset uint32) unix.SockFilter {
	return unix.SockFilter{Code: unix.BPF_LD | unix.BPF_W | unix.BPF_ABS, K: offset}
}

// skipUnless skips n instructions unless the loaded value compares to k.
func skipUnless(comparison uint16, k uint32, n uint8) unix.SockFilter {
	return unix.SockFilter{Code: unix.BPF_JMP | comparison | unix.BPF_K, K: k, Jf: n}
}

func answer(action uint32) unix.SockFilter {
	return unix.SockFilter{Code: unix.BPF_RET | unix.BPF_K, K: action}
}

// prepareFilter makes the filter, and a function that installs it with almost
// no further memory. With a socket the filter reports its calls there.
func prepareFilter(socket int) func() error {
	switch {
	case !filters():
		return func() error { return nil }
	case socket != 0:
		return prepareAudit(socket)
	}
	code := strict(os.Getpid()).code()
	return func() error {
		_, err := install(code, 0)
		return err
	}
}

// install puts a filter on this thread and its successors. flags are those of
// seccomp(2) and decide the meaning of the result. A raw call keeps the runtime
// from starting a thread, for which there may be no memory left.
func install(code []unix.SockFilter, flags uintptr) (uintptr, error) {
	f := unix.SockFprog{Len: uint16(len(code)), Filter: &code[0]}
	result, _, errno := unix.RawSyscall(unix.SYS_SECCOMP, unix.SECCOMP_SET_MODE_FILTER, flags, uintptr(unsafe.Pointer(&f)))
	if errno != 0 {
		return 0, errno
	}
	return result, nil
}
