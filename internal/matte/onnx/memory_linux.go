package onnx

import (
	"bufio"
	"fmt"
	"os"
	"strconv"
	"strings"
)

// availableMemory is what the kernel says could be had without swapping
// (proc(5), MemAvailable), and at most what the control group has left
// (cgroup v2, memory.max).
func availableMemory() (int64, bool) {
	have, known := memAvailable("/proc/meminfo")
	limit, limited := readNumber("/sys/fs/cgroup/memory.max")
	used, ok := readNumber("/sys/fs/cgroup/memory.current")
	if limited && ok && (!known || limit-used < have) {
		return max(limit-used, 0), true
	}
	return have, known
}

func memAvailable(path string) (int64, bool) {
	f, err := os.Open(path)
	if err != nil {
		return 0, false
	}
	defer f.Close()
	for lines := bufio.NewScanner(f); lines.Scan(); {
		if v, ok := strings.CutPrefix(lines.Text(), "MemAvailable:"); ok {
			var kb int64
			_, err := fmt.Sscan(v, &kb)
			return kb << 10, err == nil
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
