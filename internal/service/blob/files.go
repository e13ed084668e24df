package blob

import (
	"context"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"iter"
	neturl "net/url"
	"os"
	"path"
	"path/filepath"
	"strings"
	"time"

	"gocloud.dev/blob"
	"gocloud.dev/blob/fileblob"
)

// fileBackend is a folder; keys are paths in it. A file in progress lies beside its
// final name.
type fileBackend struct{ dir string }

// FolderURL is the URL by which Open opens a folder, of an absolute path.
func FolderURL(dir string) string {
	path := filepath.ToSlash(dir)
	if !strings.HasPrefix(path, "/") {
		path = "/" + path // C:/…, which would be a host
	}
	return (&neturl.URL{Scheme: "file", Path: path}).String()
}

func openFiles(u *neturl.URL) (*Store, error) {
	if u.Host != "" && u.Host != "." || u.Path == "" {
		return nil, fmt.Errorf("storage: %s needs an absolute path, as file:///PATH", u)
	}
	dir := filepath.FromSlash(u.Path)
	if len(dir) > 2 && dir[2] == ':' {
		dir = dir[1:] // file:///C:/…
	}
	dir = filepath.Clean(dir) // as the paths of objects are
	bucket, err := fileblob.OpenBucket(dir, &fileblob.Options{
		CreateDir: true, NoTempDir: true, Metadata: fileblob.MetadataDontWrite, DirFileMode: 0o700,
	})
	if err != nil {
		return nil, fmt.Errorf("storage: %w", err)
	}
	return &Store{bucket: bucket, backend: fileBackend{dir}}, nil
}

func (f fileBackend) path(key string) string { return filepath.Join(f.dir, filepath.FromSlash(key)) }

func (f fileBackend) writer(key string) writeHooks { return &fileWriteHooks{fileBackend: f, key: key} }

func (f fileBackend) local(_ context.Context, _ *Store, key string, _ bool) (string, func(), error) {
	path := f.path(key)
	_, err := os.Stat(path)
	if errors.Is(err, fs.ErrNotExist) {
		return "", nil, fmt.Errorf("storage: %s: %w", key, ErrNotFound)
	}
	if err != nil {
		return "", nil, wrap("stat", key, err)
	}
	return path, func() {}, nil
}

// folders are those that an object lies in, from its own to the store's.
func (f fileBackend) folders(key string) (all []string) {
	dir := f.path(key)
	for dir != f.dir {
		dir = filepath.Dir(dir)
		all = append(all, dir)
	}
	return all
}

// afterDelete removes the folders that an object leaves empty.
func (f fileBackend) afterDelete(key string) {
	for _, dir := range f.folders(key) {
		if dir == f.dir || os.Remove(dir) != nil {
			return
		}
	}
}

// list walks the folder itself: that of gocloud.dev fails where an object goes
// away while it looks, and walks everything again for each page.
func (f fileBackend) list(ctx context.Context, _ *Store, prefix string) iter.Seq2[Info, error] {
	return func(yield func(Info, error) bool) {
		folder, _ := path.Split(prefix)
		err := filepath.WalkDir(f.path(folder), func(name string, entry fs.DirEntry, err error) error {
			if err != nil || ctx.Err() != nil {
				return errors.Join(ignoreNotExist(err), ctx.Err())
			}
			rel, err := filepath.Rel(f.dir, name)
			key := filepath.ToSlash(rel)
			if err != nil || entry.IsDir() || !strings.HasPrefix(key, prefix) || strings.HasSuffix(key, tempExt) {
				return err
			}
			info, err := entry.Info()
			if err != nil {
				return ignoreNotExist(err)
			}
			if !yield(Info{Key: key, Size: info.Size(), ModTime: info.ModTime()}, nil) {
				return fs.SkipAll
			}
			return nil
		})
		if err != nil {
			yield(Info{}, wrap("list", prefix, err))
		}
	}
}

func (f fileBackend) sweep(ctx context.Context, before time.Time) (n int, err error) {
	err = filepath.WalkDir(f.dir, func(path string, entry fs.DirEntry, err error) error {
		if err != nil || ctx.Err() != nil {
			return errors.Join(ignoreNotExist(err), ctx.Err())
		}
		if entry.IsDir() || !strings.HasSuffix(path, tempExt) {
			return nil
		}
		info, err := entry.Info()
		if err != nil || !info.ModTime().Before(before) {
			return ignoreNotExist(err)
		}
		n++
		return ignoreNotExist(os.Remove(path))
	})
	return n, err
}

// ignoreNotExist forgives that something is not there any more.
func ignoreNotExist(err error) error {
	if errors.Is(err, fs.ErrNotExist) {
		return nil
	}
	return err
}

func (f fileBackend) disk() string { return f.dir }

func (fileBackend) close() error { return nil }

// fileWriteHooks brings a file and its name to the disk.
type fileWriteHooks struct {
	fileBackend
	key  string
	file *os.File // the temporary one, open while it is written
}

func (w *fileWriteHooks) options() *blob.WriterOptions {
	return &blob.WriterOptions{
		ContentType: "application/octet-stream", // or content is kept back to guess it
		BeforeWrite: func(as func(any) bool) error {
			if !as(&w.file) {
				return errors.New("fileblob does not show its file")
			}
			return w.file.Chmod(0o600)
		},
	}
}

func (w *fileWriteHooks) copy() io.Writer { return nil }

func (w *fileWriteHooks) flush() error { return w.file.Sync() }

// finish syncs the folders that the name is in.
func (w *fileWriteHooks) finish() (string, func(), error) {
	for _, dir := range w.folders(w.key) {
		if err := syncDir(dir); err != nil {
			return "", nil, err
		}
	}
	return w.path(w.key), func() {}, nil
}

func (w *fileWriteHooks) discard() { w.afterDelete(w.key) }
