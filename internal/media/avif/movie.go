package avif

import "math"

// unbounded is the duration of what is repeated for ever.
const unbounded = math.MaxUint64

// matrix leaves pictures as they are.
var matrix = u32(0x10000, 0, 0, 0, 0x10000, 0, 0, 0, 0x40000000)

// movie is the box moov: the tracks with their samples.
func (m *muxer) movie() []byte {
	parts := [][]byte{full("mvhd", 1, 0, u64(0, 0), u32(int(m.timescale)), u64(m.duration()),
		u32(0x10000), u16(0x100, 0), u32(0, 0), matrix, make([]byte, 24), u32(len(m.tracks)+1))}
	for i, t := range m.tracks {
		parts = append(parts, m.track(t, i+1))
	}
	return box("moov", parts...)
}

// duration is that of all plays, in ticks.
func (m *muxer) duration() uint64 {
	if m.plays == 0 || uint64(m.plays) > unbounded/uint64(m.ticks) {
		return unbounded
	}
	return uint64(m.plays) * uint64(m.ticks)
}

// track is the box trak. A track longer than its only edit is played again, if that is
// marked for it.
func (m *muxer) track(t *track, id int) []byte {
	const enabled = 1
	repeats := 0
	if m.plays != 1 {
		repeats = 1
	}
	kind, link := "pict", []byte(nil)
	if t.alpha {
		kind, link = "auxv", box("tref", box("auxl", u32(colourItem)))
	}
	return box("trak",
		full("tkhd", 1, enabled, u64(0, 0), u32(id, 0), u64(m.duration()), u32(0, 0), u16(0, 0, 0, 0), matrix, u32(t.width<<16, t.height<<16)),
		link,
		box("edts", full("elst", 1, repeats, u32(1), u64(uint64(m.ticks), 0), u16(1, 0))),
		box("mdia",
			full("mdhd", 1, 0, u64(0, 0), u32(int(m.timescale)), u64(uint64(m.ticks)), u16(undetermined, 0)),
			handler(kind),
			box("minf", full("vmhd", 0, 1, u16(0, 0, 0, 0)), box("dinf", full("dref", 0, 0, u32(1), full("url ", 0, 1))), m.samples(t))))
}

// undetermined is the language "und".
const undetermined = 0x55C4

// samples is the box stbl. Each sample is a chunk.
func (m *muxer) samples(t *track) []byte {
	return box("stbl",
		full("stsd", 0, 0, u32(1), t.entry()),
		full("stts", 0, 0, runs(m.durations)),
		full("stsc", 0, 0, u32(1, 1, 1, 1)),
		full("stsz", 0, 0, u32(0, len(t.sizes)), u32(t.sizes...)),
		full("stco", 0, 0, u32(len(t.offsets)), u32(t.offsets...)),
		full("stss", 0, 0, u32(len(t.keys)), u32(t.keys...)))
}

// entry describes the samples.
func (t *track) entry() []byte {
	const inch = 72 << 16 // pixels
	kind := colour
	if t.alpha {
		kind = full("auxi", 0, 0, text(alphaType))
	}
	return box("av01", make([]byte, 6), u16(1), make([]byte, 16), u16(t.width, t.height), u32(inch, inch, 0), u16(1),
		make([]byte, 32), u16(24, 0xFFFF), t.config, kind,
		full("ccst", 0, 0, u32(0x7C000000))) // predicted within and between pictures, from up to 15
}

// runs counts equal durations that follow each other.
func runs(durations []int) []byte {
	var pairs []int
	for _, d := range durations {
		if n := len(pairs); n > 0 && pairs[n-1] == d {
			pairs[n-2]++
		} else {
			pairs = append(pairs, 1, d)
		}
	}
	return append(u32(len(pairs)/2), u32(pairs...)...)
}
