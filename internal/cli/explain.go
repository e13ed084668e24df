package cli

import (
	"errors"
	"io/fs"
	"net/http"
	"syscall"

	"github.com/bgremove/bgremove/internal/fetch"
	"github.com/bgremove/bgremove/internal/ortlib"
	"github.com/bgremove/bgremove/pkg/bgremove"
)

// explained makes an error of bgremove from an error: with a kind and a hint.
func explained(err error, kind bgremove.Kind, hint string) error {
	return &bgremove.Error{Kind: kind, Reason: err.Error(), Hint: hint, Err: err}
}

// explainFetch adds advice to errors of fetching; others are unchanged.
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
		hint = "wait until the other process ends"
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
