package bgremove

import (
	"context"
	"errors"
	"testing"

	"github.com/bgremove/bgremove/internal/matte/onnx"
	"github.com/bgremove/bgremove/internal/model"
)

// TestNetworkIsNotWaitedFor: who is interrupted while a network is opened goes at
// once, and the Remover closes without it.
func TestNetworkIsNotWaitedFor(t *testing.T) {
	t.Parallel()
	if err := onnx.Supported(); err != nil {
		t.Skip(err)
	}
	r := New(Config{})
	r.loading.Lock() // nothing opens
	defer r.loading.Unlock()
	why := errors.New("interrupted")
	ctx, cancel := context.WithCancelCause(t.Context())
	failed := make(chan error)
	go func() {
		_, _, err := r.network(ctx, model.Bundled)
		failed <- err
	}()
	cancel(why)
	if err := <-failed; !errors.Is(err, why) {
		t.Errorf("%v, want the cause", err)
	}
	if err := r.Close(); err != nil {
		t.Error(err)
	}
}
