// Package id makes identifiers: a prefix that names the kind, then 26 letters
// and digits that sort by the time they were made.
package id

import (
	"crypto/rand"
	"encoding/base32"
	"encoding/binary"
	"strings"
	"sync"
	"time"
)

// Crockford's base 32, in lower case: digits sort before letters, as bytes do.
var encoding = base32.NewEncoding("0123456789abcdefghjkmnpqrstvwxyz").WithPadding(base32.NoPadding)

var (
	mu   sync.Mutex
	last [16]byte
)

// AfterAll sorts after all ids, by any collation.
const AfterAll = "z"

// New is an id that no other call on any machine returns: 48 bits of
// milliseconds and 80 random ones. Ids of one process sort in the order they
// were made, also within a millisecond and when the clock goes back. They are
// no secrets.
func New(prefix string) string {
	mu.Lock()
	defer mu.Unlock()
	var next [16]byte
	binary.BigEndian.PutUint64(next[:8], uint64(time.Now().UnixMilli())<<16)
	if string(next[:6]) > string(last[:6]) {
		_, _ = rand.Read(next[6:]) // it never fails
		next[6] &= 0x7f            // room to count up
		last = next
	} else {
		increment(&last)
	}
	return prefix + encoding.EncodeToString(last[:])
}

// Valid reports whether an id of the prefix can be text.
func Valid(prefix, text string) bool {
	random, found := strings.CutPrefix(text, prefix)
	raw, err := encoding.DecodeString(random)
	return found && err == nil && len(raw) == len(last) && encoding.EncodeToString(raw) == random
}

// Least sorts before all ids of the prefix that are made from a time on.
func Least(prefix string, from time.Time) string {
	var n [16]byte
	binary.BigEndian.PutUint64(n[:8], uint64(max(0, from.UnixMilli()))<<16)
	return prefix + encoding.EncodeToString(n[:])
}

// increment adds a random step of at most 2^32 to a 128 bit number.
func increment(n *[16]byte) {
	var step [4]byte
	_, _ = rand.Read(step[:])
	low := binary.BigEndian.Uint64(n[8:])
	sum := low + uint64(binary.BigEndian.Uint32(step[:])) + 1
	binary.BigEndian.PutUint64(n[8:], sum)
	if sum < low {
		binary.BigEndian.PutUint64(n[:8], binary.BigEndian.Uint64(n[:8])+1)
	}
}
