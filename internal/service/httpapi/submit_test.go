package httpapi_test

import (
	"io"
	"net/http"
	"os"
	"path/filepath"
	"slices"
	"strconv"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/bgremove/bgremove/internal/service/account"
	"github.com/bgremove/bgremove/internal/service/blob"
	"github.com/bgremove/bgremove/internal/service/httpapi"
	"github.com/bgremove/bgremove/internal/service/job"
	"github.com/bgremove/bgremove/internal/service/price"
	"github.com/bgremove/bgremove/internal/service/store/storetest"
	"github.com/bgremove/bgremove/pkg/api"
)

// objects counts the objects in the blob store.
func (s *service) objects() (n int) {
	s.Helper()
	for _, err := range s.blobs.List(s.Context(), "") {
		if err != nil {
			s.Fatal(err)
		}
		n++
	}
	return n
}

func TestCreateJob(t *testing.T) {
	t.Parallel()
	s := start(t, nil)
	who := s.user("ada@example.com", 20)
	c := s.client(s.key(who))
	content, rest := clip(t, 12, 40), 20-price.OfSeconds(4.8)
	got := c.submit(jobs, []field{
		{name: "outputFormat", value: "mp4"}, fileField("../My clip.GIF", content), {name: "trim", value: "true"},
	})
	made := decode[api.JobCreated](t, got, http.StatusAccepted)
	want := api.JobCreated{ID: made.ID, Status: "queued", CreditsRemaining: int(rest), Links: api.JobLinks{Self: jobs + "/" + made.ID, Download: jobs + "/" + made.ID + "/download"}}
	if diff := cmp.Diff(want, made); diff != "" {
		t.Errorf("(-want +got):\n%s", diff)
	}
	if h := got.header; h.Get("X-RateLimit-Limit") != "120" || h.Get("X-RateLimit-Remaining") != "59" || h.Get("X-RateLimit-Reset") != "1" {
		t.Errorf("rate headers are %v", h)
	}
	if left := s.balance(who); left != rest {
		t.Errorf("%d credits are left", left)
	}
	status := decode[api.Job](t, c.get(made.Links.Self), http.StatusOK)
	wanted := api.Job{ID: made.ID, Status: "queued", OutputFormat: "gif", Metadata: api.Metadata{
		OriginalName: "My clip.GIF", InputSize: int64(len(content)), FrameCount: 12, Width: 48, Height: 40, Duration: 4.8,
	}}
	if diff := cmp.Diff(wanted, status); diff != "" {
		t.Errorf("(-want +got):\n%s", diff)
	}
	for _, path := range []string{"/download", "/preview"} {
		c.get(made.Links.Self+path).want(t, http.StatusNotFound, `{"error":"not_found"}`)
	}
}

// TestUnknownFields checks that they are ignored, of any size, and also if they
// are files.
func TestUnknownFields(t *testing.T) {
	t.Parallel()
	s := start(t, nil)
	c := s.client(s.key(s.user("ada@example.com", price.Least)))
	c.http = http.DefaultClient // the validator does not know such fields
	decode[api.JobCreated](t, c.submit(jobs, []field{
		{name: "csrf", value: "x"}, {name: "csrf", value: strings.Repeat("x", 5000)}, {name: "poster", filename: "poster.png", value: "x"},
		fileField("a.gif", clip(t, 2, 10)),
	}), http.StatusAccepted)
}

// TestNames sends invalid names unchanged.
func TestNames(t *testing.T) {
	t.Parallel()
	s := start(t, nil)
	key := s.key(s.user("ada@example.com", 30))
	content := string(clip(t, 2, 10))
	for given, want := range map[string]string{
		`../../etc/passwd/a.gif`:             "a.gif",
		`C:\clips\b.gif`:                     "b.gif",
		strings.Repeat("c", 10_000) + ".mp4": strings.Repeat("c", 251) + ".mp4",
		"d\te.gif":                           "de.gif",
		"f\x00g.gif":                         "", // no header at all
	} {
		body := "--x\r\nContent-Disposition: form-data; name=\"file\"; filename=\"" + given + "\"\r\n\r\n" + content + "\r\n--x--\r\n"
		conn := s.dial()
		if _, err := io.WriteString(conn, head(key, "multipart/form-data; boundary=x", len(body))+body); err != nil {
			t.Fatal(err)
		}
		got := read(t, conn)
		if want == "" {
			if got.status != http.StatusBadRequest {
				t.Errorf("%.40q: got %d %s", given, got.status, got.body)
			}
			continue
		}
		made := decode[api.JobCreated](t, got, http.StatusAccepted)
		if name := decode[api.Job](t, s.client(key).get(made.Links.Self), http.StatusOK).Metadata.OriginalName; name != want {
			t.Errorf("%.40q becomes %q, want %q", given, name, want)
		}
	}
}

// TestRefusedForms checks that nothing is charged or kept.
func TestRefusedForms(t *testing.T) {
	t.Parallel()
	s := start(t, func(c *httpapi.Config) {
		c.Rate = account.Rate{PerMinute: 1000, Burst: 1000}
		c.WithoutNetwork = true
	})
	who := s.user("ada@example.com", 20)
	c := s.client(s.key(who))
	good := fileField("a.gif", clip(t, 2, 10))
	option := func(name, value string) []field { return []field{good, {name: name, value: value}} }
	for name, test := range map[string]struct {
		fields []field
		field  string
	}{
		"no field":                            {nil, "file"},
		"no file":                             {[]field{{name: "pad", value: "3"}}, "file"},
		"file without name":                   {[]field{{name: "file", value: good.value}}, "file"},
		"other extension":                     {[]field{fileField("a.png", []byte(good.value))}, "file"},
		"no extension":                        {[]field{fileField("gif", []byte(good.value))}, "file"},
		"only an extension":                   {[]field{fileField("..", []byte(good.value))}, "file"},
		"two files":                           {[]field{good, good}, "file"},
		"method":                              {option("method", "slow"), "method"},
		"method not here":                     {option("method", "rembg"), "method"},
		"tolerance 7":                         {option("tolerance", "7"), "tolerance"},
		"tolerance 33":                        {option("tolerance", "33"), "tolerance"},
		"tolerance 16.5":                      {option("tolerance", "16.5"), "tolerance"},
		"tolerance of words":                  {option("tolerance", "high"), "tolerance"},
		"tolerance empty":                     {option("tolerance", ""), "tolerance"},
		"crop":                                {option("crop", "yes"), "crop"},
		"pad -1":                              {option("pad", "-1"), "pad"},
		"pad 51":                              {option("pad", "51"), "pad"},
		"canvasW 15":                          {option("canvasW", "15"), "canvasW"},
		"canvasH 4097":                        {option("canvasH", "4097"), "canvasH"},
		"anchor":                              {option("anchor", "nowhere"), "anchor"},
		"outputFormat":                        {option("outputFormat", "png"), "outputFormat"},
		"bgColor name":                        {option("bgColor", "red"), "bgColor"},
		"bgColor short":                       {option("bgColor", "#fff"), "bgColor"},
		"trim":                                {option("trim", "1"), "trim"},
		"hints of no JSON":                    {option("hints", "keep 1,2"), "hints"},
		"hints of an object":                  {option("hints", `{"keep":true,"click":[1,2]}`), "hints"},
		"hints with an unknown key":           {option("hints", `[{"keep":true,"click":[1,2],"colour":"red"}]`), "hints"},
		"hints with a mask":                   {option("hints", `[{"keep":true,"mask":"/etc/passwd"}]`), "hints"},
		"hints with nothing":                  {option("hints", `[{"keep":true}]`), "hints"},
		"hints without keep":                  {option("hints", `[{"click":[1,2]}]`), "hints"},
		"hints with three numbers":            {option("hints", `[{"keep":true,"click":[1,2,3]}]`), "hints"},
		"hints before the clip":               {option("hints", `[{"keep":true,"t":-1,"click":[1,2]}]`), "hints"},
		"hints after the clip":                {option("hints", `[{"keep":true,"t":0.2,"click":[1,2]}]`), "hints"},
		"hints outside the picture":           {option("hints", `[{"keep":true,"click":[1,40]}]`), "hints"},
		"a stroke that leaves the picture":    {option("hints", `[{"keep":true,"stroke":[[1,1],[48,1]]}]`), "hints"},
		"too many hints":                      {option("hints", "["+strings.Repeat(`{"keep":true,"click":[1,2]},`, 64)+`{"keep":true,"click":[1,2]}]`), "hints"},
		"too long hints":                      {option("hints", "["+strings.Repeat(" ", 64<<10)+"]"), "hints"},
		"hints with method fast":              {[]field{{name: "method", value: "fast"}, good, {name: "hints", value: `[{"keep":true,"click":[1,2]}]`}}, "hints"},
		"largest":                             {option("largest", "yes"), "largest"},
		"option twice":                        {[]field{{name: "pad", value: "3"}, good, {name: "pad", value: "3"}}, "pad"},
		"option before file":                  {[]field{{name: "pad", value: "99"}, good}, "pad"},
		"long option":                         {option("bgColor", strings.Repeat("x", 1001)), "bgColor"},
		"many fields":                         {slices.Repeat([]field{{name: "x", value: "y"}}, 101), ""},
		"name in lower case":                  {option("outputformat", "webm"), "outputformat"},
		"name with _":                         {option("canvas_w", "64"), "canvas_w"},
		"name off by one":                     {option("tolerancy", "20"), "tolerancy"},
		"near name, a file":                   {[]field{{name: "bgcolor", filename: "a.png", value: "x"}, good}, "bgcolor"},
		"two files, and an option before":     {[]field{{name: "pad", value: "99"}, good, good}, "file"},
		"an option, and then one given twice": {[]field{{name: "trim", value: "1"}, {name: "pad", value: "3"}, good, {name: "pad", value: "3"}}, "pad"},
		"10,000 fields":                       {slices.Repeat([]field{{name: "x", value: "y"}}, 10_000), ""},
	} {
		t.Run(name, func(t *testing.T) { c.refuses(t, test.fields, test.field) })
	}
	if left, kept := s.balance(who), s.objects(); left != 20 || kept != 0 {
		t.Errorf("%d credits are left and %d objects are kept", left, kept)
	}
}

// TestOptionMessage pins the words of the product.
func TestOptionMessage(t *testing.T) {
	t.Parallel()
	s := start(t, nil)
	c := s.client(s.key(s.user("ada@example.com", 20)))
	c.submit(jobs, []field{fileField("a.gif", clip(t, 2, 10)), {name: "pad", value: "99"}}).
		want(t, http.StatusBadRequest, `{"error":"bad_request","field":"pad","message":"pad must be between 0 and 50"}`)
	c.submit(jobs, []field{fileField("a.gif", clip(t, 2, 10)), {name: "outputformat", value: "webm"}}).
		want(t, http.StatusBadRequest, `{"error":"bad_request","field":"outputformat","message":"outputformat: did you mean outputFormat?"}`)
	c.submit(jobs, []field{fileField("a.gif", clip(t, 2, 10)), {name: "format", value: "webm"}}).
		want(t, http.StatusBadRequest, `{"error":"bad_request","field":"format","message":"format: did you mean outputFormat?"}`)
}

// TestBrokenBodies sends bodies that are not forms, or end early.
func TestBrokenBodies(t *testing.T) {
	t.Parallel()
	s := start(t, nil)
	who := s.user("ada@example.com", 20)
	c := s.client(s.key(who))
	whole, contentType := form(t, fileField("a.gif", clip(t, 20, 10)))
	for name, test := range map[string]struct{ body, contentType string }{
		"JSON":        {`{"file":"a.gif"}`, "application/json"},
		"no type":     {"hello", ""},
		"no boundary": {string(whole), "multipart/form-data"},
		"cut off":     {string(whole[:len(whole)/2]), contentType},
		"garbage":     {strings.Repeat("\x00\xff", 5000), contentType},
	} {
		t.Run(name, func(t *testing.T) {
			got := decode[api.Error](t, c.do(http.MethodPost, jobs, strings.NewReader(test.body), "Content-Type", test.contentType), http.StatusBadRequest)
			if got.Error != api.ErrorCodeBadRequest || got.Message == nil || got.Field != nil {
				t.Errorf("got %+v", got)
			}
		})
	}
	if left, kept := s.balance(who), s.objects(); left != 20 || kept != 0 {
		t.Errorf("%d credits are left and %d objects are kept", left, kept)
	}
}

func TestUnreadable(t *testing.T) {
	t.Parallel()
	s := start(t, nil)
	who := s.user("ada@example.com", 20)
	c := s.client(s.key(who))
	for name, content := range map[string]string{
		"text": "#EXTM3U\nfile:///etc/passwd\n", "nothing": "", "PNG": "\x89PNG\r\n\x1a\n", "cut off": string(clip(t, 20, 10)[:40]),
	} {
		t.Run(name, func(t *testing.T) {
			c.submit(jobs, []field{fileField("a.gif", []byte(content))}).want(t, http.StatusUnprocessableEntity, `{"error":"unreadable_file"}`)
		})
	}
	if left, kept := s.balance(who), s.objects(); left != 20 || kept != 0 {
		t.Errorf("%d credits are left and %d objects are kept", left, kept)
	}
}

func TestBatch(t *testing.T) {
	t.Parallel()
	s := start(t, nil)
	who := s.user("ada@example.com", 100)
	c := s.client(s.key(who))
	made := decode[api.BatchCreated](t, c.submit(batches, []field{
		fileField("one.gif", clip(t, 2, 10)), {name: "outputFormat", value: "apng"}, fileField("bad.mp4", []byte("no video")), fileField("two.gif", clip(t, 10, 50)),
	}), http.StatusAccepted)
	if made.CreditsRemaining != 100-price.Least-int(price.OfSeconds(5)) { // the unreadable file is refunded
		t.Errorf("%d credits remain", made.CreditsRemaining)
	}
	got := decode[api.Batch](t, c.get(batches+"/"+made.ID), http.StatusOK)
	var names []string
	for i, j := range got.Jobs {
		names = append(names, j.Metadata.OriginalName+" "+string(j.Status)+" "+string(j.OutputFormat))
		if made.Jobs[i].ID != j.ID || made.Jobs[i].Filename != j.Metadata.OriginalName {
			t.Errorf("job %d is %+v", i, made.Jobs[i])
		}
	}
	if diff := cmp.Diff([]string{"one.gif queued apng", "bad.mp4 failed apng", "two.gif queued apng"}, names); diff != "" {
		t.Errorf("(-want +got):\n%s", diff)
	}
	unreadable := "unreadable_file"
	want := api.Job{ID: made.Jobs[1].ID, Status: "failed", OutputFormat: "apng", Error: &unreadable, Metadata: api.Metadata{OriginalName: "bad.mp4", InputSize: 8}}
	if diff := cmp.Diff(want, got.Jobs[1]); diff != "" {
		t.Errorf("(-want +got):\n%s", diff)
	}
	if got.Status != api.BatchStatusProcessing {
		t.Errorf("the batch is %s", got.Status)
	}
	c.submit(batches, slices.Repeat([]field{fileField("a.gif", nil)}, 21)).
		want(t, http.StatusBadRequest, `{"error":"bad_request","field":"file","message":"file is given more than 20 times"}`)
}

// TestForeign checks that a key sees only its own jobs.
func TestForeign(t *testing.T) {
	t.Parallel()
	s := start(t, nil)
	ada := s.user("ada@example.com", 100)
	c := s.client(s.key(ada))
	one := fileField("one.gif", clip(t, 2, 10))
	made := decode[api.JobCreated](t, c.submit(jobs, []field{one}), http.StatusAccepted)
	batch := decode[api.BatchCreated](t, c.submit(batches, []field{one}), http.StatusAccepted)
	for name, key := range map[string]string{"same account": s.key(ada), "other account": s.key(s.user("bob@example.com", 0))} {
		other := s.client(key)
		for _, path := range []string{
			made.Links.Self, made.Links.Self + "/preview", made.Links.Download, batches + "/" + batch.ID, jobs + "/" + batch.Jobs[0].ID,
		} {
			if got := other.get(path); got.status != http.StatusNotFound || got.body != `{"error":"not_found"}` {
				t.Errorf("%s: %s: %d %s", name, path, got.status, got.body)
			}
			other.do(http.MethodHead, path, nil).want(t, http.StatusNotFound, "")
		}
	}
}

// TestReserve checks that a nearly full disk accepts no uploads.
func TestReserve(t *testing.T) {
	t.Parallel()
	s := startIn(t, storetest.Open(t, storetest.SQLite(t)), blob.Options{Reserve: 1 << 60}, job.Config{}, nil)
	who := s.user("ada@example.com", 20)
	got := s.client(s.key(who)).submit(jobs, []field{fileField("a.gif", clip(t, 2, 10))})
	got.want(t, http.StatusServiceUnavailable, `{"error":"unavailable"}`)
	if left, kept := s.balance(who), s.objects(); left != 20 || kept != 0 || got.header.Get("Retry-After") == "" {
		t.Errorf("%d credits are left and %d objects are kept; headers are %v", left, kept, got.header)
	}
}

// TestStorageDown checks for 503, and that nothing is charged.
func TestStorageDown(t *testing.T) {
	t.Parallel()
	s := start(t, nil)
	who := s.user("ada@example.com", 20)
	c := s.client(s.key(who))
	if err := os.RemoveAll(s.dir); err != nil {
		t.Fatal(err)
	}
	if err := os.WriteFile(s.dir, nil, 0o600); err != nil {
		t.Fatal(err)
	}
	got := c.submit(jobs, []field{fileField("a.gif", clip(t, 2, 10))})
	got.want(t, http.StatusServiceUnavailable, `{"error":"unavailable"}`)
	if wait, err := strconv.Atoi(got.header.Get("Retry-After")); err != nil || wait < 1 {
		t.Errorf("Retry-After is %q", got.header.Get("Retry-After"))
	}
	if left := s.balance(who); left != 20 {
		t.Errorf("%d credits are left", left)
	}
	if strings.Contains(got.body, filepath.Base(s.dir)) {
		t.Errorf("the answer shows a path: %s", got.body)
	}
}
