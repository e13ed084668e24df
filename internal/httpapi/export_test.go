package httpapi

import (
	"net/http"
)

// What only tests of this package see.
var (
	CleanName   = cleanName
	Disposition = disposition
	Unchanged   = unchanged
	Crawl       = crawl
	OptionsBody = optionsBody
)

// RangeError is what Wanted may return.
type RangeError = rangeError

// Wanted is the part of a file that a request asks for.
func Wanted(h http.Header, etag string, size int64) (offset, length int64, partial bool, err error) {
	p, partial, err := wanted(h, etag, size)
	return p.offset, p.length, partial, err
}

// FormError is a field that is refused.
func FormError(field, reason string) error { return &formError{field: field, reason: reason} }
