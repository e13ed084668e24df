package gif

import (
	"bytes"
	"compress/lzw"
	"io"
	"math/rand/v2"
	"testing"

	"github.com/bgremove/bgremove/internal/quant"
)

// unpackLZW decodes encode's output with the standard library.
func unpackLZW(t *testing.T, data []byte) []uint8 {
	t.Helper()
	width, data := int(data[0]), data[1:]
	var stream []byte
	for data[0] != 0 {
		n := int(data[0])
		stream, data = append(stream, data[1:1+n]...), data[1+n:]
	}
	if len(data) != 1 {
		t.Fatalf("%d bytes follow the terminator", len(data)-1)
	}
	out, err := io.ReadAll(lzw.NewReader(bytes.NewReader(stream), lzw.LSB, width))
	if err != nil {
		t.Fatal(err)
	}
	return out
}

func FuzzLZW(f *testing.F) {
	f.Add(uint8(4), uint64(1), []byte{0, 1, 2, 3, 0, 1, 2, 3, 0, 1})
	f.Add(uint8(255), uint64(2), bytes.Repeat([]byte{7, 7, 7, 9}, 5000))
	var e lzwEncoder
	f.Fuzz(func(t *testing.T, colours uint8, seed uint64, data []byte) {
		if len(data) == 0 {
			return
		}
		rng := rand.New(rand.NewPCG(seed, 1))
		for range seed % 40000 { // long enough to fill the dictionary
			data = append(data, data[rng.IntN(len(data))]^uint8(rng.IntN(8)/7))
		}
		size := int(colours) + 1
		px := &lzwPixels{size: size, index: make([]uint8, len(data)), alt: make([]uint8, len(data))}
		for i, b := range data {
			px.index[i] = uint8(int(b) % size)
			px.alt[i] = px.index[i]
			if rng.IntN(4) == 0 {
				px.alt[i] = uint8(rng.IntN(size))
			}
		}
		got := unpackLZW(t, e.encode(nil, px))
		if len(got) != len(data) {
			t.Fatalf("%d pixels, want %d", len(got), len(data))
		}
		for i, v := range got {
			if v != px.index[i] && v != px.alt[i] {
				t.Fatalf("pixel %d is %d, want %d or %d", i, v, px.index[i], px.alt[i])
			}
		}
	})
}

func TestLossyKeepsItsBound(t *testing.T) {
	t.Parallel()
	rng := rand.New(rand.NewPCG(3, 4))
	palette := make([]quant.RGB, 200)
	for i := range palette {
		palette[i] = quant.RGB{R: uint8(i), G: uint8(i / 2), B: uint8(200 - i)}
	}
	const n = 60000
	px := &lzwPixels{size: 201, index: make([]uint8, n), alt: make([]uint8, n)}
	px.lossy = &lossyPixels{colour: make([]uint32, n), maxError: make([]uint16, n), palette: palette, near: newNearTable(palette), reward: 20}
	for i := range n {
		v := uint8(100 + 60*(i%300)/300 + rng.IntN(8))
		px.index[i] = v
		if i%11 == 0 {
			px.index[i] = 200 // transparent
		}
		px.alt[i] = px.index[i]
		px.lossy.colour[i] = uint32(v) | uint32(v/2)<<8 | uint32(200-v)<<16
		px.lossy.maxError[i] = uint16(rng.IntN(60))
	}
	var e lzwEncoder
	data := e.encode(nil, px)
	for i, v := range unpackLZW(t, data) {
		if v == px.index[i] {
			continue
		}
		if v == 200 || px.index[i] == 200 {
			t.Fatalf("pixel %d is %d instead of %d", i, v, px.index[i])
		}
		if d := squared(px.lossy.colour[i], palette[v]); d > int(px.lossy.maxError[i]) {
			t.Fatalf("pixel %d is %d off, at most %d is allowed", i, d, px.lossy.maxError[i])
		}
	}
	px.lossy = nil
	if exact := e.encode(nil, px); len(data) > len(exact)*9/10 {
		t.Errorf("lossy takes %d bytes, exact %d", len(data), len(exact))
	}
}
