package bgremove

import (
	"cmp"
	"context"
	"errors"
	"fmt"

	"github.com/bgremove/bgremove/internal/matte/onnx"
	"github.com/bgremove/bgremove/internal/network/model"
	"github.com/bgremove/bgremove/internal/network/ortlib"
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

// opening is a network that is opened or being opened.
type opening struct {
	done    chan struct{} // closed when the rest is there
	network *onnx.Network
	err     error
}

// loaded is an open network with its name.
type loaded struct {
	*onnx.Network
	name string
}

// network opens the network that a job names. It opens each network once, and
// all clips share it. A large one takes seconds. A caller whose ctx has ended
// does not wait for it; the next caller finds it open.
func (r *Remover) network(ctx context.Context, name string) (loaded, error) {
	name, err := modelName(name)
	if err != nil {
		return loaded{}, err
	}
	if ctx.Err() != nil {
		return loaded{}, context.Cause(ctx)
	}
	o := r.openOnce(name)
	select {
	case <-o.done:
	case <-ctx.Done():
		return loaded{}, context.Cause(ctx)
	}
	if o.err != nil {
		return loaded{}, r.openError(o.err)
	}
	return loaded{o.network, name}, nil
}

// openError is the error of a network that cannot be opened.
func (r *Remover) openError(err error) *Error {
	e := networkError("", err)
	if e.Cause == NoGPU {
		e.Name = string(cmp.Or(r.config.Device, DeviceAuto))
	}
	return e
}

// modelName is the name of the network to be used where name is asked for.
func modelName(name string) (string, error) {
	if err := onnx.Supported(); err != nil {
		return "", networkError("", err)
	}
	if name == "" {
		return model.Bundled, nil
	}
	return name, nil
}

func (r *Remover) store() *model.Store { return &model.Store{Dir: r.config.ModelsDir} }

// openOnce starts to open a network, unless another call has. After a failure
// the next call tries again.
func (r *Remover) openOnce(name string) *opening {
	r.networksMu.Lock()
	defer r.networksMu.Unlock()
	if o, ok := r.networks[name]; ok {
		return o
	}
	o := &opening{done: make(chan struct{})}
	if r.networks == nil {
		r.networks = make(map[string]*opening)
	}
	r.networks[name] = o
	go func() {
		r.openMu.Lock() // one after the other: each must find what memory those before it have left
		o.network, o.err = r.openNetwork(name)
		r.openMu.Unlock()
		if o.err != nil {
			r.forget(name, o)
		}
		close(o.done)
	}()
	return o
}

func (r *Remover) forget(name string, o *opening) {
	r.networksMu.Lock()
	defer r.networksMu.Unlock()
	if r.networks[name] == o {
		delete(r.networks, name)
	}
}

// preload begins to open the network that a removal will surely need while its
// input is looked at. An error shows when it is needed.
func (j *removal) preload() {
	if j.options.Method != Rembg {
		return
	}
	if name, err := modelName(j.options.Model); err == nil {
		j.openOnce(name)
	}
}

// CanSegment reports whether method Rembg can run. If not, an *Error names the
// missing part. model is as in Options. The network stays open.
func (r *Remover) CanSegment(ctx context.Context, model string) error {
	_, err := r.network(ctx, model)
	return err
}

func (r *Remover) openNetwork(name string) (_ *onnx.Network, err error) {
	c := onnx.Config{Reviser: model.BundledReviser, Chooser: model.BundledChooser, Guide: model.BundledGuide, Device: onnx.Device(r.config.Device), RequireGPU: r.config.RequireGPU}
	if name == model.Bundled {
		c.Model, c.ModelData = name, model.BundledNetwork
	} else if c.Model, c.Spec, err = r.store().Open(name); err != nil {
		return nil, err
	}
	library, err := ortlib.Find(r.config.Library)
	if err != nil {
		return nil, err
	}
	c.Library = library.Path
	return onnx.Open(c)
}

// Close waits for networks that are still being opened, and releases all. No job
// may be running.
func (r *Remover) Close() error {
	r.networksMu.Lock()
	networks := r.networks
	r.networks = nil
	r.networksMu.Unlock()
	var errs []error
	for _, o := range networks {
		if <-o.done; o.network != nil {
			errs = append(errs, o.network.Close())
		}
	}
	return errors.Join(errs...)
}

// CanFollow reports whether method Rembg can follow Hints, as CanSegment does.
func (r *Remover) CanFollow(ctx context.Context, model string) error {
	n, err := r.network(ctx, model)
	if err != nil {
		return err
	}
	return n.follows()
}

// follows refuses a network that cannot follow hints.
func (n loaded) follows() error {
	if !n.Info().Guided {
		return &Error{Kind: Invalid, Field: "hints", Reason: fmt.Sprintf("cannot be followed by the model %s", n.name)}
	}
	return nil
}
