package storetest

import (
	"errors"
	"testing"

	"github.com/bgremove/bgremove/internal/service/store/storetest/wire"
)

// Wire leads to the server of a database until the test ends, which is skipped
// where that server is not reached by a socket.
func Wire(t testing.TB, database string) *wire.Wire {
	t.Helper()
	w, err := wire.New(t.TempDir(), database)
	if errors.Is(err, wire.ErrNoSocket) {
		t.Skip(err)
	}
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { _ = w.Close() })
	return w
}
