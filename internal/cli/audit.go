package cli

import (
	"fmt"
	"slices"
	"sync"
)

// auditLog keeps the calls that --sandbox audit reports until the command ends,
// because a progress bar may be on the screen until then.
type auditLog struct {
	mu    sync.Mutex
	heard []string
}

// hear is the callback of bgremove.Config.
func (l *auditLog) hear(program, call string) {
	l.mu.Lock()
	defer l.mu.Unlock()
	l.heard = append(l.heard, fmt.Sprintf("sandbox: %s made the system call %s, which is not on the list", program, call))
}

// reportAudit prints the reported calls.
func (a *app) reportAudit() {
	a.audit.mu.Lock()
	defer a.audit.mu.Unlock()
	slices.Sort(a.audit.heard)
	for _, line := range a.audit.heard {
		a.Message("%s", line)
	}
	if len(a.audit.heard) > 0 {
		a.Hint("without the audit these calls fail; report them if clips then fail, too")
	}
}
