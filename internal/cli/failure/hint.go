package failure

import (
	"cmp"
	"errors"
	"path/filepath"
	"strings"

	"github.com/bgremove/bgremove/internal/batch"
	"github.com/bgremove/bgremove/internal/bucket"
	"github.com/bgremove/bgremove/internal/cli/flags"
	"github.com/bgremove/bgremove/internal/cli/packager"
	"github.com/bgremove/bgremove/internal/cli/term"
	"github.com/bgremove/bgremove/pkg/bgremove"
	"github.com/bgremove/bgremove/pkg/option"
)

// This file says what a reader at a shell can do about a cause, wherever an error
// with it comes from. Hints about the errors of other packages are where commands
// call these: in hint.go of cli, and in explain.go of clientcmd.

// The causes of errors that only commands have.
const (
	FolderMissing  bgremove.Cause = "folder_missing" // Path is a file that is to be in it
	FileExists     bgremove.Cause = "file_exists"
	FolderGiven    bgremove.Cause = "folder_given"  // in the place of a clip
	PatternGiven   bgremove.Cause = "pattern_given" // in the place of a clip
	URLGiven       bgremove.Cause = "url_given"
	OutputsCollide bgremove.Cause = "outputs_meet"
	ModelAbsent    bgremove.Cause = "not_there" // a model that is to be deleted
	NoDatabase     bgremove.Cause = "no_database"
	NoService      bgremove.Cause = "no_service"
	NotSubmitted   bgremove.Cause = "not_submitted" // for the price
	NotAFile       bgremove.Cause = "not_a_file"    // that could be sent
	BadExtension   bgremove.Cause = "bad_extension" // of what is for a service, or for edit
	FolderGone     bgremove.Cause = "watched_gone"
)

// What several hints end with.
const (
	SeeDoctor       = "; `bgremove doctor` shows what is found"
	useFast         = "--method fast works without it"
	makeFolderFirst = "make it first: mkdir -p {folder}"
	letMeRead       = "its permissions must let you read it"
	downloadAgain   = "the file is damaged or incomplete: get it again"
)

// credentials are those of storage.
const credentials = "credentials come from the environment, such as AWS_ACCESS_KEY_ID or AZURE_STORAGE_ACCOUNT"

// clipNames is what can be named as input.
var clipNames = "bgremove takes " + strings.Join(option.InputExtensions(), " ")

// hints are what a reader can do about a cause. {path} and {folder} stand for the
// error's Path and its folder, {name} for its Name, and {install} for the command
// that installs ffmpeg here.
var hints = map[bgremove.Cause]string{
	bgremove.InputDamaged:    downloadAgain,
	bgremove.InputTruncated:  "get it again, or save the intact part with: ffmpeg -i INPUT OUTPUT",
	bgremove.InputForbidden:  letMeRead,
	bgremove.InputNotFile:    "name a file, or - for standard input",
	bgremove.NotPicture:      "name a picture or a clip with --bg",
	bgremove.NotClip:         "the content decides, not the name; " + clipNames + "; ffmpeg converts others: ffmpeg -i FILE out.mkv",
	bgremove.BadSequence:     "number still pictures of one size without gaps; bgremove batch takes them one by one",
	bgremove.HEIFPicture:     "make a JPEG of it first: heif-convert FILE.heic FILE.jpg, or sips -s format jpeg FILE.heic --out FILE.jpg on macOS",
	bgremove.SoundOnly:       "the file holds sound only; " + clipNames + " with pictures",
	bgremove.SoundUnreadable: "--no-audio leaves the sound out",
	bgremove.OverLimits:      "make it smaller or shorter first: ffmpeg -i INPUT -vf scale=1920:-2 OUTPUT",
	bgremove.OverChildLimits: "--sandbox auto sets no limits; in a service ask its operator",

	bgremove.OutputExists:        "--force overwrites it; or name another file",
	bgremove.OutputIsFolder:      "name a file, or move the folder away",
	bgremove.OutputNotFile:       "-o - writes to standard output",
	bgremove.OutputBrokenLink:    "remove it, or name another file",
	bgremove.OutputFolderMissing: "make the folder first",
	bgremove.OutputNotCreated:    "name another place with -o or --out",
	bgremove.OutputIsInput:       "name another output",
	bgremove.VideoOfPicture:      "--format png, webp, apng or gif; without --format a picture becomes a PNG",
	bgremove.PictureOfClip:       "--frame TIME chooses one of them, -o 'f%04d.png' writes all, --format apng holds them, losslessly",
	bgremove.BadPattern:          "such as -o 'f%04d.png' or -o 'f%d.webp'",
	bgremove.FallbackIsInput:     "name another output, or give it a background with --bg '#rrggbb'",
	bgremove.OutputTooLarge:      "make it smaller: --fps, --canvas-w, --end",
	bgremove.SheetFrameTooLarge:  "make frames smaller with --canvas-w, or pages larger with --sheet-max",
	bgremove.SheetPages:          "--sheet-data texturepacker describes several; or make frames smaller with --canvas-w",
	bgremove.SizeNotReached:      "start from less: --canvas-w, --fps, --end",
	bgremove.PresetNotKept:       "choose another part with --start and --end, or fewer frames with --fps",
	bgremove.NoSpace:             "free some space, or name other places for both: TMPDIR is that of temporary files",

	bgremove.NoFFmpeg:   "install ffmpeg 5.1 or newer: {install}; or name it with --ffmpeg" + SeeDoctor,
	bgremove.NoCodec:    "install an ffmpeg build with {name}" + SeeDoctor,
	bgremove.NotMacOS:   "make it on a Mac, or use --format stacked for Safari",
	bgremove.NoSandbox:  "--sandbox auto uses the parts that work; `bgremove doctor` shows them",
	bgremove.NoRuntime:  "bgremove setup gets ONNX Runtime; --onnxruntime names a library of your own",
	bgremove.NotRuntime: "name ONNX Runtime's library or its folder; where none is named, that of bgremove setup is taken",
	bgremove.NoNetworks: "install a release build, or a C compiler (Debian: gcc and libc6-dev) and build again; " + useFast,
	bgremove.NoAVX:      useFast,
	bgremove.NoGPU:      "name a GPU build of ONNX Runtime with --onnxruntime, or leave out --require-gpu",
	bgremove.NoMemory:   "close other programs, or choose a smaller network: bgremove models list shows sizes",

	bgremove.ModelUnknown:      "bgremove models list shows what there is; a path that ends in .onnx names any other network",
	bgremove.ModelNotInstalled: "bgremove models pull {name}",
	bgremove.ModelDamaged:      "bgremove models pull {name} gets it again",
	bgremove.ImportDamaged:     "bgremove models import FILE --name {name} mends it, from the file it came from",
	bgremove.ModelUnrecorded:   "move it out of the folder of models and import it",
	bgremove.ModelBundled:      "it is always there: --model {name}",
	bgremove.ModelLicence:      "--accept-license accepts it; see bgremove models list for others",
	bgremove.ModelExists:       "--name gives it another name",
	bgremove.ModelOther:        "--name gives it a name of its own; bgremove models pull {name} gets the catalogue's",
	bgremove.ModelSidecar:      "correct the file or move it away",
	bgremove.ModelApart:        "use it where it lies, --model FOLDER/FILE.onnx, or import a file that holds its weights",
	bgremove.ModelNotONNX:      "the file is damaged, incomplete or no ONNX model: get it again",

	batch.NoClips:          "bgremove takes {name}",
	batch.NoClipsOnTop:     "bgremove takes {name}; --recursive also searches subfolders",
	batch.OnlyOutputs:      "name the original clips",
	batch.Forbidden:        letMeRead,
	batch.OutIsFile:        "--out names the folder of the outputs",
	batch.OutReadOnly:      "--out names another one",
	batch.BadRecord:        "delete it, or name another place with --manifest",
	batch.ManifestReadOnly: "--manifest names another one",
	batch.BadObjectName:    "give the object a name without empty parts, dots alone or backslashes",
	batch.InputChanged:     "the same command does it again",

	bucket.UnknownScheme: "s3://BUCKET/FOLDER/, azblob://CONTAINER/FOLDER/ and file:///PATH are, and gs://BUCKET/FOLDER/ in the container image and in builds with -tags gs",
	bucket.BadAddress:    "such as 's3://BUCKET/FOLDER/?region=eu-central-1'; the options are those of gocloud.dev, in quotes for the shell",
	bucket.NoBucket:      "make it first, or check its name, region and endpoint",
	bucket.Refused:       credentials + ", and must allow to list and to read",
	bucket.WriteRefused:  credentials + ", and must allow to list, to read and to write",
	bucket.StorageFailed: "check the network, region and endpoint; " + credentials,

	FolderMissing:  makeFolderFirst,
	FileExists:     "--force overwrites it",
	FolderGiven:    "bgremove batch {path} --out FOLDER takes all clips in it",
	PatternGiven:   "bgremove batch {path} --out FOLDER takes all files that match",
	URLGiven:       "download it first: curl -LO {path}",
	OutputsCollide: "rename one of them, or give their folders an --out each",
	ModelAbsent:    "bgremove models list shows what is installed",
	NoDatabase:     "--data or --database names that of the service",
	NoService:      "--server or BGREMOVE_SERVER gives its address",
	NotSubmitted:   "--yes submits them without a question",
	NotAFile:       "name a file; bgremove client batch takes folders",
	BadExtension:   "rename the file if it is one of these; others become one: ffmpeg -i {path} clip.mp4",
	FolderGone:     "the watch continues when the folder is back",
}

// hinted is an error with a hint of its own.
type hinted struct {
	err  error
	hint string
}

func (e *hinted) Error() string { return e.err.Error() }

func (e *hinted) Unwrap() error { return e.err }

// WithHint gives an error a hint of its own.
func WithHint(err error, hint string) error { return &hinted{err, hint} }

// Explain puts an error into bgremove's words: its kind and what to do.
func Explain(err error, kind bgremove.Kind, hint string) error {
	return WithHint(&bgremove.Error{Kind: kind, Reason: err.Error(), Err: err}, hint)
}

// Hint is what the reader can do about an error; it may be empty.
func Hint(err error) string {
	var (
		own   *hinted
		known *bgremove.Error
	)
	switch {
	case errors.As(err, &own):
		return own.hint
	case errors.As(err, &known) && known.Cause != "":
		return causeHint(known)
	}
	return ""
}

func causeHint(e *bgremove.Error) string {
	hint := hints[e.Cause]
	if before, after, found := strings.Cut(hint, "{install}"); found {
		hint = before + cmp.Or(packager.Here().FFmpeg(), "https://ffmpeg.org/download.html") + after
	}
	hint = strings.NewReplacer("{path}", term.Quote(e.Path), "{folder}", term.Quote(filepath.Dir(e.Path)), "{name}", e.Name).Replace(hint)
	if e.Without == bgremove.Fast && !strings.HasSuffix(hint, useFast) {
		hint += "; " + useFast
	}
	return hint
}

// noteHints are what to do about a note.
var noteHints = map[bgremove.NoteCode]string{
	bgremove.GIFInstead: "--bg '#rrggbb' prevents that",
}

// NoteText is a note in a line, with the names of flags.
func NoteText(n bgremove.Note) string {
	n.Field = flags.Name(n.Field)
	if hint := noteHints[n.Code]; hint != "" {
		return n.String() + "; " + hint
	}
	return n.String()
}
