package rig

import (
	"context"
	"errors"
	"fmt"
	"net"
	"os"
	"os/exec"
	"path/filepath"
	"time"

	"github.com/bgremove/bgremove/internal/service/id"
)

// S3 is an S3 server: versitygw, which keeps objects in a folder.
type S3 struct {
	dir, addr string
	cmd       *exec.Cmd
	exited    chan struct{}
	err       error // set once exited
}

// The server's only user.
const (
	accessKey = "rig"
	secretKey = "rig-secret-key"
)

// S3 starts the server, a binary of versitygw. It runs until ctx ends or Close
// is called.
func (r *Rig) S3(ctx context.Context, binary string) (*S3, error) {
	dir, err := os.MkdirTemp(r.Dir, "s3-*")
	if err != nil {
		return nil, err
	}
	addr, err := freeAddress()
	if err != nil {
		return nil, err
	}
	s := &S3{dir: dir, addr: addr, exited: make(chan struct{})}
	s.cmd = exec.CommandContext(ctx, binary, "--port", addr, "posix", dir)
	s.cmd.Env = append(os.Environ(), "ROOT_ACCESS_KEY="+accessKey, "ROOT_SECRET_KEY="+secretKey)
	if err := s.cmd.Start(); err != nil {
		return nil, fmt.Errorf("versitygw: %w", err)
	}
	go func() {
		defer close(s.exited)
		s.err = s.cmd.Wait()
	}()
	r.ends(func() { _ = s.Close() }) // it may have ended already
	return s, s.await()
}

// await waits until the server listens.
func (s *S3) await() error {
	tick := time.NewTicker(20 * time.Millisecond)
	defer tick.Stop()
	for end := time.After(within); ; {
		conn, err := net.Dial("tcp", s.addr)
		if err == nil {
			return conn.Close()
		}
		select {
		case <-s.exited:
			return fmt.Errorf("versitygw: %w", s.err)
		case <-end:
			return errors.Join(errors.New("versitygw does not listen"), err)
		case <-tick.C:
		}
	}
}

// Close ends the server.
func (s *S3) Close() error {
	err := s.cmd.Process.Kill()
	<-s.exited
	return err
}

// bucket creates an empty bucket and returns its URL for --storage.
func (s *S3) bucket() (string, error) {
	name := id.New("rig-")
	url := fmt.Sprintf("s3://%s?endpoint=http://%s&region=us-east-1&use_path_style=true", name, s.addr)
	return url, os.Mkdir(filepath.Join(s.dir, name), 0o700)
}

func (s *S3) credentials() []string {
	return []string{"AWS_ACCESS_KEY_ID=" + accessKey, "AWS_SECRET_ACCESS_KEY=" + secretKey}
}

// freeAddress is an unused address of this machine.
func freeAddress() (string, error) {
	l, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		return "", err
	}
	return l.Addr().String(), l.Close()
}
