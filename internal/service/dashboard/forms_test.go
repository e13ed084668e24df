package dashboard_test

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"mime/multipart"
	"net/http"
	"net/http/httptest"
	"regexp"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"github.com/bgremove/bgremove/internal/service/httpapi"
	"github.com/bgremove/bgremove/internal/service/server"
)

// jobID is the id in the path that a submission redirects to.
func (p page) jobID() string {
	p.Helper()
	id, ok := strings.CutPrefix(p.header.Get("Location"), "/jobs/")
	if p.status != http.StatusSeeOther || !ok {
		p.Fatalf("it leads to %d %q: %s", p.status, p.header.Get("Location"), text(p.body))
	}
	return id
}

// blank holds the options of an unchanged form.
var blank = []string{"method", "auto", "tolerance", "16", "crop", "true", "pad", "12", "canvasW", "", "canvasH", "", "anchor", "center",
	"outputFormat", "gif", "bgColor", "transparent", "trim", "false", "background", "", "outline", "", "shadow", "", "harmonise", "false",
	"hints", "", "largest", "false", "fps", "", "start", "", "end", "", "quality", "", "loop", ""}

// TestKept checks that pages say how long the files of a job are kept.
func TestKept(t *testing.T) {
	t.Parallel()
	s := start(t, func(c *server.Config) { c.Jobs.KeepInputs, c.Jobs.KeepOutputs = 5*time.Hour, 3*24*time.Hour })
	s.user("ada@example.com", 20)
	p := s.signedIn("ada@example.com")
	p.get("/").says(http.StatusOK, "Results are kept for 3 days after a job has ended, your clips for 5 hours.")
	id := p.upload("/jobs", []string{"hop.gif", string(clip(t))}, blank...).jobID()
	p.ended(id)
	shown := p.get("/jobs/"+id).says(http.StatusOK, "Kept until").body
	times := regexp.MustCompile(`<dt>(?:Ended|Kept until)</dt><dd><time datetime="([^"]+)"`).FindAllStringSubmatch(shown, -1)
	if len(times) != 2 {
		t.Fatalf("it shows %v", times)
	}
	ended, err := time.Parse(time.RFC3339, times[0][1])
	if want := ended.Add(3 * 24 * time.Hour).Format(time.RFC3339); err != nil || times[1][1] != want {
		t.Errorf("it is kept until %s, not %s (%v)", times[1][1], want, err)
	}
}

// A job goes from the form to the download, and once more, without any script.
func TestSubmitWithoutScripts(t *testing.T) {
	t.Parallel()
	s := start(t, nil)
	s.user("ada@example.com", 20)
	p := s.signedIn("ada@example.com")
	p.get("/").says(http.StatusOK, "Drop a clip here", fmt.Sprintf("up to %d files", httpapi.MaxFiles), "Your clip without its background")
	id := p.upload("/jobs", []string{"hop.gif", string(clip(t))}, blank...).jobID()
	if state := p.ended(id); state != "done" {
		t.Fatalf("the job is %s", state)
	}
	p.get("/jobs/"+id).says(http.StatusOK, "hop.gif", "Done", "36 frames", "360×203", "301×182", "4 credits", "/api/jobs/"+id+"/download", "/?again="+id)
	p.get("/jobs").says(http.StatusOK, "hop.gif", `href="/jobs/`+id+`"`, "/api/jobs/"+id+"/preview")
	p.get("/").says(http.StatusOK, `data-view="`+id+`"`, "16</span> credits")

	p.get("/?again="+id).says(http.StatusOK, "Run again for 4 credits", `action="/jobs/`+id+`/again"`)
	other := slices.Clone(blank)
	other[slices.Index(other, "gif")], other[slices.Index(other, "canvasW")+1] = "apng", "64"
	second := p.upload("/jobs/"+id+"/again", nil, other...).jobID()
	p.ended(second)
	p.get("/jobs/"+second).says(http.StatusOK, "apng, ", "64×39", "canvas 64×…")
	p.get("/?again="+second).says(http.StatusOK, `name="outputFormat" value="apng" checked`, `name="canvasW" type="number" min="16" max="4096" value="64"`)

	behind := slices.Clone(blank)
	for i, option := range behind {
		if value, ok := map[string]string{"background": "gradient:#102030,#405060", "outline": "#ffffff,4", "shadow": "soft", "harmonise": "true"}[option]; ok && i%2 == 0 {
			behind[i+1] = value
		}
	}
	third := p.upload("/jobs/"+id+"/again", nil, behind...).jobID()
	if state := p.ended(third); state != "done" {
		t.Fatalf("the job is %s", state)
	}
	p.get("/jobs/"+third).says(http.StatusOK, "gradient:#102030,#405060 background", "harmonised", "outline #ffffff,4", "shadow soft")
	p.get("/?again="+third).says(http.StatusOK, `name="background" value="gradient:#102030,#405060"`, `name="outline" value="#ffffff,4"`,
		`name="shadow" value="soft"`, `name="harmonise" value="true" checked`)

	p.upload("/jobs", []string{"a.gif", string(clip(t)), "b.gif", "GIF89a"}, blank...).leads("/jobs")
	p.get("/jobs").says(http.StatusOK, "Batch of 2", "cannot be read", "3 credits, refunded")
	failed := regexp.MustCompile(`id="(job_\w+)" data-job="\w+" data-state="failed"`).FindStringSubmatch(p.get("/jobs?state=failed").body)
	if failed == nil {
		t.Fatal("no failed job is listed")
	}
	p.get("/jobs/"+failed[1]).says(http.StatusOK, "The file cannot be read", "Its 3 credits were refunded.")
	p.get("/jobs?state=failed").says(http.StatusOK, "1 job of a batch") // the filter hides the other
}

// TestCancel checks that the page of a job that waits can cancel it, and says so
// afterwards. A second click removes nothing.
func TestCancel(t *testing.T) {
	t.Parallel()
	s := start(t, func(c *server.Config) { c.Role = server.API })
	s.user("ada@example.com", 20)
	p := s.signedIn("ada@example.com")
	id := p.upload("/jobs", []string{"hop.gif", string(clip(t))}).jobID()
	cancel := "/jobs/" + id + "/cancel"
	p.get("/jobs/"+id).says(http.StatusOK, "Waiting", `action="`+cancel+`"`)
	for range 2 {
		p.post(cancel).leads("/jobs/" + id)
	}
	shown := p.get("/jobs/"+id).says(http.StatusOK, "Cancelled", "The job was cancelled.", "Its 4 credits were refunded.", "4 credits, refunded", "/?again="+id)
	if strings.Contains(shown.body, cancel) {
		t.Error("it can be cancelled again")
	}
	p.get("/jobs?state=cancelled").says(http.StatusOK, "hop.gif", `data-state="cancelled"`, "20</span> credits")
	p.post("/jobs/job_0/cancel").says(http.StatusNotFound)
	s.user("bob@example.com", 0)
	s.signedIn("bob@example.com").post(cancel).says(http.StatusNotFound)
}

// message is the next message to a webhook. Where none comes, the test fails.
func (s *service) message(received <-chan string) string {
	s.Helper()
	ctx, cancel := context.WithTimeout(s.Context(), patience)
	defer cancel()
	select {
	case id := <-received:
		return id
	case <-ctx.Done():
		s.Fatalf("no message within %s: %v", patience, s.log)
		return ""
	}
}

// delivered waits until the page lists a message as delivered.
func (p *person) delivered() {
	p.Helper()
	p.until("a message is delivered", func() bool { return strings.Contains(p.get("/webhooks").body, "delivered, attempt 1") })
}

// TestWebhooks checks that the page makes webhooks, shows a secret once, lists the
// messages and sends one again.
func TestWebhooks(t *testing.T) {
	t.Parallel()
	received := make(chan string, 10)
	hook := httptest.NewServer(http.HandlerFunc(func(_ http.ResponseWriter, r *http.Request) { received <- r.Header.Get("webhook-id") }))
	t.Cleanup(hook.Close)
	s := start(t, func(c *server.Config) { c.PrivateWebhooks = true })
	s.user("ada@example.com", 20)
	p := s.signedIn("ada@example.com")
	p.get("/webhooks").says(http.StatusOK, "None yet.", "0 of 10")
	p.post("/webhooks", "url", "nowhere").says(http.StatusBadRequest, "must be an address", `value="nowhere"`)
	p.post("/webhooks", "url", hook.URL+"/<b>").says(http.StatusCreated, "whsec_", "Copy it now", "/&lt;b&gt;")
	p.post("/webhooks").says(http.StatusCreated, "Your new signing secret", "whsec_")
	shown := p.get("/webhooks").says(http.StatusOK, "2 of 10", `Remove<span class="heard"> the webhookUrl of submissions</span>`)
	if strings.Contains(shown.body, "whsec_") {
		t.Error("a secret is shown again")
	}
	id := p.upload("/jobs", []string{"hop.gif", string(clip(t))}, "method", "fast").jobID()
	first := s.message(received)
	p.ended(id)
	p.get("/webhooks").says(http.StatusOK, "job.done", `href="/jobs/`+id+`"`, `action="/deliveries/`+first+`/again"`)
	p.delivered() // one that is being sent is not sent again
	p.post("/deliveries/" + first + "/again").leads("/webhooks?after=again")
	if second := s.message(received); second != first {
		t.Errorf("sent again it is %s, not %s", second, first)
	}
	endpoint := regexp.MustCompile(`/webhooks/(whe_\w+)/remove`).FindStringSubmatch(shown.body)[1]
	p.post("/webhooks/" + endpoint + "/remove").leads("/webhooks?after=removed")
	p.post("/webhooks/" + endpoint + "/remove").says(http.StatusNotFound)
	p.post("/deliveries/msg_0/again").says(http.StatusNotFound)
	p.get("/webhooks?after=removed").says(http.StatusOK, "1 of 10", "Nothing more is sent to it.")
}

// The page with the form shows the errors in it.
func TestSubmitRefused(t *testing.T) {
	t.Parallel()
	s := start(t, nil)
	s.user("ada@example.com", 4)
	p := s.signedIn("ada@example.com")
	gif := string(clip(t))
	p.upload("/jobs", []string{"hop.gif", gif}, "pad", "51").says(http.StatusBadRequest, "Pad must be between 0 and 50.", "Drop a clip here")
	p.upload("/jobs", []string{"hop.gif", gif}, "background", "./secret.png").says(http.StatusBadRequest, "Background must be #rrggbb, blur")
	p.upload("/jobs", []string{"hop.gif", gif}, "harmonise", "true").says(http.StatusBadRequest, "Harmonise needs a background.")
	p.upload("/jobs", []string{"hop.png", gif}).says(http.StatusBadRequest, "must be named .gif, .mp4, .mov or .webm")
	p.upload("/jobs", []string{"hop.gif", "GIF89a"}).says(http.StatusUnprocessableEntity, "The file cannot be read.", "Nothing was charged.")
	p.upload("/jobs", []string{"a.gif", gif, "b.gif", gif}).says(http.StatusPaymentRequired, "There are not enough credits.", "You have 4.")
	p.upload("/jobs", nil).says(http.StatusBadRequest, "File is missing.")
	id := p.upload("/jobs", []string{"hop.gif", gif}).jobID()
	p.ended(id)
	p.upload("/jobs/"+id+"/again", nil, "method", "fast").says(http.StatusPaymentRequired, "There are not enough credits.", "Run again for 4 credits")
	p.upload("/jobs/"+id+"/again", nil, "tolerance", "x").says(http.StatusBadRequest, "Tolerance must be", "Run again for 4 credits")

	refused := p.upload("/jobs/"+id+"/again", nil, "harmonise", "true", "pad", "40", "canvasW", "", "shadow", "soft", "outputFormat", "webp")
	typed := controls(refused.says(http.StatusBadRequest, "Harmonise needs a background.").body)
	for name, want := range map[string]control{"pad": {Text: "40", Min: "0", Max: "50"}, "canvasW": {Min: "16", Max: "4096"}, "shadow": {Text: "soft"}} {
		if diff := cmp.Diff(want, typed[name]); diff != "" {
			t.Errorf("%s after a refusal (-want +got):\n%s", name, diff)
		}
	}
	if format, harmonise := typed["outputFormat"].Chosen, typed["harmonise"].Chosen; !slices.Equal(format, []string{"webp"}) || !slices.Equal(harmonise, []string{"true"}) {
		t.Errorf("after a refusal the format is %v, harmonise %v", format, harmonise)
	}
	p.do(http.MethodPost, "/jobs/"+id+"/again", "text/plain", nil).says(http.StatusBadRequest, "Run again for 4 credits", `name="pad" type="number" min="0" max="50" value="12"`)
	brokenOff := "--b\r\nContent-Disposition: form-data; name=\"pad\"\r\n\r\n40\r\n--b\r\nContent-Disposition: form-data; name=\"shadow\"\r\n\r\nso"
	p.do(http.MethodPost, "/jobs/"+id+"/again", "multipart/form-data; boundary=b", strings.NewReader(brokenOff)).says(http.StatusBadRequest, "Run again for 4 credits", `name="pad" type="number" min="0" max="50" value="12"`)
}

// Scripts get parts of pages.
func TestFragments(t *testing.T) {
	t.Parallel()
	s := start(t, nil)
	s.user("ada@example.com", 50)
	p := s.signedIn("ada@example.com")
	id := p.upload("/jobs", []string{"hop.gif", string(clip(t))}).jobID()
	for part, want := range map[string]string{"card": `<li class="job"`, "view": `<section class="viewer"`} {
		got := p.get("/jobs/" + id + "/" + part)
		if !strings.HasPrefix(got.body, want) || got.status != http.StatusOK {
			t.Errorf("%s is %d %s", part, got.status, got.body)
		}
	}
	script := *p
	script.Transport = asScript{}
	if got := script.upload("/jobs", []string{"a.gif", string(clip(t)), "b.gif", string(clip(t))}); got.status != http.StatusAccepted || strings.Count(got.body, `<li class="job"`) != 2 {
		t.Errorf("two cards are %d %s", got.status, got.body)
	}
	if got := script.upload("/jobs", nil); got.status != http.StatusBadRequest || !strings.HasPrefix(got.body, `<p class="notice error"`) {
		t.Errorf("a refusal is %d %s", got.status, got.body)
	}
	if got := script.get("/jobs/job_x/card"); got.status != http.StatusNotFound || got.body != "" {
		t.Errorf("a lost card is %d %s", got.status, got.body)
	}
}

// asScript adds the headers that our scripts send.
type asScript struct{}

func (asScript) RoundTrip(r *http.Request) (*http.Response, error) {
	r.Header.Set("X-Fragment", "1")
	return http.DefaultTransport.RoundTrip(r)
}

// Lists continue across pages; each entry appears exactly once.
func TestPages(t *testing.T) {
	t.Parallel()
	s := start(t, nil)
	s.user("ada@example.com", 1000)
	p := s.signedIn("ada@example.com")
	var files []string
	for i := range 20 {
		files = append(files, fmt.Sprintf("%d.gif", i), "GIF89a")
	}
	for range 3 {
		p.upload("/jobs", files).leads("/jobs")
	}
	p.get("/jobs").says(http.StatusOK, ">Batch of 20<", ">8 jobs of a batch<")
	for what, test := range map[string]struct {
		path, item string
		pages, all int
	}{
		"jobs":   {"/jobs", `data-job="(\w+)"`, 2, 60},
		"failed": {"/jobs?state=failed", `data-job="(\w+)"`, 2, 60},
		"done":   {"/jobs?state=done", `data-job="(\w+)"`, 1, 0},
		"ledger": {"/credits", `<td>((?:Charge|Refund) for <a href="[^"]+">|Credits)`, 3, 121},
	} {
		items, path, pages := map[string]int{}, test.path, 0
		for path != "" {
			got := p.get(path).says(http.StatusOK)
			for _, m := range regexp.MustCompile(test.item).FindAllStringSubmatch(got.body, -1) {
				items[m[1]]++
			}
			older := regexp.MustCompile(`href="([^"]+)">Older`).FindStringSubmatch(got.body)
			path, pages = "", pages+1
			if older != nil {
				path = strings.ReplaceAll(older[1], "&amp;", "&")
			}
		}
		if len(items) != test.all || pages != test.pages {
			t.Errorf("%s: %d on %d pages", what, len(items), pages)
		}
		for item, n := range items {
			if n != 1 {
				t.Errorf("%s: %s is shown %d times", what, item, n)
			}
		}
	}
}

func TestKeys(t *testing.T) {
	t.Parallel()
	s := start(t, nil)
	s.user("ada@example.com", 0)
	p := s.signedIn("ada@example.com")
	p.post("/keys", "name", " ").says(http.StatusBadRequest, "Name must have 1 to 100 bytes.")
	made := p.post("/keys", "name", "sticker bot").says(http.StatusCreated, "sticker bot", "curl -H &#39;Authorization: Bearer bgr_", s.url+"/api/v1/jobs")
	secret := regexp.MustCompile(`id="secret">(bgr_[\w-]{43})<`).FindStringSubmatch(made.body)
	if secret == nil {
		t.Fatalf("no secret on %s", text(made.body))
	}
	ask := func() int { return p.get("/api/v1/jobs/job_x", "Authorization", "Bearer "+secret[1]).status }
	if got := ask(); got != http.StatusNotFound {
		t.Errorf("the key is answered %d", got)
	}
	list := p.get("/keys").says(http.StatusOK, "sticker bot", secret[1][:10]+"…", "1 of 10")
	if strings.Contains(list.body, secret[1]) {
		t.Error("the secret is shown twice")
	}
	path := regexp.MustCompile(`action="(/keys/\w+/revoke)"`).FindStringSubmatch(list.body)[1]
	p.get(path).says(http.StatusOK, "Revoke “<bdi>sticker bot</bdi>”?", "Keep it")
	p.post(path).leads("/keys?after=revoked")
	p.get("/keys?after=revoked").says(http.StatusOK, "The key is revoked.", "0 of 10")
	if got := ask(); got != http.StatusUnauthorized {
		t.Errorf("the revoked key is answered %d", got)
	}
	p.post(path).says(http.StatusNotFound)
	for i := range 10 {
		p.post("/keys", "name", fmt.Sprint(i)).says(http.StatusCreated)
	}
	p.post("/keys", "name", "one more").says(http.StatusConflict, "You have 10 active keys")
	p.get("/keys").says(http.StatusOK, "10 of 10", "Revoke one to create another.")
}

func TestAccount(t *testing.T) {
	t.Parallel()
	s := start(t, nil)
	s.user("ada@example.com", 0)
	here, there := s.signedIn("ada@example.com"), s.signedIn("ada@example.com")
	here.get("/account").says(http.StatusOK, "ada@example.com")
	here.post("/account/password", "current", "wrong", "new", "battery staple").says(http.StatusBadRequest, "That is not the current password.")
	here.post("/account/password", "current", password, "new", "short").says(http.StatusBadRequest, "must have")
	here.post("/account/password", "current", password, "new", "battery staple").leads("/account?after=password")
	here.get("/account?after=password").says(http.StatusOK, "The password is changed.")
	there.get("/account").leads("/signin?next=%2Faccount")
	there.post("/signin", "email", "ada@example.com", "password", password).says(http.StatusUnauthorized)
	there.post("/signin", "email", "ada@example.com", "password", "battery staple").leads("/")
	here.post("/account/sessions").leads("/signin?after=everywhere")
	here.get("/account").leads("/signin?next=%2Faccount")
	there.get("/account").leads("/signin?next=%2Faccount")
}

func TestCredits(t *testing.T) {
	t.Parallel()
	s := start(t, nil)
	s.user("ada@example.com", 1500)
	p := s.signedIn("ada@example.com")
	got := p.get("/credits").says(http.StatusOK, "1,500", "welcome", "Credits are not sold on this page.", "Credit pack Micro", "$1.99", "36,000", "$799.99")
	if strings.Contains(got.body, "/credits/buy") {
		t.Error("what is not sold has a button")
	}
	p.post("/credits/buy", "plan", "micro").says(http.StatusNotFound)
	free := start(t, func(c *server.Config) { c.Jobs.Unlimited = true })
	free.user("ada@example.com", 0)
	free.signedIn("ada@example.com").get("/credits").says(http.StatusOK, "Unlimited", "Jobs cost nothing")
}

// A page without a form reads no form: net/http would store files of any size
// on disk, from anybody. Query values that are not text are refused.
func TestUnaskedForms(t *testing.T) {
	t.Parallel()
	s := start(t, nil)
	var b bytes.Buffer
	form := multipart.NewWriter(&b)
	if err := errors.Join(form.WriteField("email", "unasked@example.com"), form.WriteField("next", "/unasked"), form.Close()); err != nil {
		t.Fatal(err)
	}
	for _, where := range []struct{ method, path string }{
		{http.MethodGet, "/signin"}, {http.MethodGet, "/confirm/x"}, {http.MethodPost, "/confirm/x"}, {http.MethodPost, "/signin"},
	} {
		got := s.person().do(where.method, where.path, form.FormDataContentType(), bytes.NewReader(b.Bytes()))
		if strings.Contains(got.body, "unasked") {
			t.Errorf("%s %s took a form of files", where.method, where.path)
		}
	}
	for _, path := range []string{"/signin?next=%ff", "/signin?next=%00"} {
		if got := s.person().get(path); got.status != http.StatusNotFound {
			t.Errorf("%s: %d", path, got.status)
		}
	}
}
