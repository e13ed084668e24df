//go:build cgo

package onnx

import (
	"context"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"runtime"
	"slices"
	"strconv"
	"strings"
	"sync"
	"unsafe"

	ort "github.com/yalue/onnxruntime_go"
)

// Supported is ErrNoCGO where this program cannot load ONNX Runtime.
func Supported() error { return nil }

var loaded struct {
	sync.Mutex
	library string
	done    bool
}

// loadRuntime loads the shared library; later calls must name the same one.
func loadRuntime(library string) error {
	if library == "" { // by its name alone, the system's loader would find any
		return fmt.Errorf("%w: no path of its library is given", ErrNoRuntime)
	}
	if target, err := filepath.EvalSymlinks(library); err == nil {
		library = target
	}
	loaded.Lock()
	defer loaded.Unlock()
	if loaded.done {
		if library != loaded.library {
			return fmt.Errorf("load %s: %w: %s", library, ErrOtherRuntime, loaded.library)
		}
		return nil
	}
	ort.SetSharedLibraryPath(library)
	if err := disableTelemetry(); err != nil {
		return fmt.Errorf("load %s: disable telemetry: %w", library, err)
	}
	if err := ort.InitializeEnvironment(ort.WithLogLevelFatal()); err != nil {
		return fmt.Errorf("load %s: %w: %w", library, ErrNoRuntime, err)
	}
	if err := ort.DisableTelemetry(); err != nil {
		return fmt.Errorf("load %s: disable telemetry: %w", library, err)
	}
	loaded.library, loaded.done = library, true
	return nil
}

// disableTelemetry keeps ONNX Runtime from reporting its use to its maker, and from
// keeping an identifier and a database for that in the user's cache ("Disabling
// Telemetry" in its Privacy.md). Windows' own build supports only the call
// after loading.
func disableTelemetry() error { return os.Setenv("ORT_DISABLE_TELEMETRY", "1") }

func runtimeVersion() string { return ort.GetVersion() }

// session is the engine: one session of ONNX Runtime, which may be run from
// several goroutines at once.
type session struct {
	dyn     *ort.DynamicAdvancedSession
	device  Device
	refusal error // the errors of the devices tried before
}

func newEngine(c Config, k *contract) (engine, error) {
	var refused error
	for _, d := range devices(c) {
		opts, err := newOptions(c, d)
		if err != nil {
			refused = errors.Join(refused, fmt.Errorf("%s: %w", d, err))
			continue
		}
		dyn, err := create(c, k, d, opts)
		_ = opts.Destroy()
		if err == nil {
			return &session{dyn, d, refused}, nil
		}
		if d == CPU {
			return nil, &ModelError{Path: c.Model, Reason: "cannot be loaded", Err: asMemoryError(err)}
		}
		refused = errors.Join(refused, fmt.Errorf("%s: %w", d, err))
	}
	if refused == nil {
		refused = fmt.Errorf("device %q", c.Device)
	}
	return nil, fmt.Errorf("%w: %w", ErrNoGPU, refused)
}

// devices lists the devices to try, best first.
func devices(c Config) []Device {
	list := []Device{c.Device}
	if c.Device == Auto || c.Device == "" {
		list = []Device{map[string]Device{"darwin": CoreML, "windows": DirectML}[runtime.GOOS]}
		if list[0] == "" {
			list[0] = CUDA
		}
	}
	if c.Device == CPU {
		list = nil
	}
	if !c.RequireGPU {
		list = append(list, CPU)
	}
	return list
}

func newOptions(c Config, d Device) (*ort.SessionOptions, error) {
	o, err := ort.NewSessionOptions()
	if err != nil {
		return nil, err
	}
	entry := func(k, v string) func() error {
		return func() error { return o.AddSessionConfigEntry(k, v) }
	}
	for _, set := range []func() error{
		func() error { return o.SetIntraOpNumThreads(c.Threads) },
		func() error { return o.SetInterOpNumThreads(1) },
		// Memory planned as one block for each run is more than what runs need
		// of the arena, and no quicker. DirectML cannot do with it.
		func() error { return o.SetMemPattern(false) },
		func() error { return o.SetGraphOptimizationLevel(ort.GraphOptimizationLevelEnableAll) },
		func() error { return o.SetLogSeverityLevel(ort.LoggingLevelFatal) },
		// A spinning thread takes the core that decoding or encoding needs.
		entry("session.intra_op.allow_spinning", "0"),
		// Recurrent states decay into denormal numbers, which are slow.
		entry("session.set_denormal_as_zero", "1"),
		func() error { return addProvider(o, d) },
	} {
		if err := set(); err != nil {
			_ = o.Destroy()
			return nil, err
		}
	}
	return o, nil
}

func addProvider(o *ort.SessionOptions, d Device) error {
	switch d {
	case CPU:
		return nil
	case CUDA:
		cuda, err := ort.NewCUDAProviderOptions()
		if err != nil {
			return err
		}
		defer func() { _ = cuda.Destroy() }()
		return o.AppendExecutionProviderCUDA(cuda)
	case CoreML:
		return o.AppendExecutionProviderCoreMLV2(nil)
	case DirectML:
		return o.AppendExecutionProviderDirectML(0)
	}
	return fmt.Errorf("no device is called %q", d)
}

func create(c Config, k *contract, d Device, o *ort.SessionOptions) (*ort.DynamicAdvancedSession, error) {
	var half, in, out []string
	for _, p := range k.inputs {
		in = append(in, p.name)
	}
	for _, p := range k.outputs {
		name := p.name
		if p.elem == float16Elem {
			half = append(half, name)
			name += castSuffix
		}
		out = append(out, name)
	}
	data := c.ModelData.Float
	if d == CPU && c.ModelData.Int8 != nil {
		data = c.ModelData.Int8
	}
	if half == nil && data == nil {
		return ort.NewDynamicAdvancedSession(c.Model, in, out, o)
	}
	if data == nil {
		var err error
		if data, err = os.ReadFile(c.Model); err != nil {
			return nil, err
		}
		// The folder of weights in separate files.
		err = o.AddSessionConfigEntry("session.model_external_initializers_file_folder_path", filepath.Dir(c.Model))
		if err != nil {
			return nil, err
		}
	}
	if half != nil {
		data = addCasts(data, half)
	}
	return ort.NewDynamicAdvancedSessionWithONNXData(data, in, out, o)
}

func (s *session) provider() string { return string(s.device) }

func (s *session) refused() error { return s.refusal }

func (s *session) close() error { return s.dyn.Destroy() }

func (s *session) run(ctx context.Context, in, out []*tensor) error {
	var pins runtime.Pinner
	defer pins.Unpin()
	values := make([]ort.Value, len(in)+len(out))
	defer func() {
		for _, v := range values {
			if v != nil {
				_ = v.Destroy()
			}
		}
	}()
	for i, t := range append(slices.Clone(in), out...) {
		if t.shape == nil {
			continue
		}
		v, err := t.value(&pins)
		if err != nil {
			return err
		}
		values[i] = v
	}
	opts, err := ort.NewRunOptions()
	if err != nil {
		return err
	}
	defer func() { _ = opts.Destroy() }()
	terminated := make(chan struct{})
	stop := context.AfterFunc(ctx, func() {
		_ = opts.Terminate()
		close(terminated)
	})
	err = s.dyn.RunWithOptions(values[:len(in)], values[len(in):], opts)
	if !stop() {
		<-terminated
		return context.Cause(ctx)
	}
	if err != nil {
		return asMemoryError(err)
	}
	for i, t := range out {
		if t.shape != nil {
			continue
		}
		if err := t.adopt(values[len(in)+i]); err != nil {
			return fmt.Errorf("output %s: %w", strconv.Itoa(i), err)
		}
	}
	return nil
}

// asMemoryError recognises ErrMemory among the errors of ONNX Runtime, which has
// no code for it.
func asMemoryError(err error) error {
	for _, message := range []string{"Failed to allocate memory", "bad_alloc", "bad allocation", "out of memory"} {
		if strings.Contains(err.Error(), message) {
			return fmt.Errorf("%w: %w", ErrMemory, err)
		}
	}
	return err
}

// value makes ONNX Runtime see t's own memory, which stays pinned until pins
// are let go.
func (t *tensor) value(pins *runtime.Pinner) (ort.Value, error) {
	shape := ort.Shape(t.shape)
	switch t.elem {
	case float32Elem:
		pins.Pin(unsafe.SliceData(t.f32))
		return ort.NewTensor(shape, t.f32)
	case uint8Elem:
		pins.Pin(unsafe.SliceData(t.u8))
		return ort.NewTensor(shape, t.u8)
	case float16Elem:
		pins.Pin(unsafe.SliceData(t.f16))
		b := unsafe.Slice((*byte)(unsafe.Pointer(unsafe.SliceData(t.f16))), 2*len(t.f16))
		return ort.NewCustomDataTensor(shape, b, ort.TensorElementDataTypeFloat16)
	}
	return nil, fmt.Errorf("no tensor of %v", t.elem)
}

// adopt makes the memory of v that of t; v may be destroyed afterwards.
func (t *tensor) adopt(v ort.Value) error {
	switch v := v.(type) {
	case *ort.Tensor[float32]:
		*t = tensor{elem: float32Elem, shape: v.GetShape(), f32: v.GetData()}
	case *ort.Tensor[uint8]:
		*t = tensor{elem: uint8Elem, shape: v.GetShape(), u8: v.GetData()}
	default:
		return fmt.Errorf("is neither float32 nor uint8")
	}
	return nil
}
