package bucket

import (
	"context"
	"errors"
	"net/http"
	"strings"
	"syscall"

	"github.com/Azure/azure-sdk-for-go/sdk/azcore"
	"github.com/aws/smithy-go"
	"gocloud.dev/gcerrors"

	"github.com/bgremove/bgremove/pkg/bgremove"
)

// The causes of this package's errors.
const (
	UnknownScheme bgremove.Cause = "unknown_scheme" // Name is the scheme
	BadAddress    bgremove.Cause = "bad_address"
	NoBucket      bgremove.Cause = "no_bucket"
	Refused       bgremove.Cause = "storage_refused"       // the storage lets nobody list or read with these credentials
	WriteRefused  bgremove.Cause = "storage_write_refused" // or write
	StorageFailed bgremove.Cause = "storage_failed"
)

// refusals are error codes of S3 beyond those that gocloud.dev knows.
var refusals = map[string]bool{
	"InvalidAccessKeyId": true, "SignatureDoesNotMatch": true, "ExpiredToken": true, "InvalidToken": true,
}

// explain is an error about an object or a folder; refused is the cause where the
// credentials do not suffice. The end of a context stays as it is.
func explain(address string, refused bgremove.Cause, err error) error {
	var (
		api   smithy.APIError
		azure *azcore.ResponseError
	)
	switch {
	case err == nil:
		return nil
	case errors.Is(err, context.Canceled), errors.Is(err, context.DeadlineExceeded), gcerrors.Code(err) == gcerrors.Canceled:
		return err
	case errors.Is(err, syscall.ENOSPC):
		return &bgremove.Error{Kind: bgremove.Failed, Cause: bgremove.NoSpace, Path: address, Reason: "there is no space for a temporary copy", Err: err}
	case gcerrors.Code(err) == gcerrors.PermissionDenied, errors.As(err, &api) && refusals[api.ErrorCode()],
		errors.As(err, &azure) && azure.StatusCode == http.StatusForbidden:
		return &bgremove.Error{Kind: bgremove.Failed, Cause: refused, Path: address, Reason: "the storage refuses access", Err: err}
	}
	return &bgremove.Error{Kind: bgremove.Failed, Cause: StorageFailed, Path: address, Reason: "storage: " + oneLine(err), Err: err}
}

// messageLength bounds the words of other programs in an error, in bytes.
const messageLength = 400

// oneLine is the text of an error of a library. Some have many lines.
func oneLine(err error) string {
	text := strings.Join(strings.Fields(err.Error()), " ")
	if len(text) > messageLength {
		text = strings.ToValidUTF8(text[:messageLength], "") + "…"
	}
	return text
}
