package batch

import (
	"crypto/sha256"
	"encoding/binary"
	"errors"
	"fmt"
	"path"
	"path/filepath"
	"slices"
	"strconv"
	"strings"

	"github.com/bgremove/bgremove/pkg/bgremove"
)

// ShardAuto is the text of a shard that the scheduler's variables tell.
const ShardAuto = "auto"

// Shard is one part of several that together are all inputs. The zero value is
// all of them.
type Shard struct {
	Number int // from 1 to Count
	Count  int
}

func (s Shard) String() string { return fmt.Sprintf("%d/%d", s.Number, s.Count) }

// scheduler names the variables of a system that runs many tasks.
type scheduler struct {
	index string // set in each task
	count string
	first string // the lowest index; empty is 0
	step  string // between two indices; empty is 1
}

// schedulers are those that ShardAuto knows.
var schedulers = []scheduler{
	{index: "SLURM_ARRAY_TASK_ID", count: "SLURM_ARRAY_TASK_COUNT", first: "SLURM_ARRAY_TASK_MIN", step: "SLURM_ARRAY_TASK_STEP"},
	{index: "JOB_COMPLETION_INDEX", count: "JOB_COMPLETIONS"}, // Kubernetes sets the first, its manifest the second
	{index: "AWS_BATCH_JOB_ARRAY_INDEX", count: "AWS_BATCH_JOB_ARRAY_SIZE"},
}

// ParseShard reads K/N with K from 1 to N, or ShardAuto; empty is all inputs.
// getenv gives the environment's variables, which only ShardAuto uses.
func ParseShard(text string, getenv func(string) string) (Shard, error) {
	switch text {
	case "":
		return Shard{}, nil
	case ShardAuto:
		return shardOfTask(getenv)
	}
	k, n, _ := strings.Cut(text, "/")
	number, err := strconv.Atoi(k)
	count, err2 := strconv.Atoi(n)
	if err != nil || err2 != nil || number < 1 || number > count {
		return Shard{}, fmt.Errorf("shard must be K/N with K from 1 to N, such as 1/8, or %s: %q", ShardAuto, text)
	}
	return Shard{Number: number, Count: count}, nil
}

// shardOfTask is the shard of this task of the scheduler that runs it.
func shardOfTask(getenv func(string) string) (Shard, error) {
	var (
		shard Shard
		found string
	)
	for _, s := range schedulers {
		switch {
		case getenv(s.index) == "":
			continue
		case found != "":
			return Shard{}, fmt.Errorf("shard %s finds both %s and %s; give K/N", ShardAuto, found, s.index)
		}
		found = s.index
		var err error
		if shard, err = s.shard(getenv); err != nil {
			return Shard{}, err
		}
	}
	if found == "" {
		return Shard{}, fmt.Errorf("shard %s finds no array of tasks: none of %s is set", ShardAuto, strings.Join(indexVariables(), ", "))
	}
	return shard, nil
}

func indexVariables() (names []string) {
	for _, s := range schedulers {
		names = append(names, s.index)
	}
	return names
}

// shard is this task's, by the variables of its scheduler.
func (s scheduler) shard(getenv func(string) string) (Shard, error) {
	var errs []error
	number := func(name string, byDefault int) int {
		text := getenv(name)
		if name == "" || text == "" && name == s.step {
			return byDefault
		}
		n, err := strconv.Atoi(text)
		if err != nil || n < 0 {
			errs = append(errs, fmt.Errorf("shard %s needs a whole number in %s: %q", ShardAuto, name, text))
		}
		return n
	}
	offset, count, step := number(s.index, 0)-number(s.first, 0), number(s.count, 0), number(s.step, 1)
	if len(errs) > 0 {
		return Shard{}, errors.Join(errs...)
	}
	if step < 1 || offset < 0 || offset%step != 0 || offset/step >= count {
		return Shard{}, fmt.Errorf("shard %s needs indices without gaps, but %s is %s in an array of %d tasks; give K/N",
			ShardAuto, s.index, getenv(s.index), count)
	}
	return Shard{Number: offset/step + 1, Count: count}, nil
}

// Select returns the items of the shard, in their order. Each input belongs to
// one shard, by its name below the searched folder: neither other inputs nor the
// folder's place matter.
func (s Shard) Select(items []Item) []Item {
	if s.Count == 0 {
		return items
	}
	return slices.DeleteFunc(slices.Clone(items), func(item Item) bool { return !s.contains(item.Input) })
}

func (s Shard) contains(in Input) bool {
	// Numbered pictures have no name but that of their output.
	name := outputName(in.Path, bgremove.GIF, true)
	sum := sha256.Sum256([]byte(path.Join(filepath.ToSlash(in.Folder), name)))
	return binary.BigEndian.Uint64(sum[:8])%uint64(s.Count) == uint64(s.Number-1)
}
