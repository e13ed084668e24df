package httpapi

import (
	"fmt"
	"path"
	"strings"
	"unicode"
	"unicode/utf8"
)

// maxName is the longest name of a file that is kept, in bytes, as most file
// systems have it.
const maxName = 255

// cleanName is the stored form of an upload's name: the last part of a path of
// either kind, without characters that control a terminal or the direction of
// text. It is shown and returned, never used as a path.
func cleanName(name string) string {
	name = strings.ToValidUTF8(name, string(utf8.RuneError))
	name = name[strings.LastIndexAny(name, `/\`)+1:]
	name = strings.Map(func(r rune) rune {
		if unicode.IsControl(r) || unicode.Is(unicode.Bidi_Control, r) {
			return -1
		}
		return r
	}, name)
	return shorten(strings.TrimSpace(name), maxName)
}

// shorten cuts a name's stem so that all of it has at most n bytes.
func shorten(name string, n int) string {
	if len(name) <= n {
		return name
	}
	ext := path.Ext(name)
	if len(ext) > n/2 {
		ext = ""
	}
	stem := name[:n-len(ext)]
	for !utf8.ValidString(stem) {
		stem = stem[:len(stem)-1]
	}
	return stem + ext
}

// disposition names a file for saving (RFC 6266): in ASCII for all, and as it
// is where that is not the same (RFC 8187).
func disposition(kind, name string) string {
	plain := strings.Map(func(r rune) rune {
		if r < ' ' || r > '~' || r == '"' || r == '\\' || r == '%' {
			return '_'
		}
		return r
	}, name)
	value := kind + `; filename="` + plain + `"`
	if plain != name {
		value += "; filename*=UTF-8''" + percentEncode(name)
	}
	return value
}

// percentEncode encodes all but the attr-char of RFC 8187, section 3.2.1.
func percentEncode(s string) string {
	const plain = "ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789!#$&+-.^_`|~"
	var b strings.Builder
	for i := range len(s) {
		if strings.IndexByte(plain, s[i]) >= 0 {
			b.WriteByte(s[i])
		} else {
			fmt.Fprintf(&b, "%%%02X", s[i])
		}
	}
	return b.String()
}
