package onnx

import (
	"bufio"
	"fmt"
	"os"
	"path/filepath"
	"strconv"
	"strings"
)

// availableMemory is the kernel's estimate of memory that is available without
// swapping (proc(5), MemAvailable), limited to the control group's rest.
func availableMemory() (int64, bool) {
	have, known := readField("/proc/meminfo", "MemAvailable:")
	have <<= 10 // from kB
	if left, limited := cgroupAvailable("/sys/fs/cgroup"); limited && (!known || left < have) {
		return left, true
	}
	return have, known
}

// cgroupAvailable is the memory that a control group (cgroup v2) may still use.
// Cached file contents count as used there, but are released when needed.
func cgroupAvailable(folder string) (int64, bool) {
	limit, limited := readNumber(filepath.Join(folder, "memory.max"))
	used, ok := readNumber(filepath.Join(folder, "memory.current"))
	stat := filepath.Join(folder, "memory.stat")
	inactive, _ := readField(stat, "inactive_file")
	active, _ := readField(stat, "active_file")
	return max(limit-max(used-inactive-active, 0), 0), limited && ok
}

// readField reads the number beside a name in a file of such lines.
func readField(path, name string) (int64, bool) {
	f, err := os.Open(path)
	if err != nil {
		return 0, false
	}
	defer f.Close()
	for lines := bufio.NewScanner(f); lines.Scan(); {
		if v, ok := strings.CutPrefix(lines.Text(), name); ok {
			var n int64
			_, err := fmt.Sscan(v, &n)
			return n, err == nil
		}
	}
	return 0, false
}

// readNumber reads a file that holds one number; "max" is none.
func readNumber(path string) (int64, bool) {
	text, err := os.ReadFile(path)
	if err != nil {
		return 0, false
	}
	n, err := strconv.ParseInt(strings.TrimSpace(string(text)), 10, 64)
	return n, err == nil
}
