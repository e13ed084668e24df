package rig

import (
	"bytes"
	"cmp"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"os"
	"os/exec"
	"path/filepath"
	"syscall"
	"time"
)

// Node is a running process of serve.
type Node struct {
	// URL is the address of its API; empty for a worker.
	URL string
	// Log is its log file, which all nodes of one name share.
	Log    string
	cmd    *exec.Cmd
	exited chan struct{}
	err    error // set once exited
}

// within bounds the starts and graceful ends of processes.
const within = time.Minute

// EndedError means that a process ended during its start.
type EndedError struct {
	Err error
	Log string // the end of the log
}

func (e *EndedError) Error() string {
	return fmt.Sprintf("serve ended: %v; its log is %s", e.Err, e.Log)
}

func (e *EndedError) Unwrap() error { return e.Err }

// Start runs serve with a role and further flags, on a free port unless args
// say --addr. It waits until the node has started, because an earlier signal
// might be ignored. The node is killed when ctx ends.
func (p *Deployment) Start(ctx context.Context, name, role string, args ...string) (*Node, error) {
	n := &Node{Log: filepath.Join(p.dir, name+".log"), exited: make(chan struct{})}
	log, err := os.OpenFile(n.Log, os.O_CREATE|os.O_APPEND|os.O_WRONLY, 0o600)
	if err != nil {
		return nil, err
	}
	before, err := log.Seek(0, io.SeekEnd)
	if err != nil {
		return nil, errors.Join(err, log.Close())
	}
	args = append([]string{"serve", "--addr", "127.0.0.1:0", "--log-format", "json", "--data", p.data(name),
		"--database", p.Database, "--storage", p.Storage, "--role", role}, args...)
	n.cmd = exec.CommandContext(ctx, p.rig.binary, args...)
	n.cmd.Env, n.cmd.Stderr = p.rig.environment(p.env), log // a file, so that we do no work for its log
	if err := n.cmd.Start(); err != nil {
		return nil, errors.Join(err, log.Close())
	}
	go func() {
		defer close(n.exited)
		n.err = errors.Join(n.cmd.Wait(), log.Close())
	}()
	p.rig.ends(n.Kill)
	return n, n.await(before)
}

// await waits until the log reports the node's start after an offset, and reads
// the address of its API from the log.
func (n *Node) await(offset int64) error {
	tick := time.NewTicker(10 * time.Millisecond)
	defer tick.Stop()
	for end := time.After(within); ; {
		text, err := os.ReadFile(n.Log)
		if err != nil {
			return err
		}
		if url, started := read(text[offset:]); started {
			n.URL = url
			return nil
		}
		select {
		case <-tick.C:
		case <-n.exited:
			return &EndedError{n.err, string(tail(n.Log))}
		case <-end:
			n.Kill()
			return fmt.Errorf("serve has not started after %v; its log is %s", within, tail(n.Log))
		}
	}
}

// read finds in a JSON log whether the node has started, and the address of its
// API.
func read(log []byte) (url string, started bool) {
	for line := range bytes.Lines(log) {
		var said struct{ Msg, URL string }
		if json.Unmarshal(line, &said) != nil {
			continue
		}
		switch said.Msg {
		case "listening":
			url = cmp.Or(url, said.URL) // the message of the metrics has no URL
		case "started":
			started = true
		}
	}
	return url, started
}

// tail is the end of a log for messages.
func tail(path string) []byte {
	const most = 2000
	text, _ := os.ReadFile(path) // without a log the tail is empty
	return text[max(0, len(text)-most):]
}

// PID is the id of the process.
func (n *Node) PID() int { return n.cmd.Process.Pid }

// Alive reports whether the process is still running.
func (n *Node) Alive() bool {
	select {
	case <-n.exited:
		return false
	default:
		return true
	}
}

// Kill ends the process by SIGKILL, or by its equivalent on Windows, and waits.
func (n *Node) Kill() {
	_ = n.cmd.Process.Kill() // it may have ended already
	<-n.exited
}

// Terminate asks the process to end, as systemd and Kubernetes do: by SIGTERM. It
// does not wait.
func (n *Node) Terminate() error { return n.cmd.Process.Signal(syscall.SIGTERM) }

// Stop asks the process to end and waits. Any end other than exit status 0 is
// an error.
func (n *Node) Stop() error {
	if err := n.Terminate(); err != nil {
		return err
	}
	return n.Wait()
}

// Wait waits for the process, which was told to end. Any end other than exit
// status 0 is an error.
func (n *Node) Wait() error {
	select {
	case <-n.exited:
	case <-time.After(within):
		n.Kill()
	}
	if n.err != nil {
		return fmt.Errorf("serve: %w; its log is %s", n.err, tail(n.Log))
	}
	return nil
}
