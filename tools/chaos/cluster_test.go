package main

import (
	"context"
	"errors"
	"math/rand/v2"
	"net/http"
	"net/http/httptest"
	"os"
	"path/filepath"
	"testing"
	"time"

	"github.com/bgremove/bgremove/tools/internal/rig"
)

// TestKillAt checks that nothing waits for ever for a progress that does not come.
func TestKillAt(t *testing.T) {
	t.Parallel()
	still := func() (int64, error) { return 3, nil }
	c := &chaos{random: rand.New(rand.NewPCG(1, 0))}
	if err := c.killAt(t.Context(), nil, 5, still); !errors.Is(err, errTooLong) {
		t.Errorf("without time: %v", err)
	}
	c.within = time.Hour
	ctx, cancel := context.WithCancelCause(t.Context())
	refused := errors.New("refused")
	cancel(refused)
	if err := c.killAt(ctx, nil, 5, still); !errors.Is(err, refused) {
		t.Errorf("after an error: %v", err)
	}
}

// TestKillTwo checks that orders that fail end the wait for a kill.
func TestKillTwo(t *testing.T) {
	t.Parallel()
	server := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, _ *http.Request) { w.WriteHeader(http.StatusBadRequest) }))
	t.Cleanup(server.Close)
	log := filepath.Join(t.TempDir(), "worker.log")
	if err := os.WriteFile(log, nil, 0o600); err != nil {
		t.Fatal(err)
	}
	const orders = 8
	c := &chaos{random: rand.New(rand.NewPCG(1, 0)), settings: settings{clusterJobs: orders, within: time.Hour}}
	people := &crowd{clients: []*rig.Client{rig.NewClient("key", 1)}, urls: []string{server.URL}, gate: make(chan struct{}, orders), ids: map[string]bool{}}
	var status *rig.StatusError
	if err := c.killTwo(t.Context(), people, &rig.Node{Log: log}, nil); !errors.As(err, &status) || status.Code != http.StatusBadRequest {
		t.Errorf("error %v", err)
	}
}
