package batch

import (
	"context"
	"encoding/json"
	"errors"
	"io/fs"
	"os"
	"path"
	"path/filepath"
	"time"

	"github.com/bgremove/bgremove/internal/bucket"
	"github.com/bgremove/bgremove/internal/system/outfile"
	"github.com/bgremove/bgremove/pkg/bgremove"
)

// Manifest has a record of each input that has ended: a small file or object of its
// own, so that any number of runs can write. It is safe for concurrent use.
type Manifest struct {
	dir    string
	folder *bucket.Folder // nil if dir is used
}

// Stamp is the part of a record that tells which version of an input it is about.
type Stamp struct {
	InputModified time.Time `json:"inputModified,omitzero"` // zero where it could not be told
	EndedAt       time.Time `json:"endedAt"`
}

// record is what a later run reads. The zero value is that of an input without one.
type record struct {
	Stamp
	Status Status `json:"status"`
}

// OpenManifest opens a manifest in a folder, which is made if it is missing, or below
// an address. It checks that the place can be used.
func OpenManifest(ctx context.Context, place string) (*Manifest, error) {
	if !bucket.IsAddress(place) {
		err := os.MkdirAll(place, 0o777)
		if err == nil {
			err = checkWritable(place)
		}
		if err != nil {
			return nil, &bgremove.Error{Kind: bgremove.Failed, Cause: ManifestReadOnly, Path: place, Reason: "the manifest's folder cannot be written to: " + pathReason(err), Err: err}
		}
		return &Manifest{dir: place}, nil
	}
	f, err := bucket.Open(ctx, place)
	if err != nil {
		return nil, err
	}
	if err := f.Check(ctx); err != nil {
		return nil, errors.Join(err, f.Close())
	}
	return &Manifest{folder: f}, nil
}

// Close ends all use. A nil Manifest has none.
func (m *Manifest) Close() error {
	if m == nil {
		return nil
	}
	return m.folder.Close()
}

// name is that of an item's record. No two items have one output.
func (m *Manifest) name(item Item) string {
	return path.Join(filepath.ToSlash(item.Folder), filepath.Base(item.Output)+".json")
}

// last is the record of an item.
func (m *Manifest) last(ctx context.Context, item Item) (last record, err error) {
	place := filepath.Join(m.dir, filepath.FromSlash(m.name(item)))
	var text []byte
	if m.folder == nil {
		if text, err = os.ReadFile(place); errors.Is(err, fs.ErrNotExist) {
			return record{}, nil
		}
	} else {
		place = m.folder.Address() + m.name(item)
		text, err = m.folder.Read(ctx, m.name(item))
	}
	if err != nil || text == nil {
		return record{}, err
	}
	if err := json.Unmarshal(text, &last); err != nil {
		return record{}, &bgremove.Error{Kind: bgremove.Failed, Cause: BadRecord, Path: place, Reason: "is no record of a batch", Err: err}
	}
	return last, nil
}

// write stores the record of an item, in place of an earlier one.
func (m *Manifest) write(ctx context.Context, item Item, content any) error {
	text, err := json.Marshal(content)
	if err != nil {
		return err
	}
	text = append(text, '\n')
	if m.folder != nil {
		return m.folder.Write(ctx, m.name(item), text)
	}
	place := filepath.Join(m.dir, filepath.FromSlash(m.name(item)))
	if err := os.MkdirAll(filepath.Dir(place), 0o777); err != nil {
		return err
	}
	f, err := outfile.Create(place, true)
	if err != nil {
		return err
	}
	defer f.Discard()
	if _, err := f.Write(text); err != nil {
		return err
	}
	_, err = f.Commit()
	return err
}

// isRecorded reports whether the manifest says that an item needs no more work.
func (r Runner) isRecorded(ctx context.Context, item Item) (bool, error) {
	if r.Manifest == nil || r.Redo == RedoAll {
		return false, nil
	}
	last, err := r.Manifest.last(ctx, item)
	if err != nil || last.Status != Done && last.Status != Skipped {
		return false, err
	}
	if r.Redo == RedoNone {
		return true, nil
	}
	now, err := item.modified(ctx)
	return err == nil && now.Equal(last.InputModified), err
}

// record writes the record of an outcome, unless the manifest has it. Without its
// record the work is not done.
func (r Runner) record(ctx context.Context, o Outcome) Outcome {
	if r.Manifest == nil || o.recorded || o.Output == "" {
		return o
	}
	if err := r.Manifest.write(ctx, o.Item, r.Line(o)); err != nil {
		return failed(o.Item, errors.Join(o.Err, err))
	}
	return o
}
