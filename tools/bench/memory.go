//go:build linux && cgo

package main

import (
	"bufio"
	"context"
	"fmt"
	"os"
	"os/exec"
	"strings"
	"syscall"

	"github.com/bgremove/bgremove/pkg/bgremove"
)

// memory prints the peak memory of removals at 1080p for a short and a long
// clip. Each runs in its own process.
func (b *bench) memory(ctx context.Context, short, long int) error {
	fmt.Printf("\nmemory, mp4 to mp4 with crop, 1920×1080: peak of our process (largest child apart)\n")
	self, err := os.Executable()
	if err != nil {
		return err
	}
	var peaks []float64
	for _, frames := range []int{short, long} {
		clip, err := b.clip(ctx, 1920, 1080, frames)
		if err != nil {
			return err
		}
		out, err := exec.CommandContext(ctx, self, "-memory", clip).Output()
		if err != nil {
			return fmt.Errorf("run of %d frames: %w", frames, err)
		}
		var ours, child float64
		if _, err := fmt.Sscan(string(out), &ours, &child); err != nil {
			return err
		}
		fmt.Printf("%6d frames: %.0f MB (%.0f MB)\n", frames, ours, child)
		peaks = append(peaks, ours)
		if err := os.Remove(clip); err != nil {
			return err
		}
	}
	fmt.Printf("ratio %.2f\n", peaks[1]/peaks[0])
	return nil
}

// removeAndReport does one removal in this process, and prints the peak memory
// of the process and of its largest child, in MB.
func removeAndReport(ctx context.Context, clip string) error {
	o := bgremove.Defaults()
	o.Method, o.Format, o.Background, o.Quality = bgremove.Fast, bgremove.MP4, "#ffffff", 1
	out := clip + ".out.mp4"
	defer os.Remove(out)
	if _, err := bgremove.New(bgremove.Config{}).Remove(ctx, clip, out, o, bgremove.Extras{}); err != nil {
		return err
	}
	peak, err := peakMemory("self")
	if err != nil {
		return err
	}
	var children syscall.Rusage
	if err := syscall.Getrusage(syscall.RUSAGE_CHILDREN, &children); err != nil {
		return err
	}
	fmt.Println(peak/1000, float64(children.Maxrss)/1000)
	return nil
}

// peakMemory is VmHWM of a process, "self" or a process id, in kB.
func peakMemory(process string) (kb float64, err error) {
	f, err := os.Open("/proc/" + process + "/status")
	if err != nil {
		return 0, err
	}
	defer f.Close()
	for lines := bufio.NewScanner(f); lines.Scan(); {
		if value, ok := strings.CutPrefix(lines.Text(), "VmHWM:"); ok {
			_, err := fmt.Sscan(value, &kb)
			return kb, err
		}
	}
	return 0, fmt.Errorf("no VmHWM in /proc/%s/status", process)
}
