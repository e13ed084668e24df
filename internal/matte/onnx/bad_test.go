package onnx_test

import (
	"bytes"
	"errors"
	"image"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/bgremove/bgremove/internal/matte/onnx"
	"github.com/bgremove/bgremove/internal/network/model"
)

func TestNaNNamesTheNetwork(t *testing.T) {
	t.Parallel()
	for _, s := range []model.Output{{}, {Sigmoid: true}, {Stretch: true}} {
		n := open(t, "nan", spec(model.Spec{Input: model.Input{Multiple: 1}, Output: s}))
		_, err := n.Matte(t.Context(), block(40, 40, image.Rectangle{}))
		var me *onnx.ModelError
		if !errors.As(err, &me) || me.Path != nets+"nan.onnx" || !strings.Contains(err.Error(), "NaN") {
			t.Errorf("%+v: error %v", s, err)
		}
	}
}

func TestBadNetworks(t *testing.T) {
	t.Parallel()
	lib := library(t)
	good, err := os.ReadFile(nets + "unet.onnx")
	if err != nil {
		t.Fatal(err)
	}
	dir := t.TempDir()
	write := func(name string, data []byte) string {
		path := filepath.Join(dir, name)
		if err := os.WriteFile(path, data, 0o600); err != nil {
			t.Fatal(err)
		}
		return path
	}
	spoilt := bytes.Clone(good)
	copy(spoilt[200:], strings.Repeat("\xff", 400))
	for _, tt := range []struct {
		name, path string
		spec       model.Spec
		want       string
	}{
		{"missing", filepath.Join(dir, "none.onnx"), model.Spec{}, "cannot be read"},
		{"folder", dir, model.Spec{}, "not a regular file"},
		{"empty", write("empty.onnx", nil), model.Spec{}, "not an ONNX network"},
		{"text", write("text.onnx", []byte("version https://example.org/lfs")), model.Spec{}, ""},
		{"truncated", write("short.onnx", good[:len(good)*2/3]), model.Spec{}, "truncated"},
		{"one byte short", write("shorter.onnx", good[:len(good)-1]), model.Spec{}, "truncated"},
		{"corrupt", write("spoilt.onnx", spoilt), model.Spec{}, ""},
		{"another width", nets + "distance.onnx", model.Spec{Input: model.Input{Width: 320, Height: 320}}, "width: the network has 64"},
		{"no such output", nets + "distance.onnx", model.Spec{Output: model.Output{Name: "fog"}}, `no output "fog"`},
		{"no such channel", nets + "distance.onnx", model.Spec{Output: model.Output{Channel: 1}}, "no channel 1"},
		{"wrong layout", nets + "distance.onnx", model.Spec{Input: model.Input{Layout: "nhwc"}}, "channels, want 3"},
		{"not recurrent", nets + "distance.onnx", model.Spec{Kind: model.Recurrent}, "1 inputs"},
		{"not per frame", nets + "averager.onnx", model.Spec{Kind: model.PerFrame}, "6 inputs"},
		{"too colourful", nets + "distance.onnx", model.Spec{Colours: 2}, "colours must be between 0 and 1"},
		{"closer to a recurrent one", nets + "averager.onnx", model.Spec{Kind: model.Recurrent, Closer: true}, "closer is for networks of single frames"},
		{"octets as logits", nets + "octets.onnx", model.Spec{Output: model.Output{Sigmoid: true}}, "neither logits nor stretched"},
		{"senseless", nets + "logits.onnx", model.Spec{Input: model.Input{ShortSide: -1}}, "input.shortSide must be"},
	} {
		t.Run(tt.name, func(t *testing.T) {
			t.Parallel()
			_, err := onnx.Open(onnx.Config{Library: lib, Model: tt.path, Spec: tt.spec, Device: onnx.CPU})
			var me *onnx.ModelError
			if !errors.As(err, &me) || me.Path != tt.path || !strings.Contains(me.Error(), tt.want) {
				t.Errorf("error %v, want %q", err, tt.want)
			}
		})
	}
}

func TestBadRuntime(t *testing.T) {
	t.Parallel()
	lib := library(t)
	open(t, "distance") // loads it
	_, err := onnx.Open(onnx.Config{Library: "/nowhere/libonnxruntime.so", Model: nets + "distance.onnx"})
	if !errors.Is(err, onnx.ErrOtherRuntime) {
		t.Errorf("another library: error %v", err)
	}
	if _, err = onnx.Open(onnx.Config{Model: nets + "distance.onnx"}); !errors.Is(err, onnx.ErrNoRuntime) {
		t.Errorf("no library: error %v", err)
	}
	_, err = onnx.Open(onnx.Config{Library: lib, Model: nets + "distance.onnx", Device: "abacus"})
	if err == nil || !strings.Contains(err.Error(), "abacus") {
		t.Errorf("unknown device: error %v", err)
	}
}

func TestRequireGPU(t *testing.T) {
	t.Parallel()
	lib := library(t)
	for _, d := range []onnx.Device{onnx.CPU, onnx.DirectML, onnx.CoreML} {
		c := onnx.Config{Library: lib, Model: nets + "distance.onnx", Device: d}
		n, err := onnx.Open(c)
		if err != nil {
			t.Fatalf("%s: %v", d, err)
		}
		t.Cleanup(func() { _ = n.Close() })
		if n.Provider() != "cpu" {
			t.Skipf("this machine has %s", d)
		}
		c.RequireGPU = true
		if _, err := onnx.Open(c); !errors.Is(err, onnx.ErrNoGPU) {
			t.Errorf("%s: error %v", d, err)
		}
	}
}
