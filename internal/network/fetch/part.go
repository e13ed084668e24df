package fetch

import (
	"bytes"
	"context"
	"crypto/sha256"
	"encoding/hex"
	"errors"
	"fmt"
	"hash"
	"io"
	"os"
	"runtime"
	"strings"

	"github.com/bgremove/bgremove/internal/system/filelock"
	"github.com/bgremove/bgremove/internal/system/infile"
	"github.com/bgremove/bgremove/internal/system/outfile"
)

// part is an incomplete file under a name that says so, with the digest of its
// content. It is locked while it is open.
type part struct {
	path string
	file *os.File
	size int64
	sum  hash.Hash
	etag string // of the version that the bytes are from; may be empty
	// released is set once the lock is given up.
	released bool
}

// openPart opens the part of an earlier try, or a new file.
func openPart(ctx context.Context, path string) (*part, error) {
	f, err := os.OpenFile(path, os.O_RDWR|os.O_CREATE, 0o644)
	if err != nil {
		return nil, err
	}
	p := &part{path: path, file: f, sum: sha256.New()}
	if err := p.claim(); err != nil {
		return nil, errors.Join(err, f.Close())
	}
	if p.size, err = io.Copy(p.sum, reading{ctx, f}); err != nil {
		return nil, errors.Join(fmt.Errorf("read %s: %w", path, err), f.Close())
	}
	if tag, err := os.ReadFile(p.tagPath()); err == nil && p.size > 0 {
		p.etag = strings.TrimSpace(string(tag))
	}
	return p, nil
}

// claim locks the file and checks that it still has its name: the process that
// held it before may have finished.
func (p *part) claim() error {
	// A file system without locks is accepted too.
	if err := filelock.TryLock(p.file); errors.Is(err, filelock.ErrHeld) {
		return fmt.Errorf("%s: %w", p.path, ErrBusy)
	}
	mine, err := p.file.Stat()
	if err != nil {
		return err
	}
	if filelock.Named(p.file) != nil {
		return fmt.Errorf("%s: %w", p.path, ErrBusy)
	}
	if !mine.Mode().IsRegular() {
		return fmt.Errorf("%s: not a regular file", p.path)
	}
	return nil
}

func (p *part) tagPath() string { return p.path + ".etag" }

// setTag records the version of the following bytes. Weak tags do not promise
// equal bytes and are not kept.
func (p *part) setTag(tag string) error {
	if tag == p.etag {
		return nil
	}
	p.etag = ""
	if tag == "" || strings.HasPrefix(tag, "W/") {
		return outfile.Remove(p.tagPath())
	}
	p.etag = tag
	return os.WriteFile(p.tagPath(), []byte(tag+"\n"), 0o644)
}

func (p *part) append(b []byte) error {
	n, err := p.file.Write(b)
	p.sum.Write(b[:n])
	p.size += int64(n)
	return err
}

// reset drops all bytes.
func (p *part) reset() error {
	p.size, p.etag = 0, ""
	p.sum.Reset()
	if _, err := p.file.Seek(0, io.SeekStart); err != nil {
		return err
	}
	return errors.Join(p.file.Truncate(0), outfile.Remove(p.tagPath()))
}

// check compares the content with the wanted digest, and drops wrong content.
func (p *part) check(f File) error {
	got := hex.EncodeToString(p.sum.Sum(nil))
	if got == f.SHA256 {
		return nil
	}
	return errors.Join(p.diagnose(f, got), p.reset())
}

// diagnose explains why the content has another digest than f.
func (p *part) diagnose(f File, got string) error {
	head := make([]byte, 512)
	n, _ := p.file.ReadAt(head, 0)
	if isPage(head[:n]) {
		return &PageError{From: Redacted(f.From)}
	}
	if f.Size > 0 && p.size != f.Size {
		return &SizeError{From: Redacted(f.From), Got: p.size, Want: f.Size}
	}
	return &DigestError{Name: Redacted(f.From), Got: got, Want: f.SHA256}
}

// publish gives the complete file its name.
func (p *part) publish(dest string) error {
	if err := p.file.Sync(); err != nil {
		return fmt.Errorf("write %s: %w", p.path, err)
	}
	return p.release(func() error {
		if err := os.Rename(p.path, dest); err != nil {
			return fmt.Errorf("rename the file: %w", err)
		}
		return outfile.Remove(p.tagPath())
	})
}

// close unlocks the file and removes it if it is empty. After publish there is
// nothing left to do.
func (p *part) close() error {
	if p.size > 0 {
		return p.release(func() error { return nil })
	}
	return p.release(func() error { return errors.Join(outfile.Remove(p.path), outfile.Remove(p.tagPath())) })
}

// release renames or removes the file and unlocks it, once. The name goes
// first: a process that has opened the file since must not take it for its own.
// On Windows an open file keeps its name, and no other process can have opened
// it.
func (p *part) release(rename func() error) error {
	if p.released {
		return nil
	}
	p.released = true
	if runtime.GOOS == "windows" {
		if err := p.file.Close(); err != nil {
			return err
		}
		return rename()
	}
	return errors.Join(rename(), p.file.Close())
}

// isPage reports whether content begins like a web page.
func isPage(head []byte) bool {
	head = bytes.ToLower(bytes.TrimLeft(bytes.TrimPrefix(head, []byte("\xef\xbb\xbf")), " \t\r\n"))
	return bytes.HasPrefix(head, []byte("<!doctype html")) || bytes.HasPrefix(head, []byte("<html"))
}

// ValidDigest reports whether s is a sha256 in lower-case hex.
func ValidDigest(s string) bool {
	b, err := hex.DecodeString(s)
	return err == nil && len(b) == sha256.Size && s == strings.ToLower(s)
}

// Digest is the sha256 of a regular file in lower-case hex, and its size.
func Digest(ctx context.Context, path string) (sum string, size int64, err error) {
	f, err := infile.Open(path)
	if err != nil {
		return "", 0, err
	}
	defer f.Close()
	h := sha256.New()
	if size, err = io.Copy(h, reading{ctx, f}); err != nil {
		return "", 0, fmt.Errorf("read %s: %w", path, err)
	}
	return hex.EncodeToString(h.Sum(nil)), size, nil
}

// reading is a reader that ends with ctx.
type reading struct {
	ctx context.Context //nolint:containedctx // the reader lives for one call
	r   io.Reader
}

func (r reading) Read(b []byte) (int, error) {
	if r.ctx.Err() != nil {
		return 0, context.Cause(r.ctx)
	}
	return r.r.Read(b)
}
