package cli

import (
	"errors"
	"io/fs"
	"net/http"
	"syscall"

	"github.com/spf13/cobra"

	"github.com/bgremove/bgremove/internal/cli/failure"
	"github.com/bgremove/bgremove/internal/network/fetch"
	"github.com/bgremove/bgremove/internal/network/ortlib"
	"github.com/bgremove/bgremove/internal/service/billing"
	"github.com/bgremove/bgremove/internal/service/deployment"
	"github.com/bgremove/bgremove/internal/service/job"
	"github.com/bgremove/bgremove/internal/service/server"
	"github.com/bgremove/bgremove/internal/service/store"
	"github.com/bgremove/bgremove/pkg/bgremove"
)

// operatorHint is what to do about an address in use, and about a database and a storage
// that do not belong together, or belong to another user.
func operatorHint(cmd *cobra.Command, err error) string {
	switch {
	case errors.As(err, new(*deployment.MismatchError)):
		return "check --data, --database and --storage; `bgremove admin storage adopt` makes the storage this database's"
	case errors.Is(err, store.ErrNoSnapshot):
		return "docs/operations.md lists the commands for PostgreSQL and S3"
	case errors.Is(err, job.ErrBusy):
		return "try again once they have ended"
	case errors.Is(err, billing.ErrSubscribed):
		return "end it in Stripe, and try again"
	case errors.Is(err, server.ErrAddressInUse):
		return "--addr names another, and --metrics-addr that of the metrics"
	case errors.Is(err, fs.ErrPermission) && isOperators(cmd):
		return "run it as a user who may use this folder: for a service that is its own, such as sudo -u bgremove"
	}
	return ""
}

// isOperators reports whether a command works on a service's data.
func isOperators(cmd *cobra.Command) bool {
	for cmd.HasParent() && cmd.Parent().HasParent() {
		cmd = cmd.Parent()
	}
	return cmd.Name() == "serve" || cmd.Name() == "admin"
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
		return failure.Explain(err, bgremove.Missing, "build or install ONNX Runtime and name its library with --onnxruntime")
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
		return failure.Explain(err, bgremove.Exists, "name another file")
	default:
		return err
	}
	return failure.Explain(err, bgremove.Failed, hint)
}

// passwordHint is for an account that was made without a password.
func passwordHint(email string) string {
	return "bgremove admin account reset " + email + " gives it a password for the dashboard"
}

// warningHints are what helps against a warning of what a method made.
var warningHints = map[bgremove.Method]map[bgremove.WarningCode]string{
	bgremove.Fast: {
		bgremove.NothingRemoved: "--method rembg, a wider --tolerance, or --key with its colour",
		bgremove.NothingLeft:    "a narrower --tolerance, or --method rembg",
		bgremove.Halo:           "a wider --tolerance, or --method rembg",
		bgremove.Fragments:      "--largest, --method rembg, or a wider --tolerance",
		bgremove.Haze:           "--method rembg",
		bgremove.Flicker:        "--method rembg",
	},
	bgremove.Rembg: {
		bgremove.NothingRemoved: "another --model, or --method fast where the backdrop is of one colour",
		bgremove.NothingLeft:    "--keep x,y on the subject, another --model, or --method fast where the backdrop is of one colour",
		bgremove.Fragments:      "--largest, or another --model",
		bgremove.Haze:           "another --model",
		bgremove.Flicker:        "--keep x,y or --drop x,y on the part, or another --model",
	},
}

// warningHint is what to try after a warning, if anything helps.
func warningHint(code bgremove.WarningCode, method bgremove.Method) string {
	if try := warningHints[method][code]; try != "" {
		return "; try " + try
	}
	return ""
}
