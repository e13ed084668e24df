package ortlib_test

import (
	"errors"
	"net/http"
	"os"
	"path/filepath"
	"testing"

	"github.com/bgremove/bgremove/internal/network/ortlib"
)

func TestFind(t *testing.T) {
	t.Parallel()
	versioned, plain := names()
	dir := t.TempDir()
	at := func(parts ...string) string { return filepath.Join(append([]string{dir}, parts...)...) }
	for _, folder := range []string{"named", "beside", "cache", "system"} {
		write(t, at(folder, plain), library())
	}
	write(t, at("both", plain), library())
	write(t, at("both", versioned), library())
	write(t, at("script", plain), []byte("/* GNU ld script */"))
	tests := map[string]struct {
		places ortlib.Places
		want   ortlib.Library
	}{
		"named file":   {ortlib.Places{Explicit: at("named", plain), Beside: []string{at("beside")}}, ortlib.Library{Path: at("named", plain), Source: "named"}},
		"named folder": {ortlib.Places{Explicit: at("named")}, ortlib.Library{Path: at("named", plain), Source: "named"}},
		"beside first": {ortlib.Places{Beside: []string{at("absent"), at("beside")}, Cache: at("cache"), System: []string{at("system")}},
			ortlib.Library{Path: at("beside", plain), Source: "beside the executable"}},
		"then cache":      {ortlib.Places{Beside: []string{at("absent")}, Cache: at("cache"), System: []string{at("system")}}, ortlib.Library{Path: at("cache", plain), Source: "cache"}},
		"then system":     {ortlib.Places{Cache: at("absent"), System: []string{at("system")}}, ortlib.Library{Path: at("system", plain), Source: "system"}},
		"exact version":   {ortlib.Places{Cache: at("both")}, ortlib.Library{Path: at("both", versioned), Source: "cache"}},
		"no text file":    {ortlib.Places{Cache: at("script"), System: []string{at("system")}}, ortlib.Library{Path: at("system", plain), Source: "system"}},
		"no empty folder": {ortlib.Places{Beside: []string{""}, Cache: at("cache")}, ortlib.Library{Path: at("cache", plain), Source: "cache"}},
	}
	for name, test := range tests {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			if got, err := test.places.Find(); err != nil || got != test.want {
				t.Errorf("%+v, %v; want %+v", got, err, test.want)
			}
		})
	}
	for name, p := range map[string]ortlib.Places{
		"nowhere":      {Cache: at("absent")},
		"named wrong":  {Explicit: at("absent"), Cache: at("cache")}, // never another than the named one
		"named folder": {Explicit: dir, Cache: at("cache")},
	} {
		if lib, err := p.Find(); !is[*ortlib.NotFoundError](err) {
			t.Errorf("%s: %+v, %v", name, lib, err)
		}
	}
	if _, err := (ortlib.Places{Explicit: at("script", plain)}).Find(); !errors.Is(err, ortlib.ErrNotLibrary) {
		t.Errorf("%v, want ErrNotLibrary", err)
	}
}

// Find makes a relative path absolute, because the linker takes only an
// absolute one for a path.
func TestFindRelative(t *testing.T) {
	_, plain := names()
	dir := t.TempDir()
	write(t, filepath.Join(dir, plain), library())
	t.Chdir(dir)
	wd, err := os.Getwd()
	if err != nil {
		t.Fatal(err)
	}
	for _, explicit := range []string{".", plain, "./" + plain} {
		lib, err := ortlib.Places{Explicit: explicit}.Find()
		if err != nil || lib.Path != filepath.Join(wd, plain) {
			t.Errorf("%s: %+v, %v", explicit, lib, err)
		}
	}
}

func (refuse) RoundTrip(*http.Request) (*http.Response, error) { return nil, errors.New("no route") }
