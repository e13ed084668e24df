package batch_test

import (
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/bgremove/bgremove/internal/batch"
)

func TestParseShard(t *testing.T) {
	t.Parallel()
	tests := map[string]struct {
		text, environ string
		want          batch.Shard
		reason        string
	}{
		"none":              {"", "SLURM_ARRAY_TASK_ID=1 SLURM_ARRAY_TASK_COUNT=8", batch.Shard{}, ""},
		"first":             {"1/8", "", batch.Shard{Number: 1, Count: 8}, ""},
		"last":              {"8/8", "JOB_COMPLETION_INDEX=0", batch.Shard{Number: 8, Count: 8}, ""},
		"from zero":         {"0/8", "", batch.Shard{}, "K from 1 to N"},
		"beyond":            {"9/8", "", batch.Shard{}, "K from 1 to N"},
		"no count":          {"3", "", batch.Shard{}, "K from 1 to N"},
		"words":             {"a/b", "", batch.Shard{}, "K from 1 to N"},
		"three numbers":     {"1/2/3", "", batch.Shard{}, "K from 1 to N"},
		"slurm from zero":   {"auto", "SLURM_ARRAY_TASK_ID=7 SLURM_ARRAY_TASK_COUNT=8 SLURM_ARRAY_TASK_MIN=0 SLURM_ARRAY_TASK_STEP=1", batch.Shard{Number: 8, Count: 8}, ""},
		"slurm from one":    {"auto", "SLURM_ARRAY_TASK_ID=1 SLURM_ARRAY_TASK_COUNT=8 SLURM_ARRAY_TASK_MIN=1", batch.Shard{Number: 1, Count: 8}, ""},
		"slurm in steps":    {"auto", "SLURM_ARRAY_TASK_ID=14 SLURM_ARRAY_TASK_COUNT=8 SLURM_ARRAY_TASK_MIN=0 SLURM_ARRAY_TASK_STEP=2", batch.Shard{Number: 8, Count: 8}, ""},
		"slurm with gaps":   {"auto", "SLURM_ARRAY_TASK_ID=9 SLURM_ARRAY_TASK_COUNT=3 SLURM_ARRAY_TASK_MIN=1 SLURM_ARRAY_TASK_STEP=1", batch.Shard{}, "indices without gaps"},
		"slurm beside step": {"auto", "SLURM_ARRAY_TASK_ID=2 SLURM_ARRAY_TASK_COUNT=3 SLURM_ARRAY_TASK_MIN=1 SLURM_ARRAY_TASK_STEP=4", batch.Shard{}, "indices without gaps"},
		"slurm, no minimum": {"auto", "SLURM_ARRAY_TASK_ID=2 SLURM_ARRAY_TASK_COUNT=3", batch.Shard{}, "whole number in SLURM_ARRAY_TASK_MIN"},
		"kubernetes":        {"auto", "JOB_COMPLETION_INDEX=0 JOB_COMPLETIONS=4", batch.Shard{Number: 1, Count: 4}, ""},
		"kubernetes alone":  {"auto", "JOB_COMPLETION_INDEX=0", batch.Shard{}, "whole number in JOB_COMPLETIONS"},
		"aws":               {"auto", "AWS_BATCH_JOB_ARRAY_INDEX=3 AWS_BATCH_JOB_ARRAY_SIZE=4", batch.Shard{Number: 4, Count: 4}, ""},
		"aws beyond":        {"auto", "AWS_BATCH_JOB_ARRAY_INDEX=4 AWS_BATCH_JOB_ARRAY_SIZE=4", batch.Shard{}, "an array of 4 tasks"},
		"not a number":      {"auto", "AWS_BATCH_JOB_ARRAY_INDEX=x AWS_BATCH_JOB_ARRAY_SIZE=4", batch.Shard{}, "whole number in AWS_BATCH_JOB_ARRAY_INDEX"},
		"no scheduler":      {"auto", "", batch.Shard{}, "finds no array of tasks"},
		"two schedulers":    {"auto", "SLURM_ARRAY_TASK_ID=0 SLURM_ARRAY_TASK_COUNT=8 SLURM_ARRAY_TASK_MIN=0 JOB_COMPLETION_INDEX=0 JOB_COMPLETIONS=4", batch.Shard{}, "finds both"},
	}
	for name, tt := range tests {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			environ := map[string]string{}
			for _, pair := range strings.Fields(tt.environ) {
				name, value, _ := strings.Cut(pair, "=")
				environ[name] = value
			}
			got, err := batch.ParseShard(tt.text, func(name string) string { return environ[name] })
			if (err != nil) != (tt.reason != "") || err != nil && !strings.Contains(err.Error(), tt.reason) {
				t.Fatalf("error %v, want %q", err, tt.reason)
			}
			if got != tt.want {
				t.Errorf("got %v, want %v", got, tt.want)
			}
		})
	}
}

// The guide names every variable that is read.
func TestSchedulerVariables(t *testing.T) {
	t.Parallel()
	guide, err := os.ReadFile("../../docs/batch.md")
	if err != nil {
		t.Fatal(err)
	}
	for _, name := range batch.SchedulerVariables() {
		if !strings.Contains(string(guide), "`"+name+"`") {
			t.Errorf("docs/batch.md does not name %s", name)
		}
	}
}

func inputs(root string, n int) (list []batch.Item) {
	for i := range n {
		list = append(list, batch.Item{Input: batch.Input{Path: filepath.Join(root, fmt.Sprintf("walk%04d.mp4", i)), Folder: fmt.Sprint("day", i%3)}})
	}
	return list
}

// Each input is in one shard, and the shards are about equal.
func TestShardSelect(t *testing.T) {
	t.Parallel()
	all := inputs("clips", 800)
	shards := map[string]int{}
	for k := range 8 {
		part := batch.Shard{Number: k + 1, Count: 8}.Select(all)
		if len(part) < 70 || len(part) > 130 {
			t.Errorf("shard %d has %d of 800 inputs", k+1, len(part))
		}
		for _, item := range part {
			shards[item.Path]++
		}
	}
	for _, item := range all {
		if shards[item.Path] != 1 {
			t.Errorf("%s is in %d shards", item.Path, shards[item.Path])
		}
	}
	if got := (batch.Shard{}).Select(all); len(got) != len(all) {
		t.Errorf("without a shard there are %d inputs of %d", len(got), len(all))
	}
}

// A shard keeps its inputs when others appear, and wherever the folder is mounted.
func TestShardIsStable(t *testing.T) {
	t.Parallel()
	shard := batch.Shard{Number: 2, Count: 5}
	names := func(items []batch.Item) (names []string) {
		for _, item := range items {
			names = append(names, filepath.Base(item.Path))
		}
		return names
	}
	before, after := names(shard.Select(inputs("clips", 100))), names(shard.Select(inputs("/mnt/other", 200)))
	after = slices.DeleteFunc(after, func(name string) bool { return name >= "walk0100.mp4" })
	if diff := cmp.Diff(before, after); diff != "" {
		t.Errorf("(-before +after):\n%s", diff)
	}
}

// Numbered pictures are told apart by their folders where their pattern is one.
func TestShardSequences(t *testing.T) {
	t.Parallel()
	var all []batch.Item
	for i := range 100 {
		all = append(all, batch.Item{Input: batch.Input{Path: fmt.Sprintf("clip%d/%%04d.png", i)}})
	}
	if n := len(batch.Shard{Number: 1, Count: 2}.Select(all)); n < 30 || n > 70 {
		t.Errorf("shard 1/2 has %d of 100 inputs", n)
	}
}
