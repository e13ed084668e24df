package cli_test

import (
	"crypto/sha256"
	"encoding/hex"
	"fmt"
	"net/http"
	"net/http/httptest"
	"os"
	"strings"

	"github.com/rogpeppe/go-internal/testscript"

	"github.com/bgremove/bgremove/internal/cli"
	"github.com/bgremove/bgremove/internal/network/model"
)

// network is the outermost layer of an ONNX file: ir_version 8 and a graph with
// the text.
func network(text string) []byte {
	return append([]byte{0x08, 8, 7<<3 | 2, byte(len(text) + 2), 2<<3 | 2, byte(len(text))}, text...)
}

// testCatalogue is a catalogue of two models that makeNetwork can make. It is
// used if CATALOGUE is set to a server's address.
func testCatalogue() {
	url := os.Getenv("CATALOGUE")
	if url == "" {
		return
	}
	var models []model.Model
	for _, name := range []string{"free", "paid"} {
		data := network(name)
		sum := sha256.Sum256(data)
		models = append(models, model.Model{Name: name, File: name + ".onnx", URL: url + "/" + name + ".onnx", Bytes: int64(len(data)),
			SHA256: hex.EncodeToString(sum[:]), Licence: "MIT", Commercial: name == "free", Description: "a test"})
	}
	cli.SetCatalogue(models)
}

// makeNetwork FILE TEXT writes a file in the form of a network.
func makeNetwork() { fail(os.WriteFile(os.Args[1], network(os.Args[2]), 0o666)) }

// makeLibrary FILE writes a file that begins like a shared library of this
// system.
func makeLibrary() {
	self, err := os.Executable()
	fail(err)
	f, err := os.Open(self)
	fail(err)
	head := make([]byte, 4096)
	_, err = f.Read(head)
	fail(err)
	fail(os.WriteFile(os.Args[1], head, 0o666))
}

// serve VARIABLE FOLDER serves a folder on loopback and puts its address into a
// variable. /cut serves half of each file, and /page serves a web page.
func serveFolder(ts *testscript.TestScript, _ bool, args []string) {
	folder := os.DirFS(ts.MkAbs(args[1]))
	mux := http.NewServeMux()
	mux.Handle("/", http.FileServerFS(folder))
	mux.HandleFunc("/cut/{name}", func(w http.ResponseWriter, r *http.Request) {
		data, err := os.ReadFile(ts.MkAbs(args[1]) + "/" + r.PathValue("name"))
		if err != nil {
			http.NotFound(w, r)
			return
		}
		w.Header().Set("Content-Length", fmt.Sprint(len(data)))
		_, _ = w.Write(data[:len(data)/2])
	})
	mux.HandleFunc("/page/", func(w http.ResponseWriter, _ *http.Request) {
		w.Header().Set("Content-Type", "text/html")
		fmt.Fprint(w, "<html>sign in</html>")
	})
	server := httptest.NewServer(mux)
	ts.Defer(server.Close)
	ts.Setenv(args[0], server.URL)
}

// sha256 VARIABLE FILE puts a file's digest into a variable.
func fileDigest(ts *testscript.TestScript, _ bool, args []string) {
	sum := sha256.Sum256([]byte(ts.ReadFile(args[1])))
	ts.Setenv(args[0], strings.ToLower(hex.EncodeToString(sum[:])))
}
