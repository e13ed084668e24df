package ortlib

import (
	"bufio"
	"os"
	"path/filepath"
	"runtime"
	"strings"
)

// systemFolders are the folders of the linker. On Windows there are none: the
// system's own folder holds an ONNX Runtime that is too old.
func systemFolders() []string {
	switch runtime.GOOS {
	case "windows":
		return nil
	case "darwin":
		return append(filepath.SplitList(os.Getenv("DYLD_LIBRARY_PATH")), "/opt/homebrew/lib", "/usr/local/lib")
	}
	folders := filepath.SplitList(os.Getenv("LD_LIBRARY_PATH"))
	folders = append(folders, linkerFolders("/etc/ld.so.conf", 0)...)
	return append(folders, "/usr/local/lib", "/usr/local/lib64", "/usr/lib", "/usr/lib64", "/opt/onnxruntime/lib")
}

// linkerFolders reads the folders in ld.so.conf and the files it includes.
func linkerFolders(path string, depth int) []string {
	f, err := os.Open(path)
	if err != nil || depth > 4 {
		return nil
	}
	defer f.Close()
	var folders []string
	for lines := bufio.NewScanner(f); lines.Scan(); {
		line, _, _ := strings.Cut(lines.Text(), "#")
		line = strings.TrimSpace(line)
		pattern, isInclude := strings.CutPrefix(line, "include ")
		switch {
		case isInclude:
			if pattern = strings.TrimSpace(pattern); !filepath.IsAbs(pattern) {
				pattern = filepath.Join(filepath.Dir(path), pattern)
			}
			files, _ := filepath.Glob(pattern)
			for _, file := range files {
				folders = append(folders, linkerFolders(file, depth+1)...)
			}
		case filepath.IsAbs(line):
			folders = append(folders, line)
		}
	}
	return folders
}
