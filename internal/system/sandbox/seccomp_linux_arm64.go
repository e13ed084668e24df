package sandbox

import "golang.org/x/sys/unix"

const (
	auditArch = unix.AUDIT_ARCH_AARCH64
	// otherNumbers is beyond all calls, because there is only one ABI.
	otherNumbers = 0xffffffff
)

// older are rules for calls that only older architectures have: none.
var older []rule
