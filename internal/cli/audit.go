package cli

import (
	"fmt"
	"slices"
	"sync"
)

// auditLog keeps what --sandbox audit hears until the command is done: before
// that there may be progress on the screen.
type auditLog struct {
	mu    sync.Mutex
	heard []string
}

// hear is for bgremove.Config.
func (l *auditLog) hear(program, call string) {
	l.mu.Lock()
	defer l.mu.Unlock()
	l.heard = append(l.heard, fmt.Sprintf("sandbox: %s made the system call %s, which is not on the list", program, call))
}

// reportAudit prints what was heard.
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
