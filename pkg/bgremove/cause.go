package bgremove

import (
	"errors"
	"io/fs"

	"github.com/bgremove/bgremove/internal/matte/onnx"
	"github.com/bgremove/bgremove/internal/network/model"
	"github.com/bgremove/bgremove/internal/network/ortlib"
)

// Cause says what is wrong, for programs. errors.Is(err, OutputExists) reports
// whether an Error in err has that cause. The facts are in the Error's fields.
type Cause string

// Error makes a Cause a target of errors.Is.
func (c Cause) Error() string { return string(c) }

// The causes of errors about inputs. The kind is Unreadable, Failed for
// InputForbidden, or TooLarge for the last two.
const (
	InputDamaged    Cause = "input_damaged"     // it is damaged or incomplete: only another copy helps
	InputTruncated  Cause = "input_truncated"   // its end is missing: what is there can be saved by ffmpeg
	InputForbidden  Cause = "input_forbidden"   // its permissions do not let it be read
	InputNotFile    Cause = "input_not_file"    // a folder, a pipe or the like; Spool makes a file of a stream
	NotClip         Cause = "not_clip"          // its content is none of those that are read
	NotPicture      Cause = "not_picture"       // the file behind the subject is none of those that are read
	BadSequence     Cause = "bad_sequence"      // numbered pictures have gaps, several names or sizes
	HEIFPicture     Cause = "heif_picture"      // an AVIF or HEIC of a kind that is not read
	SoundOnly       Cause = "sound_only"        // it holds sound and no video
	SoundUnreadable Cause = "sound_unreadable"  // ffmpeg has no decoder for its sound, which a video is to have
	OverLimits      Cause = "over_limits"       // Config.Limits; Name is what is limited
	OverChildLimits Cause = "over_child_limits" // Config.ChildLimits or ProbeLimits; Name is what is limited
)

// The causes of errors about outputs.
const (
	OutputExists        Cause = "output_exists"         // Extras.Overwrite replaces it
	OutputIsFolder      Cause = "output_is_folder"      // a folder has its name
	OutputNotFile       Cause = "output_not_file"       // a device, a pipe or the like
	OutputBrokenLink    Cause = "output_broken_link"    // a link to nothing
	OutputFolderMissing Cause = "output_folder_missing" // it is not made
	OutputNotCreated    Cause = "output_not_created"    // nothing can be written there, as in a folder of somebody else
	OutputIsInput       Cause = "output_is_input"       // the input itself was named
	VideoOfPicture      Cause = "video_of_picture"      // Name is the video's format; the input is one picture
	PictureOfClip       Cause = "picture_of_clip"       // Name is the picture's format; the input is a clip
	BadPattern          Cause = "bad_pattern"           // of numbered pictures: several numbers, or not a picture's format
	FallbackIsInput     Cause = "fallback_is_input"     // the input is the GIF in the place of an MP4; a Background gives the MP4
	OutputTooLarge      Cause = "output_too_large"      // Config.ChildLimits.FileSize; a smaller canvas, fewer frames or a shorter part helps
	SheetFrameTooLarge  Cause = "sheet_frame_too_large" // for a page of a sprite sheet; Limit is its longest side
	SheetPages          Cause = "sheet_pages"           // a sprite sheet needs several, and its schema knows one
	SizeNotReached      Cause = "size_not_reached"      // Options.MaxSize; a smaller canvas, fewer frames or a shorter part helps
	PresetNotKept       Cause = "preset_not_kept"       // Name is the preset; the clip has something that its limits do not allow for
	NoSpace             Cause = "no_space"              // on the device of the output or of Config.TempDir
)

// The causes of errors about what is not installed, or does not work here. The
// kind is Missing, except for NoMemory: Failed.
const (
	NoFFmpeg   Cause = "no_ffmpeg"   // ffmpeg or ffprobe, 5.1 or newer
	NoCodec    Cause = "no_codec"    // ffmpeg was built without Name, a decoder, encoder or filter
	NotMacOS   Cause = "not_macos"   // Name, an encoder, is a part of macOS alone
	NoSandbox  Cause = "no_sandbox"  // SandboxOn was asked for; SandboxAuto uses what works
	NoRuntime  Cause = "no_runtime"  // ONNX Runtime is not found, or cannot be used
	NotRuntime Cause = "not_runtime" // Config.Library is not ONNX Runtime's library, nor its folder
	NoNetworks Cause = "no_networks" // this program was built without cgo
	NoAVX      Cause = "no_avx"      // ONNX Runtime does not work on this processor
	NoGPU      Cause = "no_gpu"      // Config.RequireGPU; Name is the device that was asked for
	NoMemory   Cause = "no_memory"   // the network takes more than is free
)

// The causes of errors about networks. Name is that of the network, if it has one.
const (
	ModelUnknown      Cause = "model_unknown"       // no network has that name; a path names any file
	ModelNotInstalled Cause = "model_not_installed" // it is in the catalogue only
	ModelDamaged      Cause = "model_damaged"       // its file is not the one that was installed from the catalogue
	ImportDamaged     Cause = "import_damaged"      // its file is not the one that was imported
	ModelUnrecorded   Cause = "model_unrecorded"    // it was put into the folder by hand
	ModelBundled      Cause = "model_bundled"       // it is part of the program and has no file
	ModelLicence      Cause = "model_licence"       // its licence must be accepted first
	ModelExists       Cause = "model_exists"        // another network has that name
	ModelOther        Cause = "model_other"         // the catalogue has another network of that name
	ModelSidecar      Cause = "model_sidecar"       // the .json file beside it cannot be used
	ModelApart        Cause = "model_apart"         // its weights lie in files of their own
	ModelNotONNX      Cause = "model_not_onnx"      // the file is damaged, incomplete or no network
)

// Explain makes an *Error of an error of installing, finding or opening models
// and ONNX Runtime, as Remove does, and of a file that is not there. Other errors, and nil, are returned
// unchanged.
func Explain(err error) error {
	if err == nil || errors.As(err, new(*Error)) {
		return err
	}
	if e := networkError("", err); e.Cause != "" || e.Kind == NotFound {
		return e
	}
	return err
}

// networkError makes an Error of err, about the file at path if there is one. Its
// cause is one of models or ONNX Runtime, or none. Without a path it may be about a
// file that is not there.
func networkError(path string, err error) *Error {
	e := &Error{Path: path, Reason: err.Error(), Err: err}
	e.Kind, e.Cause, e.Name = runtimeCause(err)
	if e.Cause == "" {
		e.Kind, e.Cause, e.Name = modelCause(err)
	}
	at := (*fs.PathError)(nil)
	if path == "" && e.Cause == "" && errors.As(err, &at) && (at.Op == "open" || at.Op == "stat") && errors.Is(at, fs.ErrNotExist) {
		e.Kind, e.Path, e.Reason = NotFound, at.Path, "no such file"
	}
	return e
}

// modelCause returns the kind and the cause of an error of models, and the model's
// name. For other errors it returns Failed and no cause.
func modelCause(err error) (Kind, Cause, string) {
	var (
		name    *model.NameError
		unknown *model.UnknownError
		absent  *model.NotInstalledError
		licence *model.LicenceError
		damaged *model.DamagedError
		other   *model.OtherContentError
	)
	switch {
	case errors.As(err, &name):
		return Invalid, ModelUnknown, name.Name
	case errors.As(err, &unknown):
		return Invalid, ModelUnknown, unknown.Name
	case errors.As(err, &absent):
		return Missing, ModelNotInstalled, absent.Name
	case errors.As(err, &licence):
		return Invalid, ModelLicence, licence.Model.Name
	case errors.As(err, &damaged) && damaged.Imported:
		return Failed, ImportDamaged, damaged.Name
	case damaged != nil:
		return Failed, ModelDamaged, damaged.Name
	case errors.As(err, &other):
		return Invalid, ModelOther, other.Name
	case errors.As(err, new(*model.SidecarError)):
		return Invalid, ModelSidecar, ""
	case errors.Is(err, model.ErrBundled):
		return Invalid, ModelBundled, model.Bundled
	case errors.Is(err, model.ErrNoRecord):
		return Failed, ModelUnrecorded, ""
	case errors.Is(err, model.ErrExists):
		return Exists, ModelExists, ""
	case errors.Is(err, model.ErrExternal):
		return Invalid, ModelApart, ""
	case errors.Is(err, model.ErrNotONNX):
		return Unreadable, ModelNotONNX, ""
	}
	return Failed, "", ""
}

// runtimeCause is modelCause for ONNX Runtime. The name is the path of its library
// where one was given.
func runtimeCause(err error) (Kind, Cause, string) {
	var absent *ortlib.NotFoundError
	switch {
	case errors.As(err, &absent) && absent.Explicit != "":
		return Missing, NotRuntime, absent.Explicit
	case errors.Is(err, ortlib.ErrNotLibrary):
		return Missing, NotRuntime, ""
	case absent != nil, errors.Is(err, onnx.ErrNoRuntime):
		return Missing, NoRuntime, ""
	case errors.Is(err, onnx.ErrNoCGO):
		return Missing, NoNetworks, ""
	case errors.Is(err, onnx.ErrProcessor):
		return Missing, NoAVX, ""
	case errors.Is(err, onnx.ErrMemory):
		return Failed, NoMemory, ""
	case errors.Is(err, onnx.ErrNoGPU):
		return Missing, NoGPU, ""
	}
	return Failed, "", ""
}
