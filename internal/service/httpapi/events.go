package httpapi

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"net/http"
	"strconv"
	"time"

	"github.com/bgremove/bgremove/internal/service/job"
	"github.com/bgremove/bgremove/internal/service/session"
	"github.com/bgremove/bgremove/pkg/api"
)

// reconnectDelay is what browsers are asked to wait before they come back.
const reconnectDelay = 2 * time.Second

// StreamJobs streams every change of the account's jobs as it happens.
func (o operations) StreamJobs(ctx context.Context, in api.StreamJobsRequestObject) (api.StreamJobsResponseObject, error) {
	r := requestFrom(ctx)
	s := &stream{api: o.API, request: r, check: func() error { return o.Sessions.Check(ctx) }}
	if r.Method == http.MethodHead {
		return s, nil
	}
	after := int64(-1)
	if seen := in.Params.LastEventID; seen != nil {
		after = eventNumber(*seen)
	}
	var err error
	s.follower, err = o.Feed.Follow(ctx, r.account.ID, after)
	return s, err
}

// eventNumber is the number of the browser's last event. An invalid one becomes
// a number that no account has, so the browser is told to start again.
func eventNumber(id string) int64 {
	n, ok := parseDigits(id)
	if !ok {
		return 1<<63 - 1
	}
	return n
}

// stream is an answer of server-sent events (HTML, section 9.2). It ends when
// the browser goes, the session ends, the browser is too slow or the service
// stops; browsers come back by themselves.
type stream struct {
	api      *API
	request  *request
	check    func() error  // of the session
	follower *job.Follower // nil for HEAD
	out      http.ResponseWriter
	control  *http.ResponseController
}

// VisitStreamJobsResponse implements api.StreamJobsResponseObject.
func (s *stream) VisitStreamJobsResponse(w http.ResponseWriter) error {
	w.Header().Set("Content-Type", "text/event-stream")
	w.Header().Set("X-Accel-Buffering", "no") // nginx would wait for more
	w.WriteHeader(http.StatusOK)
	if s.follower == nil {
		return nil
	}
	defer s.follower.Close()
	s.out, s.control = w, http.NewResponseController(w)
	// At once, so that a reconnecting browser sees that the stream is open.
	err := s.write(fmt.Sprintf("retry: %d\n\n", reconnectDelay.Milliseconds()))
	if err == nil && s.request.Header.Get("Last-Event-Id") == "" {
		err = s.send("ready", struct{}{})
	}
	if err != nil {
		return nil // the browser has gone, as below
	}
	for next := time.Now().Add(s.api.KeepAlive); ; {
		err := s.forward(next)
		if errors.Is(err, context.DeadlineExceeded) && s.request.Context().Err() == nil {
			next = time.Now().Add(s.api.KeepAlive)
			err = s.keepAlive()
		}
		if err != nil {
			s.request.failure = unexpected(err)
			return nil
		}
	}
}

// forward sends the next event, if it comes by a time.
func (s *stream) forward(by time.Time) error {
	ctx, cancel := context.WithDeadline(s.request.Context(), by)
	defer cancel()
	e, err := s.follower.Next(ctx)
	switch {
	case errors.Is(err, job.ErrGap):
		return s.send("reset", struct{}{})
	case err != nil:
		return err
	}
	return s.send("job", accountJobBody(e.Job))
}

// send writes an event with the number by which a browser comes back.
func (s *stream) send(event string, data any) error {
	text, err := json.Marshal(data)
	if err != nil {
		return err
	}
	return s.write(fmt.Sprintf("id: %d\nevent: %s\ndata: %s\n\n", s.follower.Last(), event, text))
}

// keepAlive writes a comment, so that proxies do not consider the connection
// dead, and checks whether the session is still valid.
func (s *stream) keepAlive() error {
	if err := s.check(); errors.Is(err, session.ErrNone) {
		return err
	}
	return s.write(": " + strconv.FormatInt(s.follower.Last(), 10) + "\n\n")
}

func (s *stream) write(text string) error {
	if _, err := s.out.Write([]byte(text)); err != nil {
		return errClientGone
	}
	if err := s.control.Flush(); err != nil {
		return errClientGone
	}
	return nil
}

// errClientGone is a browser that has hung up or does not read.
var errClientGone = errors.New("the client has gone")

// unexpected is an error that is not how streams end, for the log.
func unexpected(err error) error {
	if isAny(errClientGone, context.Canceled, job.ErrCutOff, session.ErrNone)(err) {
		return nil
	}
	return err
}
