package batch

import (
	"context"
	"errors"
	"io/fs"
	"os"
	"path"
	"path/filepath"
	"slices"
	"strings"
	"time"

	"github.com/bgremove/bgremove/internal/bucket"
	"github.com/bgremove/bgremove/pkg/bgremove"
)

// addAddress adds an object, or the clips below the address.
func (w *walk) addAddress(ctx context.Context, address string) error {
	f, err := bucket.Open(ctx, address)
	if err != nil {
		return err
	}
	w.found.buckets = append(w.found.buckets, f)
	place, _, _ := strings.Cut(address, "?")
	if parent, name := f.Parent(); name != "" && !strings.HasSuffix(place, "/") {
		switch modified, err := parent.Modified(ctx, name); {
		case err != nil:
			return err
		case !modified.IsZero() && isOutput(name):
			w.found.Outputs = append(w.found.Outputs, parent.Address()+name)
			return nil
		case !modified.IsZero():
			w.found.Files = append(w.found.Files, parent.Address()+name)
			w.addObject(parent, name)
			return nil
		}
	}
	return w.addBucketFolder(ctx, f)
}

func (w *walk) addBucketFolder(ctx context.Context, f *bucket.Folder) error {
	w.found.Folders = append(w.found.Folders, f.Address())
	none := true
	for name, err := range f.List(ctx, w.Recursive) {
		if err != nil {
			return err
		}
		if w.isClipName(name) && !hasHidden(name) && !w.isOutObject(f, name) {
			none = false
			w.addObject(f, name)
		}
	}
	if none {
		w.found.Empty = append(w.found.Empty, f.Address())
	}
	return nil
}

// addObject adds an object by its name below a folder. Such a name may be any text: one
// that is no path below a folder of this machine is a failure.
func (w *walk) addObject(f *bucket.Folder, name string) {
	address := f.Address() + name
	if !w.markSeen(address) {
		return
	}
	in := Input{Path: address, From: f}
	if folder := path.Dir(name); folder != "." {
		in.Folder = filepath.FromSlash(folder)
	}
	if !fs.ValidPath(name) || !filepath.IsLocal(filepath.FromSlash(name)) || strings.ContainsAny(name, "\\\x00") {
		err := &bgremove.Error{Kind: bgremove.Failed, Cause: BadObjectName, Path: address, Reason: "its name is not that of a file in a folder"}
		w.found.Unread = append(w.found.Unread, Item{Input: in, Err: err})
		return
	}
	w.found.Inputs = append(w.found.Inputs, in)
}

// isOutObject reports whether an object lies in the outputs' folder inside f.
func (w *walk) isOutObject(f *bucket.Folder, name string) bool {
	return w.OutFolder != nil && f.Contains(w.OutFolder) && strings.HasPrefix(f.Address()+name, w.OutFolder.Address())
}

// hasHidden reports whether an object is hidden, or a folder that it lies in.
func hasHidden(name string) bool {
	return slices.ContainsFunc(strings.Split(name, "/"), isHidden)
}

// name is an object's, below From.
func (in Input) name() string { return strings.TrimPrefix(in.Path, in.From.Address()) }

// outName is an output's, below Out.
func (r Runner) outName(item Item) string { return strings.TrimPrefix(item.Output, r.Out.Address()) }

// work makes an output. Programs read and write only files of this machine: an input in
// a bucket is copied into a folder of its own first, and an output goes into its bucket
// when it is complete. began is when the input was written.
func (r Runner) work(ctx context.Context, item Item, began time.Time, overwrite bool) (*bgremove.Result, error) {
	if item.From == nil && r.Out == nil {
		return r.Work(ctx, item, overwrite)
	}
	local, err := r.stage(ctx, item)
	if err != nil {
		return nil, err
	}
	defer os.RemoveAll(filepath.Dir(local.place))
	result, err := r.Work(ctx, local.Item, overwrite)
	if err != nil {
		return nil, local.explain(err)
	}
	if r.Out != nil {
		err = errors.Join(item.checkUnchanged(ctx, began), ctx.Err())
		if err == nil {
			err = r.upload(ctx, item, local, overwrite)
		}
	}
	local.rename(result)
	return result, err
}

// checkUnchanged reports an input that was written again since: its output would look
// newer than it is.
func (in Input) checkUnchanged(ctx context.Context, began time.Time) error {
	now, err := in.modified(ctx)
	if err == nil && !now.Equal(began) {
		err = &bgremove.Error{Kind: bgremove.Failed, Cause: InputChanged, Path: in.Path, Reason: "changed while it was worked on"}
	}
	return err
}

// staged is an item with files of this machine.
type staged struct {
	Item
	place string // the folder of the output
	names *strings.Replacer
}

// stage copies an input and makes a place for an output.
func (r Runner) stage(ctx context.Context, item Item) (_ *staged, err error) {
	dir, err := os.MkdirTemp(r.Scratch, "item-*")
	if err != nil {
		return nil, err
	}
	defer func() {
		if err != nil {
			err = errors.Join(err, os.RemoveAll(dir))
		}
	}()
	s := &staged{Item: item, place: filepath.Join(dir, "out")}
	from := filepath.Join(dir, "in")
	if err := errors.Join(os.Mkdir(from, 0o700), os.Mkdir(s.place, 0o700)); err != nil {
		return nil, err
	}
	var names []string
	if item.From != nil {
		s.Path = filepath.Join(from, path.Base(item.Path))
		names = append(names, s.Path, item.Path)
		if err := item.From.Download(ctx, item.name(), s.Path); err != nil {
			return nil, err
		}
	}
	if r.Out != nil {
		s.Output = filepath.Join(s.place, path.Base(item.Output))
		names = append(names, s.place+string(filepath.Separator), strings.TrimSuffix(item.Output, path.Base(item.Output)))
	}
	s.names = strings.NewReplacer(names...)
	return s, nil
}

// upload stores what was written, the output itself last: it shows that all is there.
func (r Runner) upload(ctx context.Context, item Item, s *staged, overwrite bool) error {
	files, err := os.ReadDir(s.place)
	if err != nil {
		return err
	}
	folder, output := path.Split(r.outName(item))
	for _, f := range files {
		if f.Name() == output {
			continue
		}
		if err := r.Out.Upload(ctx, folder+f.Name(), filepath.Join(s.place, f.Name()), true); err != nil {
			return err
		}
	}
	return r.Out.Upload(ctx, r.outName(item), s.Output, overwrite)
}

// rename names the objects in a result, in place of the copies.
func (s *staged) rename(result *bgremove.Result) {
	result.Input, result.Output = s.names.Replace(result.Input), s.names.Replace(result.Output)
	if result.Sheet == nil {
		return
	}
	for i := range result.Sheet.Pages {
		page := &result.Sheet.Pages[i]
		page.Image, page.Data = s.names.Replace(page.Image), s.names.Replace(page.Data)
	}
}

// explain names the objects in an error.
func (s *staged) explain(err error) error {
	var known *bgremove.Error
	if !errors.As(err, &known) {
		return err
	}
	renamed := *known
	renamed.Path, renamed.Reason = s.names.Replace(known.Path), s.names.Replace(known.Reason)
	return &renamed
}
