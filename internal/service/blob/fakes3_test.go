package blob_test

import (
	"fmt"
	"io"
	"net/http"
	"net/http/httptest"
	"testing"
)

// serveS3 is the URL of a bucket on a server that answers like a function.
func serveS3(t *testing.T, answer http.HandlerFunc) string {
	t.Helper()
	t.Setenv("AWS_ACCESS_KEY_ID", "test")
	t.Setenv("AWS_SECRET_ACCESS_KEY", "test")
	server := httptest.NewServer(answer)
	t.Cleanup(server.Close)
	return "s3://objects?region=us-east-1&use_path_style=true&endpoint=" + server.URL
}

// droppingS3 is a server that accepts multipart uploads and keeps nothing.
func droppingS3(t *testing.T) string {
	t.Helper()
	return serveS3(t, func(w http.ResponseWriter, r *http.Request) {
		_, _ = io.Copy(io.Discard, r.Body)
		w.Header().Set("ETag", `"0"`)
		switch q := r.URL.Query(); {
		case r.Method == http.MethodPost && q.Has("uploads"):
			fmt.Fprint(w, `<InitiateMultipartUploadResult><UploadId>1</UploadId></InitiateMultipartUploadResult>`)
		case r.Method == http.MethodPost:
			fmt.Fprint(w, `<CompleteMultipartUploadResult><ETag>"0"</ETag></CompleteMultipartUploadResult>`)
		}
	})
}

// sweptS3 is a server with two unfinished uploads. The one named gone cannot be aborted any more.
func sweptS3(t *testing.T) string {
	t.Helper()
	const gone = "gone"
	return serveS3(t, func(w http.ResponseWriter, r *http.Request) {
		switch q := r.URL.Query(); {
		case r.Method == http.MethodGet && q.Has("uploads"):
			fmt.Fprint(w, "<ListMultipartUploadsResult>")
			for _, id := range []string{gone, "there"} {
				fmt.Fprintf(w, "<Upload><Key>inputs/%s</Key><UploadId>%s</UploadId><Initiated>2020-01-01T00:00:00Z</Initiated></Upload>", id, id)
			}
			fmt.Fprint(w, "</ListMultipartUploadsResult>")
		case r.Method == http.MethodDelete && q.Get("uploadId") == gone:
			w.WriteHeader(http.StatusNotFound)
			fmt.Fprint(w, "<Error><Code>NoSuchUpload</Code></Error>")
		case r.Method == http.MethodDelete:
			w.WriteHeader(http.StatusNoContent)
		}
	})
}
