package httpapi

import (
	"io"
	"net/http"
	"time"
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

// PacedReader reads at a pace that starts now. timer ends it.
func PacedReader(r io.Reader, stall, longest time.Duration, timer *time.Timer) io.Reader {
	return &pacedReader{r: r, pace: newPace(stall, longest), timer: timer}
}
