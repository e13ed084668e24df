package main

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"os/exec"
	"path/filepath"
	"strconv"
	"time"

	"github.com/bgremove/bgremove/internal/service/price"
	"github.com/bgremove/bgremove/tools/internal/rig"
	"github.com/bgremove/bgremove/tools/internal/simulation"
)

// work is what one clip takes by one method.
type work struct {
	file, method  string
	cores         time.Duration // processor time, with that of ffmpeg
	input, output int64         // in bytes
	cost          int64
}

// kind is the work on a slot of some cores, which it keeps busy.
func (w work) kind(cores float64) simulation.Kind {
	return simulation.Kind{Cost: w.cost, Service: time.Duration(float64(w.cores) / cores)}
}

// measure runs remove on each clip by each method.
func (s *settings) measure(ctx context.Context, r *rig.Rig) (all []work, err error) {
	fmt.Printf("%-30s %-6s %13s %10s %10s\n", "clip", "method", "core seconds", "input", "output")
	for _, file := range s.files {
		for _, method := range []string{"fast", "rembg"} {
			w, err := s.remove(ctx, r, file, method)
			if err != nil {
				return nil, fmt.Errorf("%s by %s: %w", file, method, err)
			}
			fmt.Printf("%-30s %-6s %13.1f %8d kB %8d kB\n", file, method, w.cores.Seconds(), w.input/1000, w.output/1000)
			all = append(all, w)
		}
	}
	return all, nil
}

func (s *settings) remove(ctx context.Context, r *rig.Rig, file, method string) (work, error) {
	out := filepath.Join(r.Dir, "out."+s.format)
	cmd := exec.CommandContext(ctx, r.Binary(), "remove", file, "-o", out, "--force", "--method", method, "--json")
	text, err := cmd.Output()
	if exit := (*exec.ExitError)(nil); errors.As(err, &exit) {
		err = fmt.Errorf("%w: %s", err, exit.Stderr)
	}
	if err != nil {
		return work{}, err
	}
	var report struct {
		InputSize, OutputSize int64
		Duration              float64
	}
	if err := json.Unmarshal(text, &report); err != nil {
		return work{}, fmt.Errorf("read the report %s: %w", strconv.Quote(string(text)), err)
	}
	return work{
		file: file, method: method, input: report.InputSize, output: report.OutputSize, cost: price.OfSeconds(report.Duration),
		cores: cmd.ProcessState.UserTime() + cmd.ProcessState.SystemTime(),
	}, nil
}
