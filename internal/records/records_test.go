package records_test

import (
	"bytes"
	"math/rand/v2"
	"os"
	"testing"

	"github.com/bgremove/bgremove/internal/records"
)

// Records come back in any order, and the file leaves nothing behind.
func TestFile(t *testing.T) {
	t.Parallel()
	dir := t.TempDir()
	f, err := records.Create(dir)
	if err != nil {
		t.Fatal(err)
	}
	r := rand.New(rand.NewPCG(1, 1))
	var records [][2][]byte
	for i := range 50 {
		a, b := make([]byte, i*100), bytes.Repeat([]byte{byte(i)}, 70_000)
		for j := range a {
			a[j] = byte(r.Uint32())
		}
		if err := f.Append(a, b); err != nil {
			t.Fatal(err)
		}
		records = append(records, [2][]byte{a, b})
	}
	if f.Len() != len(records) {
		t.Errorf("%d records, want %d", f.Len(), len(records))
	}
	for _, i := range r.Perm(len(records)) {
		a, b := make([]byte, i*100), make([]byte, 70_000)
		if err := f.Read(i, a, b); err != nil {
			t.Fatal(err)
		}
		if !bytes.Equal(a, records[i][0]) || !bytes.Equal(b, records[i][1]) {
			t.Errorf("record %d differs", i)
		}
	}
	if err := f.Read(3, make([]byte, 5)); err == nil {
		t.Error("a part of another length is read")
	}
	for range 2 {
		if err := f.Close(); err != nil {
			t.Error(err)
		}
	}
	if left, err := os.ReadDir(dir); err != nil || len(left) > 0 {
		t.Errorf("left behind: %v, %v", left, err)
	}
}

func TestNowhere(t *testing.T) {
	t.Parallel()
	if _, err := records.Create(t.TempDir() + "/missing"); err == nil {
		t.Error("a file in a folder that does not exist")
	}
}
