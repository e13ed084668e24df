package httpapi

import (
	"net/http"
)

// Names that only tests of this package use.
var (
	CleanName   = cleanName
	Disposition = disposition
	Unchanged   = etagMatches
	Crawl       = receiveTime
	OptionsBody = optionsBody
)

// RangeError is what Wanted may return.
type RangeError = rangeError

// Wanted is the requested part of a file.
func Wanted(h http.Header, etag string, size int64) (offset, length int64, partial bool, err error) {
	p, partial, err := requestedRange(h, etag, size)
	return p.offset, p.length, partial, err
}

// FormError is a refused field.
func FormError(field, reason string) error { return &formError{field: field, reason: reason} }
