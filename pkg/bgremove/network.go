package bgremove

import (
	"context"
	"errors"

	"github.com/bgremove/bgremove/internal/matte/onnx"
	"github.com/bgremove/bgremove/internal/model"
	"github.com/bgremove/bgremove/internal/ortlib"
)

// Device is where a network runs. The empty Device is DeviceAuto.
type Device string

// The devices. DeviceAuto takes a GPU if ONNX Runtime has a provider for one
// that starts, else the CPU.
const (
	DeviceAuto     Device = "auto"
	DeviceCPU      Device = "cpu"
	DeviceCUDA     Device = "cuda"
	DeviceCoreML   Device = "coreml"
	DeviceDirectML Device = "directml"
)

// network opens the network that a job names, once: all clips share it.
func (r *Remover) network(ctx context.Context, name string) (*onnx.Network, string, error) {
	if err := onnx.Supported(); err != nil {
		return nil, "", unusable(err)
	}
	store := &model.Store{Dir: r.config.ModelsDir}
	if name == "" {
		var ok bool
		if name, ok = store.Best(); !ok {
			return nil, "", &Error{Kind: Missing, Reason: "no model is installed", Hint: "bgremove models pull u2netp gets one; --model names a file; --model bundled is in the program, small and still weak"}
		}
	}
	r.opening.Lock()
	defer r.opening.Unlock()
	if n, ok := r.networks[name]; ok {
		return n, name, nil
	}
	if err := ctx.Err(); err != nil {
		return nil, "", context.Cause(ctx)
	}
	n, err := r.openNetwork(store, name)
	if err != nil {
		return nil, "", unusable(err)
	}
	if r.networks == nil {
		r.networks = make(map[string]*onnx.Network)
	}
	r.networks[name] = n
	return n, name, nil
}

// warm opens the network that a removal will surely need while its input is
// looked at: large ones take a second. An error shows when it is needed. The
// function returned waits for the end.
func (j *removal) warm(ctx context.Context) (wait func()) {
	if j.options.Method != Rembg {
		return func() {}
	}
	done := make(chan struct{})
	go func() {
		defer close(done)
		_, _, _ = j.network(ctx, j.options.Model)
	}()
	return func() { <-done }
}

// CanSegment reports whether method Rembg can run: an *Error says what is
// missing. model is as in Options. The network stays open.
func (r *Remover) CanSegment(ctx context.Context, model string) error {
	_, _, err := r.network(ctx, model)
	return err
}

func (r *Remover) openNetwork(store *model.Store, name string) (_ *onnx.Network, err error) {
	c := onnx.Config{Device: onnx.Device(r.config.Device), RequireGPU: r.config.RequireGPU}
	if name == model.Bundled {
		c.Model, c.ModelData = name, model.BundledNetwork
	} else if c.Model, c.Spec, err = store.Open(name); err != nil {
		return nil, err
	}
	library, err := ortlib.Find(r.config.Library)
	if err != nil {
		return nil, err
	}
	c.Library = library.Path
	return onnx.Open(c)
}

// unusable is the error of a network that cannot be opened.
func unusable(err error) error {
	kind, hint := advice(err)
	return &Error{Kind: kind, Reason: err.Error(), Hint: hint, Err: err}
}

// Close releases the networks that were opened. No job may be running.
func (r *Remover) Close() error {
	r.opening.Lock()
	defer r.opening.Unlock()
	var errs []error
	for _, n := range r.networks {
		errs = append(errs, n.Close())
	}
	r.networks = nil
	return errors.Join(errs...)
}
