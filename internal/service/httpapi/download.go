package httpapi

import (
	"context"
	"fmt"
	"io"
	"net/http"
	"path"
	"strconv"
	"strings"

	"github.com/bgremove/bgremove/internal/service/blob"
	"github.com/bgremove/bgremove/internal/service/job"
	"github.com/bgremove/bgremove/pkg/api"
	"github.com/bgremove/bgremove/pkg/option"
)

// file is an answer that streams a file of a job, or the part of it that is
// asked for. It answers seven operations.
type file struct {
	blobs       *blob.Store
	request     *request
	file        job.File
	mediaType   string
	disposition string
}

// GetDownload streams the output.
func (o operations) GetDownload(ctx context.Context, in api.GetDownloadRequestObject) (api.GetDownloadResponseObject, error) {
	return o.output(ctx, in.ID)
}

// HeadDownload describes the output.
func (o operations) HeadDownload(ctx context.Context, in api.HeadDownloadRequestObject) (api.HeadDownloadResponseObject, error) {
	return o.output(ctx, in.ID)
}

// GetPreview streams the preview.
func (o operations) GetPreview(ctx context.Context, in api.GetPreviewRequestObject) (api.GetPreviewResponseObject, error) {
	return o.preview(ctx, in.ID)
}

// HeadPreview describes the preview.
func (o operations) HeadPreview(ctx context.Context, in api.HeadPreviewRequestObject) (api.HeadPreviewResponseObject, error) {
	return o.preview(ctx, in.ID)
}

// GetAccountDownload streams the output.
func (o operations) GetAccountDownload(ctx context.Context, in api.GetAccountDownloadRequestObject) (api.GetAccountDownloadResponseObject, error) {
	return o.output(ctx, in.ID)
}

// GetAccountPreview streams the preview.
func (o operations) GetAccountPreview(ctx context.Context, in api.GetAccountPreviewRequestObject) (api.GetAccountPreviewResponseObject, error) {
	return o.preview(ctx, in.ID)
}

// GetAccountInput streams the original.
func (o operations) GetAccountInput(ctx context.Context, in api.GetAccountInputRequestObject) (api.GetAccountInputResponseObject, error) {
	return o.input(ctx, in.ID)
}

func (o operations) output(ctx context.Context, id string) (*file, error) {
	found, err := o.Jobs.Get(ctx, requestFrom(ctx).owner, id)
	if err != nil {
		return nil, err
	}
	if found.State != job.Done || found.Output == nil {
		return nil, job.ErrNotFound
	}
	return &file{
		blobs: o.Blobs, request: requestFrom(ctx), file: *found.Output, mediaType: found.OutputFormat.MediaType(),
		disposition: disposition("attachment", found.OutputFormat.OutputName(stem(found.OriginalName))),
	}, nil
}

func (o operations) preview(ctx context.Context, id string) (*file, error) {
	found, err := o.Jobs.Get(ctx, requestFrom(ctx).owner, id)
	if err != nil {
		return nil, err
	}
	if found.Preview == nil {
		return nil, job.ErrNotFound
	}
	return &file{
		blobs: o.Blobs, request: requestFrom(ctx), file: *found.Preview, mediaType: "image/png",
		disposition: disposition("inline", option.PNG.OutputName(stem(found.OriginalName))),
	}, nil
}

// input is the original. A browser never displays a file that is not a clip.
func (o operations) input(ctx context.Context, id string) (*file, error) {
	found, err := o.Jobs.Get(ctx, requestFrom(ctx).owner, id)
	if err != nil {
		return nil, err
	}
	if found.Input == nil {
		return nil, job.ErrNotFound
	}
	f := &file{blobs: o.Blobs, request: requestFrom(ctx), file: *found.Input, mediaType: found.Media.Type, disposition: disposition("inline", found.OriginalName)}
	if f.mediaType == "" {
		f.mediaType, f.disposition = "application/octet-stream", disposition("attachment", found.OriginalName)
	}
	return f, nil
}

// stem is a name without its extension.
func stem(name string) string { return strings.TrimSuffix(name, path.Ext(name)) }

// send answers. An error before the answer has begun is for Refuse.
func (f *file) send(w http.ResponseWriter) error {
	etag := `"` + f.file.SHA256 + `"`
	r := f.request
	if etagMatches(r.Header, etag) {
		f.header(w.Header(), etag)
		w.WriteHeader(http.StatusNotModified)
		return nil
	}
	p, partial := byteRange{0, f.file.Size}, false
	if r.Method != http.MethodHead { // for which ranges mean nothing
		var err error
		if p, partial, err = requestedRange(r.Header, etag, f.file.Size); err != nil {
			return err
		}
	}
	var content io.ReadCloser = http.NoBody
	if r.Method != http.MethodHead {
		var err error
		if content, err = f.blobs.Open(r.Context(), f.file.Key, p.offset, p.length); err != nil {
			return err
		}
	}
	defer content.Close()
	f.header(w.Header(), etag)
	w.Header().Set("Content-Type", f.mediaType)
	w.Header().Set("Content-Length", strconv.FormatInt(p.length, 10))
	status := http.StatusOK
	if partial {
		status = http.StatusPartialContent
		w.Header().Set("Content-Range", fmt.Sprintf("bytes %d-%d/%d", p.offset, p.offset+p.length-1, f.file.Size))
	}
	w.WriteHeader(status)
	_, err := io.Copy(w, content)
	return err
}

func (f *file) header(h http.Header, etag string) {
	h.Set("ETag", etag)
	h.Set("Accept-Ranges", "bytes")
	h.Set("Cache-Control", "private, no-cache") // kept by the client, asked for each time
	h.Set("Content-Disposition", f.disposition)
}

// VisitGetDownloadResponse implements api.GetDownloadResponseObject.
func (f *file) VisitGetDownloadResponse(w http.ResponseWriter) error { return f.send(w) }

// VisitHeadDownloadResponse implements api.HeadDownloadResponseObject.
func (f *file) VisitHeadDownloadResponse(w http.ResponseWriter) error { return f.send(w) }

// VisitGetPreviewResponse implements api.GetPreviewResponseObject.
func (f *file) VisitGetPreviewResponse(w http.ResponseWriter) error { return f.send(w) }

// VisitHeadPreviewResponse implements api.HeadPreviewResponseObject.
func (f *file) VisitHeadPreviewResponse(w http.ResponseWriter) error { return f.send(w) }

// VisitGetAccountDownloadResponse implements api.GetAccountDownloadResponseObject.
func (f *file) VisitGetAccountDownloadResponse(w http.ResponseWriter) error { return f.send(w) }

// VisitGetAccountPreviewResponse implements api.GetAccountPreviewResponseObject.
func (f *file) VisitGetAccountPreviewResponse(w http.ResponseWriter) error { return f.send(w) }

// VisitGetAccountInputResponse implements api.GetAccountInputResponseObject.
func (f *file) VisitGetAccountInputResponse(w http.ResponseWriter) error { return f.send(w) }
