package client_test

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"image"
	"image/color"
	"image/gif"
	"net"
	"net/url"
	"os"
	"path/filepath"
	"testing"
	"time"

	"github.com/bgremove/bgremove/internal/service/account"
	"github.com/bgremove/bgremove/internal/service/server"
	"github.com/bgremove/bgremove/internal/service/store"
	"github.com/bgremove/bgremove/pkg/client"
)

// TestMain runs a service for the examples. In a child process of TestMemory it
// is the measured client.
func TestMain(m *testing.M) {
	if os.Getenv("MEMORY_OF") != "" {
		transferLarge()
		return
	}
	os.Exit(runExamples(m))
}

func runExamples(m *testing.M) int {
	dir, err := os.MkdirTemp("", "client-*")
	if err != nil {
		panic(err)
	}
	defer os.RemoveAll(dir)
	s, err := open(dir, 150)
	if err != nil {
		panic(err)
	}
	defer s.close()
	content, err := clip(10, 10, 10, 10)
	if err == nil {
		err = errors.Join(os.WriteFile(filepath.Join(dir, "hop.gif"), content, 0o600), os.Setenv("BGREMOVE_SERVER", s.url),
			os.Setenv("BGREMOVE_API_KEY", s.key), os.Setenv("CLIPS", dir))
	}
	if err != nil {
		panic(err)
	}
	return m.Run()
}

// service is a real service with an account that has credits and a key.
type service struct {
	url, key string
	account  string
	db       *store.DB
	stop     func() error // tells it to stop and waits
}

// open runs a service on files in dir.
func open(dir string, credits int64) (s *service, err error) {
	objects := url.URL{Scheme: "file", Path: filepath.ToSlash(filepath.Join(dir, "objects"))}
	listening := make(chan net.Addr, 1)
	c := server.DefaultConfig()
	c.Addr, c.TempDir, c.Slots = "127.0.0.1:0", filepath.Join(dir, "tmp"), 2
	c.Database, c.Storage = "sqlite:"+filepath.Join(dir, "test.db"), objects.String()
	c.Engine.ModelsDir = filepath.Join(dir, "models")
	c.Rate = account.Rate{PerMinute: 60_000, Burst: 10_000}
	c.Listening = func(at net.Addr) { listening <- at }
	ctx, cancel := context.WithCancel(context.Background())
	ended := make(chan error, 1)
	go func() { ended <- server.Run(ctx, c) }()
	s = &service{stop: func() error { cancel(); return <-ended }}
	select {
	case at := <-listening:
		s.url = "http://" + at.String()
	case err := <-ended:
		cancel()
		return nil, err
	}
	if s.db, err = store.Open(ctx, c.Database); err != nil {
		return nil, errors.Join(err, s.stop())
	}
	if err := s.register(ctx, credits); err != nil {
		return nil, errors.Join(err, s.close())
	}
	return s, nil
}

func (s *service) register(ctx context.Context, credits int64) error {
	who, err := account.New(s.db).Register(ctx, "ada@example.com", "correct horse")
	if err != nil {
		return err
	}
	s.account = who.ID
	if _, err := account.NewLedger(s.db).Grant(ctx, who.ID, credits, "test"); err != nil {
		return err
	}
	_, s.key, err = account.NewKeys(s.db).Create(ctx, who.ID, "test")
	return err
}

func (s *service) close() error { return errors.Join(s.db.Close(), s.stop()) }

// start runs a service until the test ends.
func start(t *testing.T, credits int64) *service {
	t.Helper()
	s, err := open(t.TempDir(), credits)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() {
		if err := s.close(); err != nil {
			t.Error(err)
		}
	})
	return s
}

// balance is the account's credits, which must match the ledger.
func (s *service) balance(t *testing.T) int64 {
	t.Helper()
	if wrong, err := account.NewLedger(s.db).Verify(t.Context()); len(wrong) > 0 || err != nil {
		t.Errorf("the ledger does not add up: %+v %v", wrong, err)
	}
	who, err := account.New(s.db).Get(t.Context(), s.account)
	if err != nil {
		t.Fatal(err)
	}
	return who.Credits
}

// quick makes a client that does not wait long.
func quick(t *testing.T, url, key string, change ...func(*client.Options)) *client.Client {
	t.Helper()
	o := client.Options{MinWait: time.Millisecond, Poll: 2 * time.Millisecond}
	for _, f := range change {
		f(&o)
	}
	c, err := client.New(url, key, o)
	if err != nil {
		t.Fatal(err)
	}
	return c
}

// clip is a GIF of a red square that moves over white, with a frame for each
// delay in centiseconds.
func clip(delays ...int) ([]byte, error) {
	palette := color.Palette{color.White, color.RGBA{200, 30, 30, 255}}
	g := gif.GIF{Delay: delays}
	for i := range delays {
		p := image.NewPaletted(image.Rect(0, 0, 48, 40), palette)
		for y := 10; y < 30; y++ {
			for x := 8 + i; x < 24+i; x++ {
				p.SetColorIndex(x, y, 1)
			}
		}
		g.Image = append(g.Image, p)
	}
	var b bytes.Buffer
	err := gif.EncodeAll(&b, &g)
	return b.Bytes(), err
}

// numbered makes a clip that differs from those of other numbers.
func numbered(t *testing.T, n int) client.File {
	t.Helper()
	content, err := clip(2, 2+n%200, 2+n/200)
	if err != nil {
		t.Fatal(err)
	}
	return client.File{Name: fmt.Sprintf("clip-%d.gif", n), Content: bytes.NewReader(content)}
}
