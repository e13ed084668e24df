package archives_test

import (
	"archive/tar"
	"archive/zip"
	"compress/gzip"
	"debug/buildinfo"
	"debug/elf"
	"debug/macho"
	"debug/pe"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	goversion "go/version"
)

// unpack writes the files of a .zip or .tar.gz into dir.
func unpack(path, dir string) error {
	if filepath.Ext(path) == ".zip" {
		z, err := zip.OpenReader(path)
		if err != nil {
			return err
		}
		defer z.Close()
		return os.CopyFS(dir, z)
	}
	f, err := os.Open(path)
	if err != nil {
		return err
	}
	defer f.Close()
	unzipped, err := gzip.NewReader(f)
	if err != nil {
		return err
	}
	for entries := tar.NewReader(unzipped); ; {
		h, err := entries.Next()
		if err == io.EOF {
			return nil
		}
		if err != nil {
			return err
		}
		if !filepath.IsLocal(h.Name) || h.Typeflag != tar.TypeReg {
			return fmt.Errorf("%s is no plain file", h.Name)
		}
		if err := writeFile(filepath.Join(dir, h.Name), h.FileInfo().Mode(), entries); err != nil {
			return err
		}
	}
}

func writeFile(path string, mode fs.FileMode, r io.Reader) error {
	if err := os.MkdirAll(filepath.Dir(path), 0o755); err != nil {
		return err
	}
	f, err := os.OpenFile(path, os.O_WRONLY|os.O_CREATE|os.O_EXCL, mode)
	if err != nil {
		return err
	}
	_, err = io.Copy(f, r)
	return errors.Join(err, f.Close())
}

// contents are the names in a folder, without those below docs.
func contents(t *testing.T, dir string) map[string]bool {
	t.Helper()
	names := map[string]bool{}
	err := fs.WalkDir(os.DirFS(dir), ".", func(path string, _ fs.DirEntry, err error) error {
		if path != "." && !strings.HasPrefix(path, "docs/") {
			names[path] = true
		}
		return err
	})
	if err != nil {
		t.Fatal(err)
	}
	return names
}

func set(names []string) map[string]bool {
	s := map[string]bool{}
	for _, n := range names {
		s[n] = true
	}
	return s
}

func setting(info *buildinfo.BuildInfo, key string) string {
	for _, s := range info.Settings {
		if s.Key == key {
			return s.Value
		}
	}
	return ""
}

// machine is the system of a program or shared library, as GOOS/GOARCH.
func machine(path string) (string, error) {
	if f, err := elf.Open(path); err == nil {
		defer f.Close()
		return "linux/" + map[elf.Machine]string{elf.EM_X86_64: "amd64", elf.EM_AARCH64: "arm64"}[f.Machine], nil
	}
	if f, err := macho.Open(path); err == nil {
		defer f.Close()
		return "darwin/" + map[macho.Cpu]string{macho.CpuAmd64: "amd64", macho.CpuArm64: "arm64"}[f.Cpu], nil
	}
	f, err := pe.Open(path)
	if err != nil {
		return "", fmt.Errorf("%s is neither ELF, Mach-O nor PE: %w", path, err)
	}
	defer f.Close()
	return "windows/" + map[uint16]string{pe.IMAGE_FILE_MACHINE_AMD64: "amd64", pe.IMAGE_FILE_MACHINE_ARM64: "arm64"}[f.Machine], nil
}

// newerThan lists the versions of the C library that a file requires above
// version.
func newerThan(path, version string) ([]string, error) {
	f, err := elf.Open(path)
	if err != nil {
		return nil, err
	}
	defer f.Close()
	symbols, err := f.ImportedSymbols()
	if err != nil {
		return nil, err
	}
	var newer []string
	number := func(v string) string { return "go" + strings.TrimPrefix(v, "GLIBC_") }
	for _, s := range symbols {
		if strings.HasPrefix(s.Version, "GLIBC_") && goversion.Compare(number(s.Version), number(version)) > 0 {
			newer = append(newer, s.Version)
		}
	}
	slices.Sort(newer)
	return slices.Compact(newer), nil
}
