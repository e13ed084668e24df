package avif

import (
	"errors"
	"testing"
)

// Delimiters are left out, and only a packet with a sequence header is a key frame.
func TestParseUnit(t *testing.T) {
	t.Parallel()
	const delimiter, sequence, frame, extended = "\x12\x00", "\x0a\x02\x00\x00", "\x32\x01\x10", "\x36\x00\x01\x10"
	for packet, want := range map[string]struct {
		data, sequence string
		err            error
	}{
		delimiter + sequence + frame: {sequence + frame, sequence, nil},
		delimiter + frame:            {frame, "", nil},
		frame + extended:             {frame + extended, "", nil},
		"":                           {"", "", errUnit},
		delimiter:                    {"", "", errUnit},
		"\x32":                       {"", "", errUnit},
		"\x32\x02\x10":               {"", "", errUnit},
		"\x30\x10":                   {"", "", errUnit},
		"\x32\x80\x80\x80\x80\x01":   {"", "", errUnit},
	} {
		u, err := parseUnit([]byte(packet))
		if string(u.data) != want.data || string(u.sequence) != want.sequence || !errors.Is(err, want.err) {
			t.Errorf("parseUnit(%x) = %x, %x, %v", packet, u.data, u.sequence, err)
		}
	}
}

func FuzzParseUnit(f *testing.F) {
	f.Add([]byte("\x12\x00\x0a\x0b\x00\x00\x00\x04\x3e\x1f\xa4\xda\xf9\x08\x40\x32\x01\x10"))
	f.Fuzz(func(_ *testing.T, packet []byte) {
		if u, err := parseUnit(packet); err == nil && u.sequence != nil {
			_, _ = configuration(u.sequence, false) // does not panic
		}
	})
}
