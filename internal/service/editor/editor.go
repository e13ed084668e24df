// Package editor shows what hints would make of the clips of jobs, one frame at a time,
// without running the jobs again. A clip is studied once, which takes about as long as a
// pass of a job, and stays open while somebody asks for previews of it.
package editor

import (
	"context"
	"errors"
	"fmt"
	"image"
	"sync"
	"time"

	"github.com/bgremove/bgremove/internal/service/account"
	"github.com/bgremove/bgremove/internal/service/blob"
	"github.com/bgremove/bgremove/internal/service/job"
	"github.com/bgremove/bgremove/pkg/option"
)

// Clip is a studied clip. It must be safe for concurrent use.
type Clip interface {
	// Preview is the matte of the frame that is shown at a time, as hints would make it. When ctx
	// ends the error is its cause. The next call goes on with what was done so far.
	Preview(ctx context.Context, at time.Duration, hints []option.Hint) (*image.Alpha, error)
	Close() error
}

// Config configures Editors: start from DefaultConfig. Blobs, Study and Limiter are
// required, too.
type Config struct {
	Blobs *blob.Store
	// Study studies the clip of a job, whose file is at path. It calls progress with the
	// share that is done, 0 to 1. It must end soon after ctx does.
	Study func(ctx context.Context, path string, o job.Options, progress func(share float64)) (Clip, error)
	// Limiter bounds how often an account has clips studied, by Rate.
	Limiter *account.Limiter
	Rate    account.Rate
	// Open is how many clips may be open at once. The one that was used longest ago makes
	// room for another.
	Open int
	// TimeLimit is how long a study may take, once its turn has come.
	TimeLimit time.Duration
	// Idle is how long a clip stays open that nobody asks for, and Abandoned how long it is
	// studied while nobody does.
	Idle, Abandoned time.Duration
	// Patience is how long Preview waits for a study, and Follow how long it follows hints through a
	// studied clip, before it says that this goes on.
	Patience, Follow time.Duration
}

// DefaultConfig has the default times and rates, and nothing else.
func DefaultConfig() Config {
	return Config{
		Rate: account.Rate{PerMinute: 4, Burst: 10}, Open: 4, TimeLimit: 10 * time.Minute,
		Idle: 10 * time.Minute, Abandoned: 20 * time.Second, Patience: 300 * time.Millisecond, Follow: time.Second,
	}
}

// ErrBusy is that other clips are being studied, as many as may be.
var ErrBusy = errors.New("other clips are being studied")

// UnfinishedError is that a preview is not there yet. The next call goes on.
type UnfinishedError struct {
	// Following is that hints are followed to the frame, and otherwise the clip is studied.
	Following bool `json:"following"`
	// Share of the study is done, 0 to 1.
	Share float64 `json:"share"`
}

func (e *UnfinishedError) Error() string {
	if e.Following {
		return "the hints are being followed to the frame"
	}
	return fmt.Sprintf("%.0f %% of the clip is studied", 100*e.Share)
}

// Editors are the open clips of a node. They are safe for concurrent use.
type Editors struct {
	config Config
	turn   chan struct{} // held by the study in work: it uses all cores
	mu     sync.Mutex
	clips  map[string]*open // by job
	closed bool
	ended  sync.WaitGroup // studies
}

// open is a clip that is open or being studied. Its fields but done and turn are those of Editors.mu,
// and clip and err may be read once done is closed.
type open struct {
	accountID string
	stop      context.CancelFunc // of the study
	done      chan struct{}
	turn      chan struct{} // held by the preview in work
	clip      Clip
	err       error
	share     float64
	users     int
	used      time.Time
	expires   *time.Timer
}

// studied reports whether the study has ended.
func (o *open) studied() bool {
	select {
	case <-o.done:
		return true
	default:
		return false
	}
}

// New makes Editors, which the caller closes.
func New(c Config) *Editors {
	return &Editors{config: c, turn: make(chan struct{}, 1), clips: map[string]*open{}}
}

// Preview is the matte of the frame of a job's clip that is shown at a time, as hints would
// make it. The hints must fit the clip, see job.Options.CheckFor. The first call begins to
// study the clip. The error is an *UnfinishedError until that has ended, and while hints are
// followed to the frame. Others are ErrBusy, an *account.LimitedError, job.ErrNotFound where the
// input has expired, and that of Config.Study.
func (e *Editors) Preview(ctx context.Context, j job.Job, at time.Duration, hints []option.Hint) (*image.Alpha, error) {
	o, err := e.enter(ctx, j)
	if err != nil {
		return nil, err
	}
	defer e.leave(j.ID, o)
	wait := time.NewTimer(e.config.Patience)
	defer wait.Stop()
	select {
	case <-o.done:
	case <-wait.C:
		e.mu.Lock()
		defer e.mu.Unlock()
		return nil, &UnfinishedError{Share: o.share}
	case <-ctx.Done():
		return nil, context.Cause(ctx)
	}
	if o.err != nil {
		return nil, o.err
	}
	select {
	case o.turn <- struct{}{}:
		defer func() { <-o.turn }()
	case <-ctx.Done():
		return nil, context.Cause(ctx)
	}
	ctx, stop := context.WithTimeoutCause(ctx, e.config.Follow, &UnfinishedError{Following: true})
	defer stop()
	return o.clip.Preview(ctx, at, hints)
}

// enter finds a job's clip, or begins to study it. The caller leaves it.
func (e *Editors) enter(ctx context.Context, j job.Job) (*open, error) {
	if j.Input == nil {
		return nil, job.ErrNotFound
	}
	e.mu.Lock()
	o, _, err := e.place(j)
	e.mu.Unlock()
	if o != nil || err != nil {
		return o, err
	}
	if err := e.config.Limiter.Allow(ctx, "study:"+j.AccountID, e.config.Rate); err != nil {
		return nil, err
	}
	return e.begin(j)
}

// place is a job's clip, which the caller leaves, or nil and the clips that must go before it is
// studied. It needs mu.
func (e *Editors) place(j job.Job) (o *open, others []string, err error) {
	if o, found := e.clips[j.ID]; found {
		o.users++
		return o, nil, nil
	}
	others, room := e.outOfTheWay(j.AccountID)
	if e.closed || !room {
		return nil, nil, ErrBusy
	}
	return nil, others, nil
}

// begin starts a study, unless another call just has.
func (e *Editors) begin(j job.Job) (*open, error) {
	e.mu.Lock()
	defer e.mu.Unlock()
	o, others, err := e.place(j)
	if o != nil || err != nil {
		return o, err
	}
	for _, id := range others {
		e.remove(id, e.clips[id])
	}
	ctx, stop := context.WithCancel(context.Background())
	o = &open{accountID: j.AccountID, stop: stop, done: make(chan struct{}), turn: make(chan struct{}, 1), users: 1}
	o.expires = time.AfterFunc(e.config.Abandoned, func() { e.expire(j.ID, o) })
	e.clips[j.ID] = o
	e.ended.Go(func() {
		defer stop()
		e.study(ctx, j, o)
	})
	return o, nil
}

// outOfTheWay are the clips that must go for a new one of an account, and whether there is
// room then. An account has one study at a time.
func (e *Editors) outOfTheWay(accountID string) (ids []string, room bool) {
	oldest := ""
	for id, o := range e.clips {
		switch {
		case o.users > 0 && !o.studied() && o.accountID == accountID:
			return nil, false
		case o.users > 0:
		case !o.studied() && o.accountID == accountID:
			ids = append(ids, id)
		case o.studied() && (oldest == "" || o.used.Before(e.clips[oldest].used)):
			oldest = id
		}
	}
	if len(e.clips)-len(ids) < e.config.Open {
		return ids, true
	}
	return append(ids, oldest), oldest != ""
}

// study studies a clip when its turn comes.
func (e *Editors) study(ctx context.Context, j job.Job, o *open) {
	clip, err := e.studyInTurn(ctx, j, o)
	e.mu.Lock()
	defer e.mu.Unlock()
	o.clip, o.err, o.used = clip, err, time.Now()
	close(o.done)
	if e.clips[j.ID] != o && clip != nil {
		_ = clip.Close() // it was given up meanwhile
	}
}

func (e *Editors) studyInTurn(ctx context.Context, j job.Job, o *open) (Clip, error) {
	select {
	case e.turn <- struct{}{}:
		defer func() { <-e.turn }()
	case <-ctx.Done():
		return nil, context.Cause(ctx)
	}
	ctx, stop := context.WithTimeout(ctx, e.config.TimeLimit)
	defer stop()
	path, release, err := e.config.Blobs.Local(ctx, j.Input.Key)
	if err != nil {
		return nil, err
	}
	defer release()
	return e.config.Study(ctx, path, j.Options, func(share float64) {
		e.mu.Lock()
		defer e.mu.Unlock()
		o.share = share
	})
}

// leave ends a use of a clip. One whose study has failed is studied again by the next call.
func (e *Editors) leave(id string, o *open) {
	e.mu.Lock()
	defer e.mu.Unlock()
	o.users--
	o.used = time.Now()
	switch {
	case e.clips[id] != o:
	case !o.studied():
		o.expires.Reset(e.config.Abandoned)
	case o.err != nil:
		e.remove(id, o)
	default:
		o.expires.Reset(e.config.Idle)
	}
}

// expire gives up a clip that nobody asks for.
func (e *Editors) expire(id string, o *open) {
	e.mu.Lock()
	defer e.mu.Unlock()
	if e.clips[id] == o && o.users == 0 {
		e.remove(id, o)
	}
}

// remove gives a clip up. Its study closes it, if that has not ended.
func (e *Editors) remove(id string, o *open) {
	delete(e.clips, id)
	o.expires.Stop()
	o.stop()
	if o.studied() && o.clip != nil {
		_ = o.clip.Close() // its files are gone with the process, at the latest
	}
}

// Close gives all clips up, and waits for their studies to end. A Preview that still runs
// may fail.
func (e *Editors) Close() error {
	e.mu.Lock()
	e.closed = true
	for id, o := range e.clips {
		e.remove(id, o)
	}
	e.mu.Unlock()
	e.ended.Wait()
	return nil
}
