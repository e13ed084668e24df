//go:build linux

package main

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"math"
	"mime/multipart"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strconv"
	"strings"
	"time"

	"github.com/bgremove/bgremove/internal/service/job"
	"github.com/bgremove/bgremove/pkg/api"
	"github.com/bgremove/bgremove/tools/internal/rig"
)

const (
	splitWorkers = 4
	// splitShare is the share of a core that each worker gets, alone or beside others, in
	// the place of a machine of its own.
	splitShare = 0.5
	// aimSplit is the most time that four workers need, as a share of one's.
	aimSplit = 0.35
)

// split does one long clip by one worker, and then by several in parts.
func (b *bench) split(ctx context.Context) error {
	if b.clip == "" {
		return errors.New("-only split needs a -clip")
	}
	fmt.Printf("\n%s by one worker, and by %d, each with %.1f of a core\n", filepath.Base(b.clip), splitWorkers, splitShare)
	var took [2]time.Duration
	var mattes [2][]byte
	for i, workers := range []int{1, splitWorkers} {
		var err error
		if took[i], mattes[i], err = b.splitBy(ctx, workers); err != nil {
			return err
		}
		fmt.Printf("  %d workers: %.0f s\n", workers, took[i].Seconds())
	}
	ratio := took[1].Seconds() / took[0].Seconds()
	show("time of four as a share of one's", fmt.Sprintf("%.2f", ratio), fmt.Sprintf("≤ %.2f", aimSplit), ratio <= aimSplit)
	if len(mattes[0]) == 0 || len(mattes[0]) != len(mattes[1]) {
		return fmt.Errorf("mattes of %d and %d bytes", len(mattes[0]), len(mattes[1]))
	}
	sum := 0.0
	for i, v := range mattes[0] {
		sum += math.Abs(float64(v) - float64(mattes[1][i]))
	}
	fmt.Printf("  the mattes differ by %.5f of full, on the mean\n", sum/255/float64(len(mattes[0])))
	return nil
}

// splitBy does the clip by some workers, in as many parts, and returns the mattes in
// the output.
func (b *bench) splitBy(ctx context.Context, workers int) (took time.Duration, mattes []byte, err error) {
	p, err := b.rig.Postgres(ctx)
	if err != nil {
		return 0, nil, err
	}
	p.Set("BGREMOVE_ONNXRUNTIME", os.Getenv("BGREMOVE_ONNXRUNTIME"))
	p.Set("BGREMOVE_SLOTS", "1")
	if workers > 1 {
		p.Set("BGREMOVE_SPLIT_OVER", b.part.String())
	}
	nodes, client, err := b.populate(ctx, p, append([]string{"api"}, slices.Repeat([]string{"worker"}, workers)...)...)
	if err != nil {
		return 0, nil, err
	}
	defer func() { err = errors.Join(err, end(nodes)) }()
	for _, n := range nodes[1:] {
		if err := limitCPU(n.PID(), splitShare); err != nil {
			return 0, nil, err
		}
	}
	body, contentType, err := b.splitForm()
	if err != nil {
		return 0, nil, err
	}
	began := time.Now()
	id, err := client.Upload(ctx, nodes[0].URL, contentType, bytes.NewReader(body), int64(len(body)))
	if err != nil {
		return 0, nil, err
	}
	for {
		j, err := client.Job(ctx, nodes[0].URL, id)
		if err != nil {
			return 0, nil, err
		}
		if job.State(j.Status).Ended() {
			if j.Status != api.JobStatus(job.Done) {
				return 0, nil, fmt.Errorf("the job is %s", j.Status)
			}
			break
		}
		time.Sleep(100 * time.Millisecond)
	}
	took = time.Since(began)
	mattes, err = outputMattes(ctx, p)
	return took, mattes, err
}

// splitForm is a submission of the clip.
func (b *bench) splitForm() (body []byte, contentType string, err error) {
	clip, err := os.ReadFile(b.clip)
	if err != nil {
		return nil, "", err
	}
	var buf bytes.Buffer
	w := multipart.NewWriter(&buf)
	err = errors.Join(w.WriteField("method", "rembg"), w.WriteField("crop", "false"), w.WriteField("outputFormat", "webm"))
	part, e := w.CreateFormFile("file", filepath.Base(b.clip))
	if err = errors.Join(err, e); err == nil {
		_, err = part.Write(clip)
	}
	err = errors.Join(err, w.Close())
	return buf.Bytes(), w.FormDataContentType(), err
}

// outputMattes are the alpha of the only job's output.
func outputMattes(ctx context.Context, p *rig.Deployment) (mattes []byte, err error) {
	blobs, err := p.Blobs(ctx)
	if err != nil {
		return nil, err
	}
	defer func() { err = errors.Join(err, blobs.Close()) }()
	key := ""
	for info, err := range blobs.List(ctx, "jobs/") {
		if err != nil {
			return nil, err
		}
		if strings.HasSuffix(info.Key, ".webm") {
			key = info.Key
		}
	}
	path, release, err := blobs.Local(ctx, key)
	if err != nil {
		return nil, err
	}
	defer release()
	return exec.CommandContext(ctx, "ffmpeg", "-v", "error", "-c:v", "libvpx-vp9", "-i", path, "-fps_mode", "passthrough",
		"-vf", "alphaextract,scale=iw/2:ih/2:flags=area", "-pix_fmt", "gray", "-f", "rawvideo", "-").Output()
}

// limitCPU gives a process, with its future children, a share of a core by a control group of
// version 1 or 2, which stays. It needs root.
func limitCPU(pid int, share float64) error {
	const period = 100_000 // microseconds
	quota := strconv.Itoa(int(share * period))
	root, file, text := "/sys/fs/cgroup/cpu", "cpu.cfs_quota_us", quota
	if _, err := os.Stat("/sys/fs/cgroup/cgroup.controllers"); err == nil {
		root, file, text = "/sys/fs/cgroup", "cpu.max", quota+" "+strconv.Itoa(period)
	}
	dir := filepath.Join(root, "bgremove-"+strconv.Itoa(pid))
	if err := os.Mkdir(dir, 0o755); err != nil {
		return fmt.Errorf("control group: %w", err)
	}
	return errors.Join(os.WriteFile(filepath.Join(dir, file), []byte(text), 0o600),
		os.WriteFile(filepath.Join(dir, "cgroup.procs"), []byte(strconv.Itoa(pid)), 0o600))
}
