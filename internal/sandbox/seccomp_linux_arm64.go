package sandbox

import "golang.org/x/sys/unix"

const (
	auditArch = unix.AUDIT_ARCH_AARCH64
	// otherNumbers is beyond all calls: there is one ABI.
	otherNumbers = 0xffffffff
)

// oldCalls are calls that older architectures have beside clone: none.
var oldCalls []call
