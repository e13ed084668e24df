package batch

import (
	"context"
	"errors"
	"io/fs"
	"os"
	"path/filepath"
	"runtime"
	"slices"
	"strings"

	"github.com/bgremove/bgremove/internal/bucket"
	"github.com/bgremove/bgremove/pkg/bgremove"
	"github.com/bgremove/bgremove/pkg/option"
)

// Search says where inputs are looked for.
type Search struct {
	// Paths are files with any name, folders, patterns as of filepath.Glob
	// if no file has that name, and addresses of objects and of their folders.
	Paths []string
	// Recursive also searches subfolders; outputs get the same tree.
	Recursive bool
	// Out is the outputs' folder, which is not looked into unless it is one of
	// Paths.
	Out string
	// OutFolder is the same in a bucket; nil if Out is a path.
	OutFolder *bucket.Folder
	// Uploads leaves out what the service does not take.
	Uploads bool
}

// Found are the inputs, each once however it is named, in the order of the
// paths and by name.
type Found struct {
	Inputs []Input
	// Files and Folders are those among the paths, Empty the folders without
	// inputs.
	Files, Folders, Empty []string
	// Outputs are files that were named and left out, being outputs by their
	// names. Within folders they are left out silently.
	Outputs []string
	// Unread are folders below that cannot be looked into: failures already.
	Unread []Item

	skipped bool // there are outputs within folders
	buckets []*bucket.Folder
}

// Close ends the use of the buckets that inputs lie in.
func (f *Found) Close() error {
	var errs []error
	for _, b := range f.buckets {
		errs = append(errs, b.Close())
	}
	return errors.Join(errs...)
}

// Find searches the inputs. A missing or unreadable path is an error, and so is
// the absence of any input: each a *bgremove.Error.
func (s Search) Find(ctx context.Context) (*Found, error) {
	w := &walk{Search: s, found: &Found{}, canonical: canonicalPaths{}, seen: map[string]bool{}}
	w.out, _ = os.Stat(s.Out) // it need not be there yet
	for _, path := range s.Paths {
		var err error
		if bucket.IsAddress(path) && !s.Uploads {
			err = w.addAddress(ctx, path)
		} else {
			err = w.addPath(path)
		}
		if err != nil {
			return nil, errors.Join(err, w.found.Close())
		}
	}
	return w.found, nil
}

// extensions are those by which a clip in a folder is told, in any case.
func (s Search) extensions() []string {
	if s.Uploads {
		return option.UploadExtensions()
	}
	return option.InputExtensions()
}

// CheckInputs returns an error if there are no inputs.
func (f *Found) CheckInputs(s Search) error {
	if len(f.Inputs) > 0 || len(f.Unread) > 0 {
		return nil
	}
	e := &bgremove.Error{Kind: bgremove.NotFound, Cause: NoClips, Reason: "there are no clips in " + strings.Join(f.Empty, ", ")}
	e.Name = strings.Join(s.extensions(), " ")
	switch {
	case len(f.Folders) == 0:
		e.Cause, e.Reason = OnlyOutputs, "all named files are outputs of bgremove"
	case f.skipped:
		e.Cause, e.Reason = OnlyOutputs, "all clips in "+strings.Join(f.Empty, ", ")+" are outputs of bgremove"
	case !s.Recursive:
		e.Cause = NoClipsOnTop
	}
	return e
}

// walk is the state of one Find.
type walk struct {
	Search
	out       fs.FileInfo
	onFolder  func(dir string) // may be nil
	found     *Found
	skipped   bool // an output, by scan
	canonical canonicalPaths
	seen      map[string]bool // by canonical path
}

func (w *walk) addPath(path string) error {
	stat, err := os.Stat(path)
	switch {
	case isAbsent(err) && !w.Uploads && bgremove.IsSequence(path):
		w.add(path, "")
		return nil
	case strings.ContainsAny(path, "*?[") && isAbsent(err):
		return w.addPattern(path)
	case err != nil:
		return unreadable(path, err)
	case stat.IsDir():
		return w.addFolder(path)
	case isOutput(path):
		w.found.Outputs = append(w.found.Outputs, path)
		return nil
	}
	w.found.Files = append(w.found.Files, path)
	w.add(path, "")
	return nil
}

// isAbsent reports whether no file has the name of a pattern. Windows reports
// such a name as invalid.
func isAbsent(err error) bool {
	return errors.Is(err, fs.ErrNotExist) || err != nil && runtime.GOOS == "windows"
}

// addPattern is for shells that leave patterns to the program.
func (w *walk) addPattern(pattern string) error {
	matches, _ := filepath.Glob(pattern) // one that is malformed matches nothing
	if !isHidden(filepath.Base(pattern)) {
		matches = slices.DeleteFunc(matches, func(m string) bool { return isHidden(filepath.Base(m)) })
	}
	if len(matches) == 0 {
		return &bgremove.Error{Kind: bgremove.NotFound, Path: pattern, Reason: "no file matches", Err: fs.ErrNotExist}
	}
	for _, m := range matches {
		if err := w.addPath(m); err != nil {
			return err
		}
	}
	return nil
}

func (w *walk) addFolder(root string) error {
	if !w.markSeen(w.canonical.folder(root)) {
		return nil
	}
	w.found.Folders = append(w.found.Folders, root)
	inputs, unread, err := w.scan(root)
	if err != nil {
		return err
	}
	w.found.skipped = w.skipped
	if len(inputs) == 0 {
		w.found.Empty = append(w.found.Empty, root)
	}
	for _, in := range inputs {
		w.add(in.Path, in.Folder)
	}
	for _, err := range unread {
		w.found.Unread = append(w.found.Unread, Unread(err))
	}
	return nil
}

func (w *walk) add(path, folder string) {
	if w.markSeen(w.canonical.file(path)) {
		w.found.Inputs = append(w.found.Inputs, Input{Path: path, Folder: folder})
	}
}

// markSeen marks a path as seen, and reports whether it is new.
func (w *walk) markSeen(path string) bool {
	seen := w.seen[path]
	w.seen[path] = true
	return !seen
}

// scan lists the clips in a folder, by their names; hidden ones are left out.
func (w *walk) scan(root string) (inputs []Input, unread []error, err error) {
	top := root + string(filepath.Separator) // follows a link
	err = filepath.WalkDir(top, func(path string, d fs.DirEntry, err error) error {
		switch {
		case err != nil && path == top:
			return unreadable(root, err)
		case err != nil:
			unread = append(unread, unreadable(path, err))
			return nil
		case path == top:
			w.callOnFolder(root)
			return nil
		case d.IsDir() && (!w.Recursive || isHidden(d.Name()) || w.isOut(d)):
			return fs.SkipDir
		case d.IsDir():
			w.callOnFolder(path)
			return nil
		case !w.isClip(path, d):
			w.skipped = w.skipped || isOutput(path)
			return nil
		}
		folder, err := filepath.Rel(root, filepath.Dir(path))
		if err != nil {
			return err
		}
		if folder == "." {
			folder = ""
		}
		inputs = append(inputs, Input{Path: path, Folder: folder})
		return nil
	})
	return inputs, unread, err
}

func (w *walk) callOnFolder(dir string) {
	if w.onFolder != nil {
		w.onFolder(dir)
	}
}

func (w *walk) isOut(d fs.DirEntry) bool {
	info, err := d.Info()
	return err == nil && w.out != nil && os.SameFile(info, w.out)
}

// isClip reports whether a name may be an input. A link counts as its target. A
// broken link counts, so that it is reported.
func (s Search) isClip(path string, d fs.DirEntry) bool {
	if !s.isClipName(path) {
		return false
	}
	if d.Type()&fs.ModeSymlink == 0 {
		return d.Type().IsRegular()
	}
	stat, err := os.Stat(path)
	return err != nil || stat.Mode().IsRegular()
}

// isClipName reports whether a file in a folder is named like an input.
func (s Search) isClipName(path string) bool {
	return !isHidden(filepath.Base(path)) && !isOutput(path) && slices.Contains(s.extensions(), strings.ToLower(filepath.Ext(path)))
}

func isHidden(name string) bool { return strings.HasPrefix(name, ".") && name != "." && name != ".." }

// isOutput reports whether a file is one of our outputs. They are never inputs,
// or a second run would process those of the first.
func isOutput(path string) bool {
	return option.IsOutputStem(strings.TrimSuffix(filepath.Base(path), filepath.Ext(path)))
}

// Unread is the item of a folder or file that cannot be read.
func Unread(err error) Item {
	item := Item{Err: err}
	if known := (*bgremove.Error)(nil); errors.As(err, &known) {
		item.Path = known.Path
	}
	return item
}

func unreadable(path string, err error) error {
	e := &bgremove.Error{Kind: bgremove.Failed, Path: path, Reason: "cannot be read", Err: err}
	if p := (*fs.PathError)(nil); errors.As(err, &p) {
		e.Reason += ": " + p.Err.Error()
	}
	switch {
	case errors.Is(err, fs.ErrNotExist):
		e.Kind, e.Reason = bgremove.NotFound, "no such file or folder"
	case errors.Is(err, fs.ErrPermission):
		e.Cause = Forbidden
	}
	return e
}
