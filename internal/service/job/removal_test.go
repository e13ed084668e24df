package job_test

import (
	"bytes"
	"image"
	"image/png"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/bgremove/bgremove/internal/service/job"
	"github.com/bgremove/bgremove/internal/service/removal"
	"github.com/bgremove/bgremove/internal/service/removal/removaltest"
	"github.com/bgremove/bgremove/internal/service/store/storetest"
	"github.com/bgremove/bgremove/pkg/bgremove"
)

// This test uses the real engine: a clip goes through the queue and its subject
// is cut out.
func TestRemover(t *testing.T) {
	t.Parallel()
	engine := bgremove.New(bgremove.Config{})
	t.Cleanup(func() { _ = engine.Close() })
	x := newFixture(t, storetest.Open(t, storetest.SQLite(t)), job.Config{})
	in := x.input("walk.gif", 4)
	in.Media.Width, in.Media.Height = 64, 48
	if err := x.blobs.Delete(t.Context(), in.Key); err != nil {
		t.Fatal(err)
	}
	u, err := x.blobs.Receive(t.Context(), in.Key, bytes.NewReader(removaltest.Clip(t)), 1<<20)
	if err != nil {
		t.Fatal(err)
	}
	u.Release()
	sub := x.submission(x.owner, in)
	sub.Options.OutputFormat, sub.Options.Pad = "apng", 2
	r, err := x.Submit(t.Context(), sub)
	if err != nil {
		t.Fatal(err)
	}
	x.work(&job.Worker{Processor: removal.New(engine)})
	x.ended()
	j := x.get(r.Jobs[0].ID)
	if j.State != job.Done {
		t.Fatalf("%+v", j)
	}
	out, err := png.Decode(bytes.NewReader([]byte(x.read(j.Output)))) // its first frame
	if err != nil || out.Bounds() != image.Rect(0, 0, 20+14+4, 24) {
		t.Fatalf("%v, %v", out.Bounds(), err)
	}
	at := job.Placement{
		Width: 38, Height: 24, Source: job.Size{Width: 64, Height: 48},
		Window: job.Box{X: 8, Y: 8, Size: job.Size{Width: 38, Height: 24}}, Target: job.Box{Size: job.Size{Width: 38, Height: 24}},
	}
	if diff := cmp.Diff(&at, j.Placement); diff != "" {
		t.Errorf("the placement is wrong (-want +got):\n%s", diff)
	}
	if q := j.Quality; q == nil || q.Kept < 0.05 || q.Kept > 0.5 || len(q.Warnings) > 0 {
		t.Errorf("the quality is %+v", q)
	}
	preview, err := png.Decode(bytes.NewReader([]byte(x.read(j.Preview))))
	if err != nil || preview.Bounds() != image.Rect(0, 0, 64, 48) {
		t.Fatalf("%v, %v", preview.Bounds(), err)
	}
	if _, _, _, a := preview.At(15, 15).RGBA(); a != 0xffff {
		t.Errorf("the subject's alpha is %d", a)
	}
	if _, _, _, a := preview.At(40, 40).RGBA(); a != 0 {
		t.Errorf("the backdrop's alpha is %d", a)
	}
}
