package bgremove

import (
	"context"
	"errors"
	"testing"
	"testing/synctest"

	"github.com/bgremove/bgremove/internal/matte/onnx"
	"github.com/bgremove/bgremove/internal/network/model"
)

// TestNetworkIsNotWaitedFor: who is interrupted while a network is opened goes at
// once; who closes the Remover waits for it.
func TestNetworkIsNotWaitedFor(t *testing.T) {
	t.Parallel()
	if err := onnx.Supported(); err != nil {
		t.Skip(err)
	}
	synctest.Test(t, func(t *testing.T) {
		slow := &opening{done: make(chan struct{})}
		r := New(Config{})
		r.networks = map[string]*opening{model.Bundled: slow}
		why := errors.New("interrupted")
		ctx, cancel := context.WithCancelCause(t.Context())
		failed := make(chan error, 1)
		go func() {
			_, err := r.network(ctx, model.Bundled)
			failed <- err
		}()
		synctest.Wait()
		cancel(why)
		if err := <-failed; !errors.Is(err, why) {
			t.Errorf("%v, want the cause", err)
		}
		closed := make(chan error, 1)
		go func() { closed <- r.Close() }()
		synctest.Wait()
		if len(closed) > 0 {
			t.Error("closed while a network was being opened")
		}
		close(slow.done)
		if err := <-closed; err != nil {
			t.Error(err)
		}
	})
}
