package dashboard

import (
	"bytes"
	"compress/gzip"
	"crypto/sha256"
	"embed"
	"encoding/hex"
	"errors"
	"fmt"
	"io/fs"
	"net/http"
	"path"
	"strconv"
	"strings"
)

//go:embed assets
var assetFiles embed.FS

// assets are the files that pages load. The name of their common folder changes
// with any of them. Browsers may thus keep them for ever, and scripts find each
// other by plain names.
type assets struct {
	prefix string // /assets/HASH/
	files  map[string]asset
}

// asset is a file in two forms: unchanged, and compressed for browsers that
// accept gzip.
type asset struct{ content, packed []byte }

func newAsset(content []byte) (asset, error) {
	var b bytes.Buffer
	z, _ := gzip.NewWriterLevel(&b, gzip.BestCompression) // the level is valid
	_, err := z.Write(content)
	err = errors.Join(err, z.Close())
	return asset{content, b.Bytes()}, err
}

func newAssets() (assets, error) {
	a := assets{files: map[string]asset{}}
	sum := sha256.New()
	err := fs.WalkDir(assetFiles, "assets", func(name string, e fs.DirEntry, err error) error {
		if err != nil || e.IsDir() {
			return err
		}
		content, err := assetFiles.ReadFile(name)
		fmt.Fprintln(sum, name, len(content))
		sum.Write(content)
		if err != nil {
			return err
		}
		a.files[path.Base(name)], err = newAsset(content)
		return err
	})
	a.prefix = "/assets/" + hex.EncodeToString(sum.Sum(nil))[:16] + "/"
	return a, err
}

// path is the address of a file. The error means that a template names an
// unknown file.
func (a assets) path(name string) (string, error) {
	if _, ok := a.files[name]; !ok {
		return "", fmt.Errorf("no asset %q", name)
	}
	return a.prefix + name, nil
}

// assetTypes are their media types, which do not depend on the machine.
var assetTypes = map[string]string{
	".css": "text/css; charset=utf-8", ".js": "text/javascript; charset=utf-8", ".svg": "image/svg+xml",
}

func (a assets) ServeHTTP(w http.ResponseWriter, r *http.Request) {
	name := strings.TrimPrefix(r.URL.Path, a.prefix)
	file, ok := a.files[name]
	if !ok {
		http.NotFound(w, r)
		return
	}
	h := w.Header()
	h.Set("Content-Type", assetTypes[path.Ext(name)])
	h.Set("Cache-Control", "public, max-age=31536000, immutable")
	h.Set("Content-Security-Policy", "default-src 'none'; sandbox") // for an SVG that is opened directly
	h.Set("Vary", "Accept-Encoding")
	content := file.content
	if strings.Contains(r.Header.Get("Accept-Encoding"), "gzip") {
		content = file.packed
		h.Set("Content-Encoding", "gzip")
	}
	h.Set("Content-Length", strconv.Itoa(len(content)))
	if r.Method != http.MethodHead {
		_, _ = w.Write(content) // a browser that has left needs nothing
	}
}
