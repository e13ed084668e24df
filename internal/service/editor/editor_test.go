package editor_test

import (
	"context"
	"errors"
	"image"
	"net/url"
	"path/filepath"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"github.com/bgremove/bgremove/internal/service/account"
	"github.com/bgremove/bgremove/internal/service/blob"
	"github.com/bgremove/bgremove/internal/service/editor"
	"github.com/bgremove/bgremove/internal/service/job"
	"github.com/bgremove/bgremove/internal/service/store/storetest"
	"github.com/bgremove/bgremove/pkg/option"
)

// studio studies clips when it is told to.
type studio struct {
	testing.TB
	*editor.Editors
	blobs *blob.Store
	begun chan string // the names of jobs whose study has begun
	let   chan error  // lets a study end, by an error or nil

	mu     sync.Mutex
	opened int
}

// studied is a clip of one grey.
type studied struct {
	studio *studio
	begun  bool // to follow a hint that is far away
}

// far is the time of hints that are followed the first time until the context ends.
const far = time.Hour

func (c *studied) Preview(ctx context.Context, at time.Duration, hints []option.Hint) (*image.Alpha, error) {
	if !c.begun && len(hints) > 0 && hints[0].At == far {
		c.begun = true
		<-ctx.Done()
		return nil, context.Cause(ctx)
	}
	m := image.NewAlpha(image.Rect(0, 0, 1, 1))
	m.Pix[0] = uint8(100*at.Seconds()) + uint8(len(hints))
	return m, nil
}

func (c *studied) Close() error {
	c.studio.mu.Lock()
	defer c.studio.mu.Unlock()
	c.studio.opened--
	return nil
}

// open is how many clips are open.
func (s *studio) open() int {
	s.mu.Lock()
	defer s.mu.Unlock()
	return s.opened
}

func newStudio(t *testing.T, change func(*editor.Config)) *studio {
	t.Helper()
	blobs, err := blob.Open(t.Context(), (&url.URL{Scheme: "file", Path: filepath.ToSlash(t.TempDir())}).String(), blob.DefaultOptions())
	if err != nil {
		t.Fatal(err)
	}
	s := &studio{TB: t, blobs: blobs, begun: make(chan string, 100), let: make(chan error, 100)}
	c := editor.DefaultConfig()
	c.Blobs, c.Limiter, c.Patience = blobs, account.NewLimiter(storetest.Open(t, storetest.SQLite(t))), time.Minute
	c.Study = func(ctx context.Context, _ string, o job.Options, progress func(float64)) (editor.Clip, error) {
		progress(0.5)
		s.begun <- o.Outline
		select {
		case err := <-s.let:
			if err != nil {
				return nil, err
			}
		case <-ctx.Done():
			s.begun <- o.Outline + " stopped"
			return nil, context.Cause(ctx)
		}
		s.mu.Lock()
		defer s.mu.Unlock()
		s.opened++
		return &studied{studio: s}, nil
	}
	if change != nil {
		change(&c)
	}
	s.Editors = editor.New(c)
	t.Cleanup(func() {
		if err := s.Close(); err != nil {
			t.Error(err)
		}
		if n := s.open(); n != 0 {
			t.Errorf("%d clips stay open", n)
		}
		if err := blobs.Close(); err != nil {
			t.Error(err)
		}
	})
	return s
}

// job is one of an account, with a file.
func (s *studio) job(accountID, name string) job.Job {
	s.Helper()
	upload, err := s.blobs.Receive(s.Context(), name, strings.NewReader(name), 100)
	if err != nil {
		s.Fatal(err)
	}
	upload.Release()
	return job.Job{ID: name, AccountID: accountID, Input: &job.File{Key: name}, Options: job.Options{Outline: name}}
}

func (s *studio) preview(j job.Job, hints ...option.Hint) (uint8, error) {
	m, err := s.Preview(s.Context(), j, 1500*time.Millisecond, hints)
	if err != nil {
		return 0, err
	}
	return m.Pix[0], nil
}

// shown previews a clip that is open or about to be.
func (s *studio) shown(j job.Job, hints ...option.Hint) {
	s.Helper()
	got, err := s.preview(j, hints...)
	if diff := cmp.Diff(uint8(150+len(hints)), got); err != nil || diff != "" {
		s.Errorf("%s: %v, %s", j.ID, err, diff)
	}
}

// A clip is studied once, and shows the frame and the hints that are asked for.
func TestPreview(t *testing.T) {
	t.Parallel()
	s := newStudio(t, nil)
	j := s.job("ada", "cat")
	s.let <- nil
	s.shown(j)
	s.shown(j, option.Hint{Keep: true})
	if len(s.begun) != 1 {
		t.Errorf("%d studies", len(s.begun))
	}
	j.Input = nil
	if _, err := s.preview(j); !errors.Is(err, job.ErrNotFound) {
		t.Errorf("without an input: %v", err)
	}
}

// A call while a clip is studied says how much is done, and does not wait for the end.
func TestStudying(t *testing.T) {
	t.Parallel()
	s := newStudio(t, func(c *editor.Config) { c.Patience = time.Millisecond })
	j := s.job("ada", "cat")
	for {
		_, err := s.preview(j)
		unfinished := (*editor.UnfinishedError)(nil)
		if !errors.As(err, &unfinished) {
			t.Fatal(err)
		}
		if unfinished.Share == 0.5 {
			break
		}
	}
	s.let <- nil
	for {
		_, err := s.preview(j)
		if err == nil {
			break
		}
		if !errors.As(err, new(*editor.UnfinishedError)) {
			t.Fatal(err)
		}
	}
	if len(s.begun) != 1 {
		t.Errorf("%d studies", len(s.begun))
	}
}

// A call for a frame far from its hints says that they are followed. The next call goes on.
func TestFollowing(t *testing.T) {
	t.Parallel()
	s := newStudio(t, func(c *editor.Config) { c.Follow = time.Millisecond })
	j, hint := s.job("ada", "cat"), option.Hint{Keep: true, At: far}
	s.let <- nil
	_, err := s.preview(j, hint)
	if unfinished := (*editor.UnfinishedError)(nil); !errors.As(err, &unfinished) || !unfinished.Following {
		t.Fatal(err)
	}
	s.shown(j, hint)
	if len(s.begun) != 1 {
		t.Errorf("%d studies", len(s.begun))
	}
}

// A study that has failed is told of, and tried again by the next preview.
func TestStudyFails(t *testing.T) {
	t.Parallel()
	s := newStudio(t, nil)
	j := s.job("ada", "cat")
	s.let <- job.ErrMachine
	if _, err := s.preview(j); !errors.Is(err, job.ErrMachine) {
		t.Error(err)
	}
	s.let <- nil
	s.shown(j)
}

// The clip that was used longest ago makes room for another one.
func TestRoom(t *testing.T) {
	t.Parallel()
	s := newStudio(t, func(c *editor.Config) { c.Open = 2 })
	cat, dog, cow := s.job("ada", "cat"), s.job("ada", "dog"), s.job("ada", "cow")
	for range 3 {
		s.let <- nil
	}
	s.shown(cat)
	s.shown(dog)
	s.shown(cat)
	s.shown(cow)
	s.shown(cat)
	if n := s.open(); n != 2 || len(s.begun) != 3 {
		t.Errorf("%d clips are open after %d studies", n, len(s.begun))
	}
}

// An account has one study at a time: a new one ends that which nobody asks for, and waits
// for none of another account but in its turn.
func TestOneStudyOfAnAccount(t *testing.T) {
	t.Parallel()
	s := newStudio(t, func(c *editor.Config) { c.Patience, c.Open = time.Millisecond, 2 })
	cat, dog, cow := s.job("ada", "cat"), s.job("ada", "dog"), s.job("eve", "cow")
	studying := func(j job.Job) {
		t.Helper()
		if _, err := s.preview(j); !errors.As(err, new(*editor.UnfinishedError)) {
			t.Errorf("%s: %v", j.ID, err)
		}
	}
	studying(cat)
	begins(t, s, "cat")
	studying(dog)
	begins(t, s, "cat stopped")
	begins(t, s, "dog")
	studying(cow)
	if _, err := s.preview(s.job("bob", "ant")); !errors.Is(err, editor.ErrBusy) {
		t.Errorf("a third: %v", err)
	}
	s.let <- nil
	begins(t, s, "cow")
}

// The time of a study begins with its turn.
func TestTimeLimit(t *testing.T) {
	t.Parallel()
	const limit = time.Hour
	deadlines := make(chan time.Time, 2)
	s := newStudio(t, func(c *editor.Config) {
		c.Patience, c.TimeLimit = time.Millisecond, limit
		study := c.Study
		c.Study = func(ctx context.Context, path string, o job.Options, progress func(float64)) (editor.Clip, error) {
			deadline, _ := ctx.Deadline()
			deadlines <- deadline
			return study(ctx, path, o, progress)
		}
	})
	for _, j := range []job.Job{s.job("ada", "cat"), s.job("eve", "cow")} {
		if _, err := s.preview(j); !errors.As(err, new(*editor.UnfinishedError)) {
			t.Fatal(err)
		}
	}
	<-deadlines
	freed := time.Now()
	s.let <- nil
	if got := <-deadlines; got.Before(freed.Add(limit)) {
		t.Errorf("%v of the time were over when its turn came", freed.Add(limit).Sub(got))
	}
}

func begins(t *testing.T, s *studio, name string) {
	t.Helper()
	if got := <-s.begun; got != name {
		t.Errorf("%q begins, not %q", got, name)
	}
}

// A study that nobody asks for any more stops, and a clip that nobody asks for is closed.
func TestExpires(t *testing.T) {
	t.Parallel()
	s := newStudio(t, func(c *editor.Config) {
		c.Patience, c.Abandoned = time.Millisecond, time.Millisecond
	})
	if _, err := s.preview(s.job("ada", "cat")); !errors.As(err, new(*editor.UnfinishedError)) {
		t.Fatal(err)
	}
	for got := range s.begun {
		if got == "cat stopped" {
			break
		}
	}
	idle := newStudio(t, func(c *editor.Config) { c.Idle = time.Millisecond })
	j := idle.job("ada", "cat")
	idle.let <- nil
	idle.shown(j)
	for idle.open() > 0 {
		time.Sleep(time.Millisecond) // until the timer has fired
	}
}

// An account has so many clips studied in a time, and others are not concerned.
func TestRate(t *testing.T) {
	t.Parallel()
	s := newStudio(t, func(c *editor.Config) { c.Rate = account.Rate{PerMinute: 1, Burst: 1} })
	s.let <- nil
	s.let <- nil
	cat := s.job("ada", "cat")
	s.shown(cat)
	if _, err := s.preview(s.job("ada", "dog")); !errors.As(err, new(*account.LimitedError)) {
		t.Error(err)
	}
	s.shown(cat)
	s.shown(s.job("eve", "cow"))
}

// A call that finds no room for a study does not count as one.
func TestRateWithoutRoom(t *testing.T) {
	t.Parallel()
	s := newStudio(t, func(c *editor.Config) {
		c.Patience, c.Open, c.Rate = time.Millisecond, 1, account.Rate{PerMinute: 1, Burst: 1}
	})
	cat, cow := s.job("ada", "cat"), s.job("eve", "cow")
	if _, err := s.preview(cat); !errors.As(err, new(*editor.UnfinishedError)) {
		t.Fatal(err)
	}
	for range 3 {
		if _, err := s.preview(cow); !errors.Is(err, editor.ErrBusy) {
			t.Errorf("beside another: %v", err)
		}
	}
	s.let <- nil
	for {
		if _, err := s.preview(cat); err == nil {
			break
		}
	}
	if _, err := s.preview(cow); !errors.As(err, new(*editor.UnfinishedError)) {
		t.Errorf("once there is room: %v", err)
	}
}
