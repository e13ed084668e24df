package cli

import (
	"errors"
	"io/fs"
	"net/http"
	"path/filepath"
	"strings"
	"syscall"

	"github.com/bgremove/bgremove/internal/batch"
	"github.com/bgremove/bgremove/internal/network/fetch"
	"github.com/bgremove/bgremove/internal/network/ortlib"
	"github.com/bgremove/bgremove/internal/service/billing"
	"github.com/bgremove/bgremove/internal/service/deployment"
	"github.com/bgremove/bgremove/internal/service/job"
	"github.com/bgremove/bgremove/internal/service/store"
	"github.com/bgremove/bgremove/pkg/bgremove"
	"github.com/bgremove/bgremove/pkg/client"
)

// This file has all words for what a reader can do about an error at a shell: no
// other package names flags or commands. Command lines that are made of what was
// typed, or of the jobs that go on, are made in suggest.go and client_rest.go.

// The causes of errors that only commands have.
const (
	folderMissing bgremove.Cause = "folder_missing" // Path is a file that is to be in it
	fileExists    bgremove.Cause = "file_exists"
	folderGiven   bgremove.Cause = "folder_given" // in the place of a clip
	urlGiven      bgremove.Cause = "url_given"
	outputsMeet   bgremove.Cause = "outputs_meet"
	notThere      bgremove.Cause = "not_there" // a model that is to be deleted
	noDatabase    bgremove.Cause = "no_database"
	noService     bgremove.Cause = "no_service"
	notSubmitted  bgremove.Cause = "not_submitted" // for the price
	notAFile      bgremove.Cause = "not_a_file"    // that could be sent
	badExtension  bgremove.Cause = "bad_extension" // of what is to be sent
	noPlace       bgremove.Cause = "no_place"      // for what is downloaded
	watchedGone   bgremove.Cause = "watched_gone"
)

// What several hints end with.
const (
	seeDoctor = "; `bgremove doctor` shows what is found"
	useFast   = "--method fast works without it"
	makeFirst = "make it first: mkdir -p {folder}"
	getAgain  = "the file is damaged or incomplete: get it again"
)

// clipNames is what can be named as input.
var clipNames = "bgremove takes " + strings.Join(inputExtensions, " ")

// hints are what a reader can do about a cause. {path} and {folder} stand for the
// error's Path and its folder, {name} for its Name.
var hints = map[bgremove.Cause]string{
	bgremove.InputDamaged:    getAgain,
	bgremove.InputTruncated:  "get it again, or save the intact part with: ffmpeg -i INPUT OUTPUT",
	bgremove.InputNotFile:    "name a file, or - for standard input",
	bgremove.NotClip:         "the content decides, not the name; " + clipNames,
	bgremove.StillPicture:    clipNames + "; make a one-frame GIF of it with: ffmpeg -i PICTURE out.gif",
	bgremove.AnimatedPNG:     "make a GIF of it first: ffmpeg -i FILE.png FILE.gif",
	bgremove.AnimatedWebP:    "make a GIF of it first, with ImageMagick: magick FILE.webp FILE.gif",
	bgremove.SoundOnly:       "the file holds sound only; " + clipNames + " with pictures",
	bgremove.OverLimits:      "make it smaller or shorter first: ffmpeg -i INPUT -vf scale=1920:-2 OUTPUT",
	bgremove.OverChildLimits: "--sandbox auto sets no limits; in a service ask its operator",

	bgremove.OutputExists:        "--force overwrites it, -o names another",
	bgremove.OutputIsFolder:      "name a file, or move the folder away",
	bgremove.OutputNotFile:       "-o - writes to standard output",
	bgremove.OutputBrokenLink:    "remove it, or name another file",
	bgremove.OutputFolderMissing: "make the folder first",
	bgremove.OutputIsInput:       "name another output",
	bgremove.FallbackIsInput:     "name another output, or give it a background with --bg '#rrggbb'",
	bgremove.OutputTooLarge:      "make it smaller: --fps, --canvas-w, --end",
	bgremove.NoSpace:             "free some space, or name other places for both: TMPDIR is that of temporary files",

	bgremove.NoFFmpeg: "install ffmpeg 5.1 or newer (Debian: apt install ffmpeg, macOS: brew install ffmpeg, " +
		"Windows: winget install ffmpeg), or name it with --ffmpeg" + seeDoctor,
	bgremove.NoCodec:    "install an ffmpeg build with {name}" + seeDoctor,
	bgremove.NoSandbox:  "--sandbox auto uses the parts that work; `bgremove doctor` shows them",
	bgremove.NoRuntime:  "bgremove setup gets ONNX Runtime; --onnxruntime names a library of your own",
	bgremove.NotRuntime: "name ONNX Runtime's library or its folder; where none is named, that of bgremove setup is taken",
	bgremove.NoNetworks: "install a release build, or build with cgo; " + useFast,
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

	batch.NoClips:      clipNames,
	batch.NoClipsOnTop: clipNames + "; --recursive also searches subfolders",
	batch.OnlyOutputs:  "name the original clips",
	batch.Forbidden:    "its permissions must let you read it",
	batch.OutIsFile:    "--out names the folder of the outputs",
	batch.OutReadOnly:  "--out names another one",

	folderMissing: makeFirst,
	fileExists:    "--force overwrites it",
	folderGiven:   "bgremove batch {path} --out FOLDER takes all clips in it",
	urlGiven:      "download it first: curl -LO {path}",
	outputsMeet:   "rename one of them, or give their folders an --out each",
	notThere:      "bgremove models list shows what is installed",
	noDatabase:    "--data or --database names that of the service",
	noService:     "--server or BGREMOVE_SERVER gives its address",
	notSubmitted:  "--yes submits them without a question",
	notAFile:      "name a file; bgremove client batch takes folders",
	badExtension:  "the service checks the name first: rename the file if it is one of these",
	noPlace:       "name another place with -o or --out",
	watchedGone:   "the watch continues when the folder is back",
}

// hinted is an error with a hint of its own.
type hinted struct {
	err  error
	hint string
}

func (e *hinted) Error() string { return e.err.Error() }

func (e *hinted) Unwrap() error { return e.err }

// explained puts an error into bgremove's words: its kind and what to do.
func explained(err error, kind bgremove.Kind, hint string) error {
	return &hinted{&bgremove.Error{Kind: kind, Reason: err.Error(), Err: err}, hint}
}

// hintOf is what the reader can do about an error; it may be empty.
func hintOf(err error) string {
	var (
		own   *hinted
		known *bgremove.Error
	)
	switch {
	case errors.As(err, &own):
		return own.hint
	case errors.As(err, &known) && known.Cause != "":
		return hintOfCause(known)
	}
	return storageHint(err)
}

func hintOfCause(e *bgremove.Error) string {
	hint := strings.NewReplacer("{path}", quoted(e.Path), "{folder}", quoted(filepath.Dir(e.Path)), "{name}", e.Name).Replace(hints[e.Cause])
	if e.Without == bgremove.Fast && !strings.HasSuffix(hint, useFast) {
		hint += "; " + useFast
	}
	return hint
}

// storageHint is what to do about a database and a storage that are not those of
// one service.
func storageHint(err error) string {
	switch {
	case errors.As(err, new(*deployment.MismatchError)):
		return "check --data, --database and --storage; `bgremove admin storage adopt` makes the storage this database's"
	case errors.Is(err, store.ErrNoSnapshot):
		return "docs/operations.md lists the commands for PostgreSQL and S3"
	case errors.Is(err, job.ErrBusy):
		return "try again once they have ended"
	case errors.Is(err, billing.ErrSubscribed):
		return "end it in Stripe, and try again"
	}
	return ""
}

// explainFetch says what to do about errors of fetching; others stay as they
// are.
func explainFetch(err error) error {
	var (
		known  *bgremove.Error
		status *fetch.StatusError
		page   *fetch.PageError
		size   *fetch.SizeError
		short  *fetch.TruncatedError
		digest *fetch.DigestError
		npm    *ortlib.NPMError
		remote *fetch.UnreachableError
	)
	hint := ""
	switch {
	case err == nil, errors.As(err, &known):
		return err
	case errors.Is(err, ortlib.ErrPlatform):
		return explained(err, bgremove.Missing, "build or install ONNX Runtime and name its library with --onnxruntime")
	case errors.Is(err, syscall.ENOSPC):
		hint = "free some space, or name another folder"
	case errors.As(err, &page):
		hint = "sign in to the network or use another mirror with --from"
	case errors.As(err, &digest), errors.As(err, &size):
		hint = "it was not installed; the source holds another file: try --from another mirror"
	case errors.As(err, &short), errors.Is(err, fetch.ErrStalled):
		hint = "run it again: it continues where it stopped"
	case errors.As(err, &status) && status.Code == http.StatusNotFound:
		hint = "the file is not there; --from names a mirror, a folder or a file"
	case errors.As(err, &status), errors.Is(err, fetch.ErrRedirect):
		hint = "try later, or name a mirror, folder or file with --from"
	case errors.As(err, &remote):
		hint = "check the network and its proxy, or name a mirror, folder or file with --from"
	case errors.Is(err, fetch.ErrBusy):
		hint = "wait for the other one to end"
	case errors.Is(err, fetch.ErrNoDigest):
		hint = "--sha256 gives its digest, if you know it"
	case errors.Is(err, ortlib.ErrArchive), errors.Is(err, ortlib.ErrNoLibrary), errors.Is(err, ortlib.ErrNotLibrary):
		hint = "name the archive of this system's official release with --from"
	case errors.As(err, &npm):
		hint = "get the archive on another machine and name it with --from"
	case errors.Is(err, fs.ErrExist):
		return explained(err, bgremove.Exists, "name another file")
	default:
		return err
	}
	return explained(err, bgremove.Failed, hint)
}

// serviceHint is what to do about an error of package client.
func serviceHint(err error) string {
	for _, row := range serviceHints {
		if errors.Is(err, row.err) {
			return row.hint
		}
	}
	var connection *client.ConnectionError
	switch {
	case errors.As(err, new(*client.InsufficientCreditsError)):
		return "get credits, or send less; refused files are not charged"
	case errors.As(err, new(*client.UnexpectedError)):
		return "--server must be the address of a bgremove service, without /api; is there a proxy or a sign-in page before it?"
	case errors.As(err, &connection) && !connection.Connected:
		return "is --server right, and does the service run?"
	case passing(err):
		return "run it again in a while"
	case errors.As(err, new(*client.ServiceError)):
		return "report it to the operator of the service, with the request's id"
	case errors.As(err, new(*client.JobFailedError)):
		return "its credits were given back; bgremove remove on the file may say more"
	}
	return ""
}

var serviceHints = []struct {
	err  error
	hint string
}{
	{client.ErrKey, "BGREMOVE_API_KEY, or api-key in the user's bgremove.yaml, must hold it"},
	{client.ErrUnauthorized, "BGREMOVE_API_KEY must hold a key of this service; this one is wrong or was revoked"},
	{client.ErrNotFound, "only the key that created it can see it, on the --server where it was created"},
	{client.ErrNotReady, "bgremove client wait waits for it"},
	{client.ErrExpired, "results are kept for some days only: submit the file again"},
	{client.ErrUnreadable, "nothing was charged; bgremove probe on the file says what is wrong with it"},
	{client.ErrTooLarge, "nothing was charged; send a smaller clip"},
	{client.ErrConflict, "give another --idempotency-key, or exactly the same files and options as before"},
	{client.ErrDigest, "run it again"},
}

// passwordHint is for an account that was made without a password.
func passwordHint(email string) string {
	return "bgremove admin account reset " + email + " gives it a password for the dashboard"
}

// noteHints are what to do about a note.
var noteHints = map[bgremove.NoteCode]string{
	bgremove.GIFInstead: "--bg '#rrggbb' prevents that",
}

// noteText is a note in a line, with the names of flags.
func noteText(n bgremove.Note) string {
	n.Field = flagOf(n.Field)
	if hint := noteHints[n.Code]; hint != "" {
		return n.String() + "; " + hint
	}
	return n.String()
}

// advices are what helps against a warning of what a method made.
var advices = map[bgremove.Method]map[bgremove.WarningCode]string{
	bgremove.Fast: {
		bgremove.NothingRemoved: "--method rembg, a wider --tolerance, or --key with its colour",
		bgremove.NothingLeft:    "a narrower --tolerance, or --method rembg",
		bgremove.Halo:           "a wider --tolerance, or --method rembg",
		bgremove.Fragments:      "--method rembg, or a wider --tolerance",
		bgremove.Haze:           "--method rembg",
		bgremove.Flicker:        "--method rembg",
	},
	bgremove.Rembg: {
		bgremove.NothingRemoved: "another --model, or --method fast where the backdrop is of one colour",
		bgremove.NothingLeft:    "another --model, or --method fast where the backdrop is of one colour",
		bgremove.Fragments:      "another --model",
		bgremove.Haze:           "another --model",
		bgremove.Flicker:        "another --model",
	},
}

// advice is what to try after a warning, if anything helps.
func advice(code bgremove.WarningCode, method bgremove.Method) string {
	if try := advices[method][code]; try != "" {
		return "; try " + try
	}
	return ""
}
