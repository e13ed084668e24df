package rig

import (
	"fmt"
	"os"
	"strings"
)

// Peak is the most memory in bytes that a node has held since ForgetPeak, or
// since its start. It is known only on Linux.
func (n *Node) Peak() (int64, error) {
	text, err := os.ReadFile(fmt.Sprintf("/proc/%d/status", n.PID()))
	if err != nil {
		return 0, err
	}
	for line := range strings.Lines(string(text)) {
		if value, ok := strings.CutPrefix(line, "VmHWM:"); ok {
			var kilobytes int64
			_, err := fmt.Sscan(value, &kilobytes)
			return kilobytes << 10, err
		}
	}
	return 0, fmt.Errorf("process %d has no peak memory in its status", n.PID())
}

// ForgetPeak restarts Peak at the node's current memory, see proc(5).
func (n *Node) ForgetPeak() error {
	return os.WriteFile(fmt.Sprintf("/proc/%d/clear_refs", n.PID()), []byte("5"), 0)
}

// PeakAdded is the most memory in bytes that run adds to the node's memory
// before it.
func (n *Node) PeakAdded(run func() error) (float64, error) {
	if err := n.ForgetPeak(); err != nil {
		return 0, err
	}
	before, err := n.Peak()
	if err != nil {
		return 0, err
	}
	if err := run(); err != nil {
		return 0, err
	}
	after, err := n.Peak()
	return float64(after - before), err
}
