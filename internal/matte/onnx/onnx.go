// Package onnx estimates mattes with neural networks in ONNX Runtime. It loads
// the shared library at run time. Mattes have the network's own resolution;
// another package enlarges them.
//
// Programs built without cgo have the package too, but Open returns ErrNoCGO.
package onnx

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"slices"
	"strings"
	"sync"

	"github.com/bgremove/bgremove/internal/network/model"
	"github.com/bgremove/bgremove/internal/network/onnxfile"
	"github.com/bgremove/bgremove/internal/system/cores"
)

// Errors that callers compare.
var (
	// ErrNoCGO says that this program was built without cgo.
	ErrNoCGO = errors.New("this build has no neural networks: it was made without cgo")
	// ErrNoRuntime means that the shared library of ONNX Runtime is missing,
	// too old, or another library. The error that wraps it names the path.
	ErrNoRuntime = errors.New("no usable ONNX Runtime")
	// ErrNoGPU means that RequireGPU was set and only the CPU is available.
	ErrNoGPU = errors.New("no usable GPU")
	// ErrOtherRuntime says that the process already uses another library.
	ErrOtherRuntime = errors.New("another ONNX Runtime is loaded already")
	// ErrClosed is returned by every use of a Network after its Close.
	ErrClosed = errors.New("network is closed")
)

// ModelError says that a network cannot be used.
type ModelError struct {
	Path   string // of the file, or the name given with ModelData
	Reason string
	Err    error // what ONNX Runtime or the system said; may be nil
}

// Error implements error.
func (e *ModelError) Error() string {
	name := e.Path
	if name == "" {
		name = "in memory"
	}
	if e.Err != nil {
		return fmt.Sprintf("network %s: %s: %v", name, e.Reason, e.Err)
	}
	return fmt.Sprintf("network %s: %s", name, e.Reason)
}

// Unwrap returns what lies beneath.
func (e *ModelError) Unwrap() error { return e.Err }

// Device is where a network runs.
type Device string

// The devices. Auto, and the empty Device, take the platform's GPU if the
// library has a provider for it that starts, else the CPU.
const (
	Auto     Device = "auto"
	CPU      Device = "cpu"
	CUDA     Device = "cuda"
	CoreML   Device = "coreml"
	DirectML Device = "directml"
)

// Config configures Open. Library, and either Model or ModelData, are required; the
// other fields are useful at their zero values.
type Config struct {
	// Library is the path of ONNX Runtime's shared library, which package ortlib finds.
	Library string
	// Model is the path of the .onnx file; with ModelData it is only the name
	// shown in errors.
	Model string
	// ModelData is the network itself. It is not needed after Open.
	ModelData model.Forms
	// Spec describes the network's input format. The zero Spec uses the
	// network's own metadata under MetadataKey, else a plain one derived from
	// its inputs.
	Spec model.Spec
	// Reviser is the network that revises mattes, for a network with Plate in
	// its Spec. Without it there is no Revise. Chooser is the one that chooses cells
	// for such a network. Without it there is no Choose. Guide does that where hints say
	// what is wanted.
	Reviser, Chooser, Guide model.Forms
	// Device is where to run. One that is not there gives the CPU, unless
	// RequireGPU makes that an error.
	Device     Device
	RequireGPU bool
	// Threads is how many threads one inference uses; 0 chooses.
	Threads int
	// Sessions is how many inferences run at once; 0 chooses. All share one
	// copy of the weights. Several serve several clips, or one clip with frames
	// estimated in several goroutines.
	Sessions int
}

// MetadataKey is the key under which a network's metadata may hold its
// model.Spec as JSON.
const MetadataKey = "bgremove.spec"

// Info describes an open network.
type Info struct {
	Runtime  string `json:"runtime"`  // version of ONNX Runtime
	Provider string `json:"provider"` // "cpu", "cuda", "coreml" or "directml"
	// Refused is why the device that was named is not used; empty where it is,
	// or none was named.
	Refused string     `json:"refused,omitempty"`
	Kind    model.Kind `json:"kind"`
	// Width and Height of the input in pixels; 0 where the clip decides.
	Width    int    `json:"width"`
	Height   int    `json:"height"`
	Input    string `json:"input"` // element type of the input
	Threads  int    `json:"threads"`
	Sessions int    `json:"sessions"`
	// Colours is that of the network's model.Spec.
	Colours float32 `json:"colours"`
	// Plate reports whether there is Revise, Chooses whether there is Choose, and Guided
	// whether there is Guide.
	Plate   bool `json:"plate"`
	Chooses bool `json:"chooses"`
	Guided  bool `json:"guided"`
}

// Network is a network ready to run. It is safe for concurrent use: several
// clips may share it, and at most Info().Sessions inferences run at once.
type Network struct {
	name     string
	contract contract
	engine   engine
	reviser  *companion // nil without
	chooser  *companion // nil without
	guide    *companion // nil without
	info     Info

	slots  chan *slot
	closed chan struct{}
	once   sync.Once
	err    error
}

// slot is the right to run one inference, with the buffers for it.
type slot struct {
	w, h  int // input size that in and out are for
	in    tensor
	out   tensor
	seen  tensor // features
	fgr   tensor // of recurrent networks
	value [3]lut
}

// Open loads the runtime, once in a process, and the network. Errors wrap
// ErrNoCGO, ErrProcessor, ErrNoRuntime, ErrOtherRuntime or ErrNoGPU, or are a
// *ModelError, which may wrap ErrMemory.
func Open(c Config) (*Network, error) {
	if !slices.Contains([]Device{"", Auto, CPU, CUDA, CoreML, DirectML}, c.Device) {
		return nil, fmt.Errorf("open network: no device is called %q", c.Device)
	}
	here := thisMachine()
	if err := here.canRun(); err != nil {
		return nil, err
	}
	if err := loadRuntime(c.Library); err != nil {
		return nil, err
	}
	g, size, err := readGraph(c)
	if err != nil {
		return nil, err
	}
	if err := here.canHold(size); err != nil {
		return nil, &ModelError{Path: c.Model, Reason: "does not fit", Err: err}
	}
	k, err := newContract(c, g)
	if err != nil {
		return nil, err
	}
	c.Threads, c.Sessions = parallelism(cores.Count(), c.Threads, c.Sessions, k.heavy())
	e, err := newEngine(c, k)
	if err != nil {
		return nil, err
	}
	if e.provider() == string(DirectML) {
		c.Sessions = 1 // it allows no two calls of a session at once
	}
	n := &Network{
		name:     c.Model,
		contract: *k,
		engine:   e,
		slots:    make(chan *slot, c.Sessions),
		closed:   make(chan struct{}),
		info: Info{
			Runtime:  runtimeVersion(),
			Provider: e.provider(),
			Kind:     k.spec.Kind,
			Width:    k.width,
			Height:   k.height,
			Input:    k.image.elem.String(),
			Threads:  c.Threads,
			Sessions: c.Sessions,
			Colours:  k.spec.Colours,
		},
	}
	if err := n.openCompanions(c); err != nil {
		return nil, errors.Join(err, e.close())
	}
	if err := e.refused(); err != nil && c.Device != Auto && c.Device != "" {
		n.info.Refused, _, _ = strings.Cut(err.Error(), "\n")
	}
	for range c.Sessions {
		n.slots <- &slot{value: k.luts()}
	}
	return n, nil
}

// readGraph reads the network's description and the total size of its file and
// its external weights. It reads the file and does not ask the runtime, which
// would load the network twice. It also distinguishes a truncated file from a
// network that the runtime does not support.
func readGraph(c Config) (g *onnxfile.Graph, size int64, err error) {
	if c.ModelData.Float != nil {
		size = int64(len(c.ModelData.Float))
		g, err = onnxfile.Read(bytes.NewReader(c.ModelData.Float), size)
	} else {
		g, size, err = onnxfile.ReadFile(c.Model)
	}
	if err == nil {
		return g, size + g.ExternalBytes, nil
	}
	reason := "is not an ONNX network"
	switch {
	case errors.Is(err, onnxfile.ErrTruncated):
		reason = "is truncated or corrupt"
	case onnxfile.Unreadable(err):
		reason = "cannot be read"
	}
	return nil, 0, &ModelError{Path: c.Model, Reason: reason, Err: err}
}

// Provider is the execution provider in use: "cpu", "cuda", "coreml" or
// "directml".
func (n *Network) Provider() string { return n.info.Provider }

// Info describes the network.
func (n *Network) Info() Info { return n.info }

// Close waits for running inferences and frees the network. It is idempotent.
func (n *Network) Close() error {
	n.once.Do(func() {
		close(n.closed)
		for range cap(n.slots) {
			<-n.slots
		}
		n.err = errors.Join(n.engine.close(), n.reviser.close(), n.chooser.close(), n.guide.close())
	})
	return n.err
}

// acquire waits for the right to run.
func (n *Network) acquire(ctx context.Context) (*slot, error) {
	select {
	case <-n.closed:
		return nil, ErrClosed
	case <-ctx.Done():
		return nil, context.Cause(ctx)
	default:
	}
	select {
	case <-n.closed:
		return nil, ErrClosed
	case <-ctx.Done():
		return nil, context.Cause(ctx)
	case s := <-n.slots:
		return s, nil
	}
}

func (n *Network) release(s *slot) { n.slots <- s }

func (n *Network) modelError(reason string, err error) error {
	return &ModelError{Path: n.name, Reason: reason, Err: err}
}
