package bgremove

import (
	"errors"
	"io/fs"
	"os"
	"path/filepath"
	"slices"

	"github.com/bgremove/bgremove/internal/media/sequence"
	"github.com/bgremove/bgremove/internal/system/outfile"
	"github.com/bgremove/bgremove/pkg/option"
)

// target is where the frames of one output go: a file, or one file for each.
type target struct {
	path      string
	format    Format
	overwrite bool
	limit     int64             // bytes of all files; no limit if that is 0
	pattern   *sequence.Pattern // nil where it is one file
	file      *outfile.File     // nil with a pattern
	pictures  []*outfile.File   // complete, without their names
	written   int64             // bytes of pictures
	size      int64             // bytes, once it is committed
}

// named is a file and the name that it gets; its size is added to size then.
type named struct {
	file *outfile.File
	path string
	size *int64
}

// newTarget makes the file of an output. Of numbered pictures it checks that they can
// be made.
func newTarget(path string, f Format, x Extras, limit int64) (*target, error) {
	t := &target{path: path, format: f, overwrite: x.Overwrite, limit: limit}
	if !x.numbers(path) {
		var err error
		t.file, err = create(path, x.Overwrite)
		return t, err
	}
	p, ok := sequence.ParsePattern(path)
	if !ok {
		return nil, &Error{Kind: Invalid, Cause: BadPattern, Path: path, Reason: "one %d or %04d must stand for the pictures' numbers"}
	}
	t.pattern = &p
	there, err := p.Existing()
	switch {
	case errors.Is(err, fs.ErrNotExist):
		return nil, &Error{Kind: Failed, Cause: OutputFolderMissing, Path: path, Reason: "the output's folder does not exist", Err: err}
	case err != nil:
		return nil, &Error{Kind: Failed, Cause: OutputNotCreated, Path: path, Reason: "the output cannot be created: " + errors.Unwrap(err).Error(), Err: err}
	case len(there) > 0 && !x.Overwrite:
		return nil, existsError(there[0], fs.ErrExist)
	}
	return t, nil
}

// put writes the file of the next picture.
func (t *target) put(data []byte) error {
	if t.file != nil && t.written > 0 {
		return errors.New("a second picture for one file")
	}
	t.written += int64(len(data))
	if err := checkSize(t.written, t.limit); err != nil {
		return err
	}
	if t.file != nil {
		_, err := t.file.Write(data)
		return err
	}
	file, err := create(t.pattern.Name(len(t.pictures)+1), t.overwrite)
	if err != nil {
		return err
	}
	if _, err = file.Write(data); err == nil {
		err = file.Complete()
	}
	if err != nil {
		file.Discard()
		return err
	}
	t.pictures = append(t.pictures, file)
	return nil
}

// files are what gets a name.
func (t *target) files() (all []named) {
	if t == nil {
		return nil
	}
	if t.file != nil {
		return []named{{t.file, t.path, &t.size}}
	}
	for i, file := range t.pictures {
		all = append(all, named{file, t.pattern.Name(i + 1), &t.size})
	}
	return all
}

// discard removes what has no name yet. There may be no target.
func (t *target) discard() {
	for _, n := range t.files() {
		n.file.Discard()
	}
}

// takes reports whether an output may get the name of a file.
func (x Extras) takes(output, path string) bool {
	p, ok := sequence.ParsePattern(output)
	if !x.Numbered || !ok {
		return sameFile(path, output)
	}
	return isOneOf(p, output, path)
}

// shareNames reports whether two outputs are numbered pictures that may get the same name.
func (x Extras) shareNames(a, b string) bool {
	one, ok := sequence.ParsePattern(a)
	other, ok2 := sequence.ParsePattern(b)
	return x.Numbered && ok && ok2 && one.Meets(other) && sameFile(filepath.Dir(a), filepath.Dir(b))
}

// isOneOf reports whether a path is that of one of a pattern's pictures, which need not exist.
func isOneOf(p sequence.Pattern, pattern, path string) bool {
	return p.Matches(filepath.Base(path)) && sameFile(filepath.Dir(path), filepath.Dir(pattern))
}

// read is a file that a removal reads, and the reason not to write there.
type read struct{ path, reason string }

// reads are the files that a removal reads.
func (j *removal) reads(in *input, inputPath string) (all []read) {
	for _, path := range append(slices.Clone(in.pictures), inputPath) {
		all = append(all, read{path, "would be the input itself"})
	}
	if b, ok := option.ParseBackground(j.options.Background); ok && b.File != "" {
		all = append(all, read{b.File, "would be the file that stands behind the subject"})
	}
	for _, h := range j.options.Hints {
		if h.Mask != "" {
			all = append(all, read{h.Mask, "would be the mask of a hint"})
		}
	}
	return all
}

// replaces is the reason why an output cannot have its name: it may be that of a file
// that is read. It is empty where there is none.
func (j *removal) replaces(output string, reads []read) string {
	for _, r := range reads {
		if j.extras.takes(output, r.path) {
			return r.reason
		}
	}
	return ""
}

// checkExtras refuses options that do not go with the extras.
func checkExtras(o Options, x Extras) error {
	if err := checkMatte(o, x); err != nil {
		return err
	}
	wrong := &Error{Kind: Invalid, Reason: "does not apply to a sprite sheet"}
	if x.Numbered {
		wrong.Reason = "does not apply to numbered pictures"
	}
	_, preset := o.Preset.Limits()
	switch {
	case (x.Numbered || x.Sheet != "") && preset:
		wrong.Field = "preset"
	case x.Numbered && o.MaxSize > 0:
		wrong.Field = "maxSize"
	case x.Numbered && x.Sheet != "":
		return &Error{Kind: Invalid, Path: x.Sheet, Reason: "a sprite sheet is not written beside numbered pictures"}
	case x.Sheet != "" && o.MaxSize > 0:
		wrong.Field = "maxSize"
	case x.Sheet != "" && o.Frame != nil:
		wrong.Field = "frame"
	default:
		return nil
	}
	return wrong
}

// numbers reports whether an output is numbered pictures.
func (x Extras) numbers(path string) bool { return x.Numbered && sequence.HasNumber(path) }

// HasNumber reports whether a file's name has a place for a number, such as %04d, for
// Extras.Numbered.
func HasNumber(path string) bool {
	_, err := os.Stat(path)
	return err != nil && sequence.HasNumber(path)
}
