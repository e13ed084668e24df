package bgremove

import (
	"errors"

	"github.com/bgremove/bgremove/internal/matte/onnx"
	"github.com/bgremove/bgremove/internal/model"
	"github.com/bgremove/bgremove/internal/ortlib"
)

// Explain adds advice to an error of installing, finding or opening models and
// ONNX Runtime. It returns an *Error, as Remove does. Other errors, and nil,
// are returned unchanged.
func Explain(err error) error {
	if err == nil || errors.As(err, new(*Error)) {
		return err
	}
	if e := advised("", err); e.Hint != "" {
		return e
	}
	return err
}

// advised makes an Error of err, about the file at path if there is one, with
// the advice for it.
func advised(path string, err error) *Error {
	kind, hint := advice(err)
	return &Error{Kind: kind, Path: path, Reason: err.Error(), Hint: hint, Err: err}
}

// advice returns the kind of an error of models or ONNX Runtime, and a remedy.
// For other errors it returns Failed and no remedy.
func advice(err error) (Kind, string) {
	if kind, hint := runtimeAdvice(err); hint != "" {
		return kind, hint
	}
	var (
		name    *model.NameError
		unknown *model.UnknownError
		absent  *model.NotInstalledError
		licence *model.LicenceError
		damaged *model.DamagedError
		other   *model.OtherContentError
		sidecar *model.SidecarError
	)
	switch {
	case errors.As(err, &name), errors.As(err, &unknown):
		return Invalid, "bgremove models list shows what there is; a path that ends in .onnx names any other network"
	case errors.As(err, &absent):
		return Missing, "bgremove models pull " + absent.Name
	case errors.As(err, &licence):
		return Invalid, "--accept-license accepts it; see bgremove models list for others"
	case errors.As(err, &damaged):
		if damaged.Imported {
			return Failed, "bgremove models import FILE --name " + damaged.Name + " mends it, from the file it came from"
		}
		return Failed, "bgremove models pull " + damaged.Name + " gets it again"
	case errors.As(err, &other):
		return Invalid, "--name gives it a name of its own; bgremove models pull " + other.Name + " gets the catalogue's"
	case errors.As(err, &sidecar):
		return Invalid, "correct the file or move it away"
	case errors.Is(err, model.ErrBundled):
		return Invalid, "it is always there: --model " + model.Bundled
	case errors.Is(err, model.ErrNoRecord):
		return Failed, "move it out of the folder of models and import it"
	case errors.Is(err, model.ErrExists):
		return Exists, "--name gives it another name"
	case errors.Is(err, model.ErrApart):
		return Invalid, "use it where it lies, --model FOLDER/FILE.onnx, or import a file that holds its weights"
	case errors.Is(err, model.ErrNotONNX):
		return Unreadable, "the file is damaged, incomplete or no ONNX model: get it again"
	}
	return Failed, ""
}

// runtimeAdvice is advice about ONNX Runtime.
func runtimeAdvice(err error) (Kind, string) {
	var absent *ortlib.NotFoundError
	switch {
	case errors.As(err, &absent) && absent.Explicit != "", errors.Is(err, ortlib.ErrNotLibrary):
		return Missing, "name ONNX Runtime's library or its folder; where none is named, that of bgremove setup is taken"
	case absent != nil, errors.Is(err, onnx.ErrNoRuntime):
		return Missing, "bgremove setup gets ONNX Runtime; --onnxruntime names a library of your own"
	case errors.Is(err, onnx.ErrNoCGO):
		return Missing, "install a release build, or build with cgo; --method fast works without"
	case errors.Is(err, onnx.ErrProcessor):
		return Missing, "--method fast works without"
	case errors.Is(err, onnx.ErrMemory):
		return Failed, "close other programs, or choose a smaller network: bgremove models list shows sizes"
	case errors.Is(err, onnx.ErrNoGPU):
		return Missing, "name a GPU build of ONNX Runtime with --onnxruntime, or leave out --require-gpu"
	}
	return Failed, ""
}
