package ffmpeg_test

import (
	"runtime"
	"testing"
	"time"

	"github.com/bgremove/bgremove/internal/media"
	"github.com/bgremove/bgremove/internal/media/ffmpeg"
)

// A child survives the end of the thread that started it.
func TestChildOutlivesThread(t *testing.T) {
	t.Parallel()
	ffmpegs := tools(t)
	var sink media.Sink
	var err error
	done := make(chan struct{})
	go func() {
		defer close(done)
		runtime.LockOSThread() // never unlocked, so that the thread ends here
		sink, err = ffmpegs.NewSink(t.Context(), t.TempDir()+"/out.mp4", ffmpeg.SinkOptions{
			Format: ffmpeg.MP4, Width: 64, Height: 48, Opaque: true, End: 20 * 40 * time.Millisecond,
		})
	}()
	<-done
	if err != nil {
		t.Fatal(err)
	}
	pool := new(media.Pool)
	for i := range 20 {
		f := &media.Frame{Image: pool.Get(64, 48), PTS: time.Duration(i) * 40 * time.Millisecond, Duration: 40 * time.Millisecond}
		if err := sink.Write(t.Context(), f); err != nil {
			t.Fatal(err)
		}
	}
	if err := sink.Close(); err != nil {
		t.Error(err)
	}
}
