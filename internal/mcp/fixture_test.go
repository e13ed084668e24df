package mcp_test

import (
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"image"
	"image/color"
	"image/gif"
	"net"
	"net/url"
	"os"
	"path/filepath"
	"testing"
	"time"

	sdk "github.com/modelcontextprotocol/go-sdk/mcp"

	"github.com/bgremove/bgremove/internal/cli/clientcmd"
	"github.com/bgremove/bgremove/internal/mcp"
	"github.com/bgremove/bgremove/internal/service/account"
	"github.com/bgremove/bgremove/internal/service/server"
	"github.com/bgremove/bgremove/internal/service/store"
	"github.com/bgremove/bgremove/pkg/bgremove"
	"github.com/bgremove/bgremove/pkg/client"
)

func TestMain(m *testing.M) {
	bgremove.InitSandbox()
	os.Exit(m.Run())
}

// assistant is a client of the SDK that is connected to the tools.
type assistant struct {
	*sdk.ClientSession
	progress chan sdk.ProgressNotificationParams
}

// connect connects a client to tools that may use some folders, and perhaps a service.
func connect(t *testing.T, service *client.Client, roots ...string) *assistant {
	t.Helper()
	r := bgremove.New(bgremove.Config{})
	s, err := mcp.New(mcp.Config{
		Version: "1.2.3", Roots: roots, Remover: r, Service: service, JobOptions: clientcmd.JobOptions,
		Hint: func(error) string { return "install it" },
	})
	if err != nil {
		t.Fatal(err)
	}
	a := &assistant{progress: make(chan sdk.ProgressNotificationParams, 1000)}
	c := sdk.NewClient(&sdk.Implementation{Name: "test", Version: "1"}, &sdk.ClientOptions{
		ProgressNotificationHandler: func(_ context.Context, r *sdk.ProgressNotificationClientRequest) { a.progress <- *r.Params },
	})
	ours, theirs := sdk.NewInMemoryTransports()
	if _, err := s.Connect(t.Context(), theirs, nil); err != nil {
		t.Fatal(err)
	}
	if a.ClientSession, err = c.Connect(t.Context(), ours, nil); err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { _ = errors.Join(a.Close(), r.Close()) })
	return a
}

// arguments are those of a call.
type arguments map[string]any

// call uses a tool. Its result is decoded, or its error is the text.
func (a *assistant) call(t *testing.T, tool string, args arguments, result any) (refusal string) {
	t.Helper()
	made, err := a.CallTool(t.Context(), &sdk.CallToolParams{Name: tool, Arguments: args})
	if err != nil {
		t.Fatalf("%s: %v", tool, err)
	}
	if made.IsError {
		return made.Content[0].(*sdk.TextContent).Text
	}
	decode(t, made, result)
	return ""
}

// must is a call that succeeds.
func (a *assistant) must(t *testing.T, tool string, args arguments, result any) {
	t.Helper()
	if refusal := a.call(t, tool, args, result); refusal != "" {
		t.Fatalf("%s: %s", tool, refusal)
	}
}

func decode(t *testing.T, made *sdk.CallToolResult, result any) {
	t.Helper()
	text, err := json.Marshal(made.StructuredContent)
	if err == nil {
		err = json.Unmarshal(text, result)
	}
	if err != nil {
		t.Fatal(err)
	}
}

// drawGIF writes a GIF of a red square that moves over white, with a frame for each delay in
// centiseconds.
func drawGIF(t *testing.T, path string, delays ...int) {
	t.Helper()
	g := gif.GIF{Delay: delays}
	for i := range delays {
		p := image.NewPaletted(image.Rect(0, 0, 48, 40), color.Palette{color.White, color.RGBA{200, 30, 30, 255}})
		for y := 10; y < 30; y++ {
			for x := 8 + i; x < 24+i; x++ {
				p.SetColorIndex(x, y, 1)
			}
		}
		g.Image = append(g.Image, p)
	}
	var b bytes.Buffer
	if err := gif.EncodeAll(&b, &g); err != nil {
		t.Fatal(err)
	}
	if err := os.WriteFile(path, b.Bytes(), 0o600); err != nil {
		t.Fatal(err)
	}
}

// real is the folder of a test, without links.
func realFolder(t *testing.T) string {
	t.Helper()
	dir, err := filepath.EvalSymlinks(t.TempDir())
	if err != nil {
		t.Fatal(err)
	}
	return dir
}

// startService runs a service until the test ends, and returns a client whose account
// has some credits.
func startService(t *testing.T, credits int64) *client.Client {
	t.Helper()
	dir := t.TempDir()
	storage := url.URL{Scheme: "file", Path: filepath.ToSlash(filepath.Join(dir, "objects"))}
	listening := make(chan net.Addr, 1)
	c := server.DefaultConfig()
	c.Addr, c.TempDir = "127.0.0.1:0", filepath.Join(dir, "tmp")
	c.Database, c.Storage = "sqlite:"+filepath.Join(dir, "test.db"), storage.String()
	c.Listening = func(at net.Addr) { listening <- at }
	ctx, cancel := context.WithCancel(context.Background())
	ended := make(chan error, 1)
	go func() { ended <- server.Run(ctx, c) }()
	t.Cleanup(func() {
		cancel()
		if err := <-ended; err != nil {
			t.Error(err)
		}
	})
	var at net.Addr
	select {
	case at = <-listening:
	case err := <-ended:
		ended <- err
		t.Fatal(err)
	}
	db, err := store.Open(ctx, c.Database)
	if err != nil {
		t.Fatal(err)
	}
	defer db.Close()
	who, err := account.New(db).Register(ctx, "ada@example.com", "correct horse")
	if err != nil {
		t.Fatal(err)
	}
	if _, err := account.NewLedger(db).Grant(ctx, who.ID, credits, "test"); err != nil {
		t.Fatal(err)
	}
	_, key, err := account.NewKeys(db).Create(ctx, who.ID, "test")
	if err != nil {
		t.Fatal(err)
	}
	s, err := client.New("http://"+at.String(), key, client.Options{Poll: 2 * time.Millisecond})
	if err != nil {
		t.Fatal(err)
	}
	return s
}
