package httpapi

import (
	"net/http"
	"strconv"
	"strings"
)

// byteRange is bytes of a file.
type byteRange struct{ offset, length int64 }

// requestedRange is the part of a file that a request asks for, and whether it asks
// for a part at all (RFC 9110, section 14). Several parts, other units and
// what cannot be read are as if nothing was asked for, which servers may do;
// so is a part of a file that has changed. The error is a *rangeError.
//
// http.ServeContent would answer HEAD by part, several parts as multipart, and
// errors as text after the headers are set.
func requestedRange(h http.Header, etag string, size int64) (p byteRange, partial bool, err error) {
	all := byteRange{0, size}
	if v := h.Get("If-Range"); v != "" && v != etag {
		return all, false, nil
	}
	spec, ok := strings.CutPrefix(h.Get("Range"), "bytes=")
	if !ok {
		return all, false, nil
	}
	from, to, ok := strings.Cut(strings.TrimSpace(spec), "-")
	if !ok {
		return all, false, nil
	}
	first, hasFirst := parseDigits(from)
	last, hasLast := parseDigits(to)
	switch {
	case !hasFirst && from != "", !hasLast && to != "", !hasFirst && !hasLast, hasFirst && hasLast && last < first:
		return all, false, nil
	case !hasFirst: // the last bytes
		first = max(0, size-last)
		if last == 0 {
			first = size
		}
		last = size - 1
	case !hasLast:
		last = size - 1
	}
	if first >= size {
		return byteRange{}, false, &rangeError{size}
	}
	return byteRange{first, min(last, size-1) - first + 1}, true, nil
}

// parseDigits reads digits and nothing else.
func parseDigits(s string) (int64, bool) {
	if s == "" || strings.Trim(s, "0123456789") != "" {
		return 0, false
	}
	n, err := strconv.ParseInt(s, 10, 64)
	return n, err == nil
}

// etagMatches reports whether If-None-Match names the ETag, by the weak
// comparison of RFC 9110, section 8.8.3.2.
func etagMatches(h http.Header, etag string) bool {
	for _, list := range h.Values("If-None-Match") {
		for tag := range strings.SplitSeq(list, ",") {
			tag = strings.TrimSpace(tag)
			if tag == "*" || strings.TrimPrefix(tag, "W/") == etag {
				return true
			}
		}
	}
	return false
}
