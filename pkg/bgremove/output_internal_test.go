package bgremove

import (
	"errors"
	"path/filepath"
	"testing"

	"github.com/bgremove/bgremove/internal/system/outfile"
)

// What we write ourselves ends at the limit that ffmpeg's files have.
func TestLimitedFile(t *testing.T) {
	t.Parallel()
	file, err := outfile.Create(filepath.Join(t.TempDir(), "a.gif"), false)
	if err != nil {
		t.Fatal(err)
	}
	defer file.Discard()
	f := &limitedFile{file: file, limit: 10}
	if n, err := f.Write(make([]byte, 10)); n != 10 || err != nil {
		t.Errorf("up to the limit: %d, %v", n, err)
	}
	var over *Error
	if n, err := f.Write(make([]byte, 1)); n != 0 || !errors.As(err, &over) || over.Kind != TooLarge {
		t.Errorf("beyond it: %d, %v", n, err)
	}
	if stat, err := file.Stat(); err != nil || stat.Size() != 10 {
		t.Errorf("%v, %v", stat, err)
	}
	f = &limitedFile{file: file}
	if _, err := f.Write(make([]byte, 1000)); err != nil {
		t.Errorf("without a limit: %v", err)
	}
}
