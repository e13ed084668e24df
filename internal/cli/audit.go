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
	calls []string
}

// record is the callback of bgremove.Config.
func (l *auditLog) record(program, call string) {
	l.mu.Lock()
	defer l.mu.Unlock()
	l.calls = append(l.calls, fmt.Sprintf("sandbox: %s made the system call %s, which is not on the list", program, call))
}

// reportAudit prints the reported calls.
func (a *app) reportAudit() {
	a.audit.mu.Lock()
	defer a.audit.mu.Unlock()
	slices.Sort(a.audit.calls)
	for _, line := range a.audit.calls {
		a.Message("%s", line)
	}
	if len(a.audit.calls) > 0 {
		a.Hint("without the audit these calls fail; report them if clips then fail, too")
	}
}
