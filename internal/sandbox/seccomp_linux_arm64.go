package sandbox

import "golang.org/x/sys/unix"

const (
	auditArch = unix.AUDIT_ARCH_AARCH64
	// otherNumbers is beyond all calls: there is one ABI.
	otherNumbers = 0xffffffff
)

// older are rules for calls that older architectures have beside these: none.
var older []rule
