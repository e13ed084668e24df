package httpapi_test

import (
	"net/http"
	"strings"
	"testing"

	"github.com/bgremove/bgremove/internal/service/outbound"
	"github.com/bgremove/bgremove/internal/service/webhook"
	"github.com/bgremove/bgremove/pkg/api"
)

const webhooks, deliveries = "/api/account/webhooks", "/api/account/deliveries"

// TestWebhooks checks that an account makes webhooks, sees each secret once, and
// removes them, and that nobody else does.
func TestWebhooks(t *testing.T) {
	t.Parallel()
	s := start(t, nil)
	s.user("ada@example.com", 100)
	s.user("bob@example.com", 0)
	c, bob := s.signedIn("ada@example.com"), s.signedIn("bob@example.com")
	c.get(webhooks).want(t, http.StatusOK, `{"webhooks":[]}`+"\n")
	made := decode[api.WebhookCreated](t, c.post(webhooks, `{"url":"https://8.8.8.8/hook"}`), http.StatusCreated)
	secret := decode[api.WebhookCreated](t, c.post(webhooks, `{}`), http.StatusCreated)
	if made.URL == nil || secret.URL != nil || made.Secret == secret.Secret {
		t.Errorf("%+v, %+v", made, secret)
	}
	listed := c.get(webhooks)
	if all := decode[api.WebhookList](t, listed, http.StatusOK).Webhooks; len(all) != 2 || strings.Contains(listed.body, "whsec_") {
		t.Errorf("listed: %s", listed.body)
	}
	for body, message := range map[string]string{
		`{"url":""}`: "url must be", `{"url":"http://8.8.8.8/"}`: "url must begin with https://", `{"url":"https://127.0.0.1/"}`: "url must not lead to a private",
		`{"url":"https://169.254.169.254/"}`: "url must not lead to a private", `{"url":1}`: "the body is not a JSON",
		`null`: "the body is not a JSON", `{"uri":"https://8.8.8.8/hook"}`: "the body is not a JSON",
	} {
		refused := decode[api.Error](t, c.post(webhooks, body), http.StatusBadRequest)
		if refused.Message == nil || !strings.HasPrefix(*refused.Message, message) {
			t.Errorf("%s gives %+v", body, refused)
		}
	}
	c.post(webhooks, `{"url":"`+strings.Repeat("a", 100_000)+`"}`).want(t, http.StatusRequestEntityTooLarge, `{"error":"payload_too_large"}`)
	bob.do(http.MethodDelete, webhooks+"/"+made.ID, nil).want(t, http.StatusNotFound, `{"error":"not_found"}`)
	c.do(http.MethodDelete, webhooks+"/"+made.ID, nil).wantStatus(t, http.StatusNoContent)
	c.do(http.MethodDelete, webhooks+"/"+made.ID, nil).wantStatus(t, http.StatusNotFound)
	for range webhook.MaxEndpoints - 1 {
		decode[api.WebhookCreated](t, c.post(webhooks, `{}`), http.StatusCreated)
	}
	c.post(webhooks, `{}`).want(t, http.StatusBadRequest, `{"error":"bad_request","message":"there are 10 already: remove one first"}`)
}

// TestWebhookURL checks that a submission may name a webhook once there is a secret,
// that a bad one is refused before anything is charged, and that the end of each job
// is a message that can be sent again.
func TestWebhookURL(t *testing.T) {
	t.Parallel()
	s := start(t, nil)
	who := s.user("ada@example.com", 100)
	c, browser := s.client(s.key(who)), s.signedIn("ada@example.com")
	good, bad := fileField("a.gif", clip(t, 2, 10)), fileField("b.gif", []byte("no clip"))
	to := func(url string) field { return field{name: "webhookUrl", value: url} }
	url := "https://8.8.8.8/" + strings.Repeat("a", outbound.MaxURL-len("https://8.8.8.8/"))
	refuse := func(f field, message string) {
		t.Helper()
		refused := decode[api.Error](t, c.submit(jobs, []field{good, f}), http.StatusBadRequest)
		if refused.Message == nil || !strings.HasPrefix(*refused.Message, message) || s.balance(who) != 100 || s.objects() != 0 {
			t.Errorf("%+v, %d credits, %d objects", refused, s.balance(who), s.objects())
		}
	}
	refuse(to(url), "webhookUrl needs a signing secret")
	decode[api.WebhookCreated](t, browser.post(webhooks, `{}`), http.StatusCreated)
	refuse(to("https://10.0.0.1/"), "webhookUrl must not lead to a private or reserved address")
	refuse(to("https://localhost/"), "webhookUrl must not lead to a private or reserved address")
	refuse(to("nowhere"), "webhookUrl must be an address")
	refuse(to(""), "webhookUrl must be an address")
	refuse(to(url+"a"), "webhookUrl is longer than 2000 bytes")
	refuse(field{name: "webhookURL", value: url}, "webhookURL: did you mean webhookUrl?")

	made := decode[api.BatchCreated](t, c.submit(batches, []field{good, bad, to(url)}, "Idempotency-Key", "k"), http.StatusAccepted)
	c.submit(batches, []field{good, bad, to("https://8.8.4.4/")}, "Idempotency-Key", "k").want(t, http.StatusConflict, `{"error":"idempotency_conflict"}`)
	decode[api.Job](t, c.do(http.MethodDelete, jobs+"/"+made.Jobs[0].ID, nil), http.StatusOK)
	page := decode[api.DeliveryPage](t, browser.get(deliveries), http.StatusOK)
	if len(page.Deliveries) != 2 {
		t.Fatalf("%+v", page)
	}
	for i, want := range []struct{ job, event string }{{made.Jobs[0].ID, "job.cancelled"}, {made.Jobs[1].ID, "job.failed"}} {
		d := page.Deliveries[i]
		if d.Job != want.job || string(d.Event) != want.event || d.URL != url || d.State != api.DeliveryStateWaiting || d.Webhook != nil || d.NextAt == nil {
			t.Errorf("%+v, want %+v", d, want)
		}
	}
	first := decode[api.DeliveryPage](t, browser.get(deliveries+"?limit=1"), http.StatusOK)
	rest := decode[api.DeliveryPage](t, browser.get(deliveries+"?limit=1&before="+*first.Next), http.StatusOK)
	if len(rest.Deliveries) != 1 || rest.Deliveries[0].ID != page.Deliveries[1].ID || rest.Next != nil {
		t.Errorf("the rest: %+v", rest)
	}
	for _, query := range []string{"limit=0", "before=", "before=job_1"} {
		browser.get(deliveries+"?"+query).wantStatus(t, http.StatusBadRequest)
	}
	again := deliveries + "/" + page.Deliveries[0].ID + "/again"
	browser.post(again, "").wantStatus(t, http.StatusNoContent)
	s.user("bob@example.com", 0)
	s.signedIn("bob@example.com").post(again, "").want(t, http.StatusNotFound, `{"error":"not_found"}`)
}
