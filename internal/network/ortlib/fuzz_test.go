package ortlib

import (
	"archive/tar"
	"archive/zip"
	"bytes"
	"compress/gzip"
	"io"
	"os"
	"path/filepath"
	"testing"

	"github.com/google/go-cmp/cmp"
)

// Any bytes are either an archive or an error. The output is never larger than
// a library can be.
func FuzzExtract(f *testing.F) {
	var tgz, zipped bytes.Buffer
	z := gzip.NewWriter(&tgz)
	w := tar.NewWriter(z)
	_ = w.WriteHeader(&tar.Header{Name: "r/lib/libonnxruntime.so", Typeflag: tar.TypeReg, Size: 4, Mode: 0o644})
	_, _ = w.Write([]byte("\x7fELF"))
	_ = w.Close()
	_ = z.Close()
	p := zip.NewWriter(&zipped)
	e, _ := p.Create("r/lib/libonnxruntime.so")
	_, _ = e.Write([]byte("\x7fELF"))
	_ = p.Close()
	f.Add(tgz.Bytes())
	f.Add(zipped.Bytes())
	f.Add([]byte("PK\x03\x04"))
	f.Add([]byte{0x1f, 0x8b, 8, 0})
	wanted := build{}.wantedIn("linux")
	f.Fuzz(func(t *testing.T, data []byte) {
		n := &counter{}
		err := extractFrom(bytes.NewReader(data), int64(len(data)), wanted, n)
		if err == nil && n.bytes > maxLibrary {
			t.Errorf("%d bytes", n.bytes)
		}
	})
}

type counter struct{ bytes int64 }

func (c *counter) Write(b []byte) (int, error) { c.bytes += int64(len(b)); return len(b), nil }

var _ io.Writer = (*counter)(nil)

func TestWanted(t *testing.T) {
	t.Parallel()
	b := builds["linux/amd64"]
	for name, want := range map[string]bool{
		"onnxruntime-linux-x64-1.30.0/lib/libonnxruntime.so.1.30.0":                true,
		"./onnxruntime-linux-x64-1.30.0/lib/libonnxruntime.so.1.30.0":              true,
		"package/bin/napi-v6/linux/x64/libonnxruntime.so.1":                        true,
		"package/bin/napi-v6/linux/arm64/libonnxruntime.so.1":                      false,
		"onnxruntime-linux-x64-1.30.0/lib/libonnxruntime_providers_shared.so":      false,
		"onnxruntime-linux-x64-1.30.0/lib/libonnxruntime.so.1.30.0.dSYM/x/libonnx": false,
		"onnxruntime-linux-x64-1.30.0/share/libonnxruntime.so":                     false,
		"": false,
	} {
		if b.wantedIn("linux")(name) != want {
			t.Errorf("%q: want %v", name, want)
		}
	}
}

// Files that a linker's file includes are read too; a loop ends.
func TestLinkerFolders(t *testing.T) {
	t.Parallel()
	dir := t.TempDir()
	conf := filepath.Join(dir, "ld.so.conf")
	for name, text := range map[string]string{
		"ld.so.conf":    "# first\n/opt/a # here\ninclude conf.d/*.conf\nrelative\n",
		"conf.d/b.conf": "/opt/b\n",
		"conf.d/c.conf": "/opt/c\n",
	} {
		path := filepath.Join(dir, name)
		if err := os.MkdirAll(filepath.Dir(path), 0o700); err != nil {
			t.Fatal(err)
		}
		if err := os.WriteFile(path, []byte(text), 0o600); err != nil {
			t.Fatal(err)
		}
	}
	if diff := cmp.Diff([]string{"/opt/a", "/opt/b", "/opt/c"}, linkerFolders(conf, 0)); diff != "" {
		t.Errorf("folders (-want +got):\n%s", diff)
	}
	if err := os.WriteFile(conf, []byte("include ld.so.conf\n"), 0o600); err != nil {
		t.Fatal(err)
	}
	if got := linkerFolders(conf, 0); len(got) > 0 {
		t.Errorf("a loop gave %v", got)
	}
}
