//go:build linux

package main

import (
	"crypto/sha256"
	"errors"
	"fmt"
	"os"
	"runtime"
	"strings"
	"time"
)

// calibrateFor is the time for measuring each ability of the machine.
const calibrateFor = time.Second

// calibrate prints the machine's best performance at the moment: the speed of
// hashing on one core, and the rate of small writes that reach the disk.
func (b *bench) calibrate() error {
	load, err := os.ReadFile("/proc/loadavg")
	if err != nil {
		return err
	}
	hashed := hashRate()
	synced, err := syncRate(b.rig.Dir)
	if err != nil {
		return err
	}
	fmt.Printf("machine: %d cores, load %s, SHA-256 %.0f MB/s, %.0f fsyncs/s\n",
		runtime.NumCPU(), strings.Join(strings.Fields(string(load))[:3], " "), hashed/1e6, synced)
	return nil
}

func hashRate() (bytesPerSecond float64) {
	block := make([]byte, 1<<20)
	n, began := 0, time.Now()
	for time.Since(began) < calibrateFor {
		sha256.Sum256(block)
		n += len(block)
	}
	return float64(n) / time.Since(began).Seconds()
}

func syncRate(dir string) (perSecond float64, err error) {
	f, err := os.CreateTemp(dir, "sync-*")
	if err != nil {
		return 0, err
	}
	defer func() { err = errors.Join(err, f.Close(), os.Remove(f.Name())) }()
	block := make([]byte, 4096)
	n, began := 0, time.Now()
	for ; time.Since(began) < calibrateFor; n++ {
		if _, err := f.Write(block); err != nil {
			return 0, err
		}
		if err := f.Sync(); err != nil {
			return 0, err
		}
	}
	return float64(n) / time.Since(began).Seconds(), nil
}
