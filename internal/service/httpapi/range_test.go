package httpapi_test

import (
	"errors"
	"net/http"
	"testing"

	"github.com/bgremove/bgremove/internal/service/httpapi"
)

// byteRange is an offset and a length.
type byteRange [2]int64

func TestWanted(t *testing.T) {
	t.Parallel()
	const etag = `"abc"`
	for name, test := range map[string]struct {
		asked, ifRange string
		size           int64
		want           byteRange
		partial, none  bool
	}{
		"nothing":             {size: 10, want: byteRange{0, 10}},
		"first bytes":         {asked: "bytes=0-3", size: 10, want: byteRange{0, 4}, partial: true},
		"one byte":            {asked: "bytes=9-9", size: 10, want: byteRange{9, 1}, partial: true},
		"from":                {asked: "bytes=4-", size: 10, want: byteRange{4, 6}, partial: true},
		"last":                {asked: "bytes=-4", size: 10, want: byteRange{6, 4}, partial: true},
		"last of a short one": {asked: "bytes=-40", size: 10, want: byteRange{0, 10}, partial: true},
		"beyond the end":      {asked: "bytes=4-400", size: 10, want: byteRange{4, 6}, partial: true},
		"behind the end":      {asked: "bytes=10-", size: 10, none: true},
		"no last byte":        {asked: "bytes=-0", size: 10, none: true},
		"of nothing":          {asked: "bytes=0-", size: 0, none: true},
		"several":             {asked: "bytes=0-1,3-4", size: 10, want: byteRange{0, 10}},
		"backwards":           {asked: "bytes=5-3", size: 10, want: byteRange{0, 10}},
		"other unit":          {asked: "frames=1-2", size: 10, want: byteRange{0, 10}},
		"no numbers":          {asked: "bytes=a-b", size: 10, want: byteRange{0, 10}},
		"signs":               {asked: "bytes=+1-2", size: 10, want: byteRange{0, 10}},
		"nothing given":       {asked: "bytes=-", size: 10, want: byteRange{0, 10}},
		"huge":                {asked: "bytes=99999999999999999999-", size: 10, want: byteRange{0, 10}},
		"unchanged":           {asked: "bytes=0-3", ifRange: etag, size: 10, want: byteRange{0, 4}, partial: true},
		"changed":             {asked: "bytes=0-3", ifRange: `"def"`, size: 10, want: byteRange{0, 10}},
		"weak":                {asked: "bytes=0-3", ifRange: "W/" + etag, size: 10, want: byteRange{0, 10}},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			h := http.Header{}
			if test.asked != "" {
				h.Set("Range", test.asked)
			}
			if test.ifRange != "" {
				h.Set("If-Range", test.ifRange)
			}
			offset, length, partial, err := httpapi.Wanted(h, etag, test.size)
			got := byteRange{offset, length}
			if none := (*httpapi.RangeError)(nil); errors.As(err, &none) != test.none {
				t.Fatalf("error is %v", err)
			}
			if got != test.want || partial != test.partial {
				t.Errorf("got %v %v, want %v %v", got, partial, test.want, test.partial)
			}
		})
	}
}

// FuzzWanted checks that every part lies within the file.
func FuzzWanted(f *testing.F) {
	f.Add("bytes=0-3", int64(10))
	f.Add("bytes=-40", int64(10))
	f.Add("bytes=5-", int64(5))
	f.Fuzz(func(t *testing.T, asked string, size int64) {
		if size < 0 {
			t.Skip()
		}
		offset, length, _, err := httpapi.Wanted(http.Header{"Range": {asked}}, `""`, size)
		if err == nil && (offset < 0 || length < 0 || offset > size-length || length == 0 && size > 0) {
			t.Errorf("%q of %d bytes is %d from %d", asked, size, length, offset)
		}
	})
}
