package client

import (
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"mime"
	"net/http"
	"net/http/httptrace"
	"net/url"
	"strings"
	"time"
	"unicode"

	"github.com/bgremove/bgremove/pkg/api"
)

// maxAnswer bounds the JSON read from an answer; ours are a few kB.
const maxAnswer = 1 << 20

// ask sends one request and returns the answer's head. The error is a
// *ConnectionError, or of the context.
func (c *Client) ask(ctx context.Context, send func(context.Context) (*http.Response, error)) (*http.Response, error) {
	connected := false
	trace := &httptrace.ClientTrace{GotConn: func(httptrace.GotConnInfo) { connected = true }}
	resp, err := send(httptrace.WithClientTrace(ctx, trace))
	if err != nil {
		return nil, c.broken(ctx, err, connected)
	}
	c.answered.Store(true)
	return resp, nil
}

// errStalled is the cause of a context that a server's silence ended.
var errStalled = errors.New("the server has stopped sending")

// broken is an answer that did not come to its end.
func (c *Client) broken(ctx context.Context, err error, connected bool) error {
	if cause := context.Cause(ctx); errors.Is(cause, errStalled) {
		err = cause
	} else if cause != nil {
		return cause
	}
	if wrapped := (*url.Error)(nil); errors.As(err, &wrapped) {
		err = wrapped.Err
	}
	return &ConnectionError{Server: c.server, Connected: connected, Err: err}
}

// decode reads an answer in JSON: v if its status is the wanted one, else the
// error that it says.
func (c *Client) decode(ctx context.Context, resp *http.Response, status int, v any) error {
	defer resp.Body.Close()
	body, err := io.ReadAll(io.LimitReader(resp.Body, maxAnswer+1))
	if err != nil {
		return c.broken(ctx, err, true)
	}
	if resp.StatusCode != status {
		return c.refusal(resp, body)
	}
	if !isJSON(resp) || len(body) > maxAnswer {
		return unexpected(resp)
	}
	if body, err = harmless(body); err == nil {
		err = json.Unmarshal(body, v)
	}
	if err != nil {
		return c.broken(ctx, cut(err), true)
	}
	return nil
}

// harmless is an answer in JSON without what in its texts could steer a terminal
// or turn a line around: ids, names and codes are shown as they come.
func harmless(body []byte) ([]byte, error) {
	var v any
	in := json.NewDecoder(bytes.NewReader(body))
	in.UseNumber()
	if err := in.Decode(&v); err != nil {
		return nil, err
	}
	if _, err := in.Token(); err != io.EOF {
		return nil, errors.New("more data follow")
	}
	return json.Marshal(printed(v))
}

// printed is a JSON value with only printable texts.
func printed(v any) any {
	switch v := v.(type) {
	case string:
		return printable(v)
	case []any:
		for i := range v {
			v[i] = printed(v[i])
		}
	case map[string]any:
		for key := range v {
			v[key] = printed(v[key])
		}
	}
	return v
}

// cut explains JSON that does not parse. Most likely it was truncated on its
// way.
func cut(err error) error { return fmt.Errorf("the answer is truncated or garbled: %w", err) }

// refusal is the error of an answer that is none of success.
func (c *Client) refusal(resp *http.Response, body []byte) error {
	after := retryAfter(resp.Header)
	switch resp.StatusCode { // these are also what proxies say, in their own words
	case http.StatusTooManyRequests:
		return &RateLimitedError{after}
	case http.StatusRequestTimeout, http.StatusTooEarly, http.StatusBadGateway, http.StatusServiceUnavailable, http.StatusGatewayTimeout:
		return &UnavailableError{resp.StatusCode, after}
	}
	var e api.Error
	if !isJSON(resp) && resp.StatusCode >= http.StatusInternalServerError { // a proxy's, before a service that may have done its part
		return &UnavailableError{resp.StatusCode, after}
	}
	if !isJSON(resp) {
		return unexpected(resp)
	}
	if err := json.Unmarshal(body, &e); err != nil {
		return &ConnectionError{Server: c.server, Connected: true, Err: cut(err)}
	}
	if e.Error == "" {
		return unexpected(resp)
	}
	return named(resp, e, after)
}

// named is the error of a code.
func named(resp *http.Response, e api.Error, after time.Duration) error {
	switch e.Error {
	case api.ErrorCodeUnauthorized:
		return ErrUnauthorized
	case api.ErrorCodeNotFound:
		return ErrNotFound
	case api.ErrorCodeUnreadableFile:
		return ErrUnreadable
	case api.ErrorCodePayloadTooLarge:
		return ErrTooLarge
	case api.ErrorCodeInsufficientCredits:
		return &InsufficientCreditsError{value(e.CreditsRemaining)}
	case api.ErrorCodeBadRequest:
		return &BadRequestError{Message: printable(value(e.Message)), Field: printable(value(e.Field))}
	case api.ErrorCodeIdempotencyConflict:
		if after > 0 {
			return &busyError{after}
		}
		return ErrConflict
	}
	id := value(e.RequestID)
	if id == "" {
		id = resp.Header.Get("X-Request-Id")
	}
	return &ServiceError{Status: resp.StatusCode, Code: api.ErrorCode(printable(string(e.Error))), RequestID: printable(id)}
}

// printable keeps a foreign server's text from controlling a terminal.
func printable(s string) string {
	return strings.Map(func(r rune) rune {
		if unicode.In(r, unicode.Cc, unicode.Zl, unicode.Zp, unicode.Bidi_Control) {
			return -1
		}
		return r
	}, s)
}

// value is what p points to, or nothing.
func value[T any](p *T) (v T) {
	if p != nil {
		v = *p
	}
	return v
}

func unexpected(resp *http.Response) error {
	return &UnexpectedError{
		Method: resp.Request.Method, URL: resp.Request.URL.Redacted(), Status: resp.StatusCode,
		ContentType: mediaType(resp), Location: printable(resp.Header.Get("Location")),
	}
}

func isJSON(resp *http.Response) bool { return mediaType(resp) == "application/json" }

func mediaType(resp *http.Response) string {
	kind, _, err := mime.ParseMediaType(resp.Header.Get("Content-Type"))
	if err != nil {
		return ""
	}
	return kind
}
