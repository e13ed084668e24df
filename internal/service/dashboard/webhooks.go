package dashboard

import (
	"encoding/json"
	"net/http"

	"github.com/bgremove/bgremove/internal/service/webhook"
	"github.com/bgremove/bgremove/pkg/api"
)

// deliveriesShown is how many of the last messages the page has.
const deliveriesShown = 50

type webhooksPage struct {
	page
	Webhooks   []webhook.Endpoint
	Most       int
	Deliveries []webhook.Delivery
	URL        string // as typed before a refusal
	Created    *api.WebhookCreated
}

// showWebhooks shows the page with what it has of the account.
func (v *visit) showWebhooks(status int, p webhooksPage) (err error) {
	p.Most = webhook.MaxEndpoints
	if p.Webhooks, err = v.Webhooks.List(v.Context(), v.who.ID); err != nil {
		return err
	}
	if p.Deliveries, err = v.Webhooks.Deliveries(v.Context(), v.who.ID, "", deliveriesShown); err != nil {
		return err
	}
	return v.show(status, "webhooks", p)
}

func (v *visit) webhooksPage() webhooksPage {
	return webhooksPage{page: v.page("Webhooks", "/webhooks")}
}

func (d *Dashboard) webhooks(v *visit) error {
	p := v.webhooksPage()
	switch v.field("after") {
	case "removed":
		p.Done = "It is removed. Nothing more is sent to it."
	case "again":
		p.Done = "The message is about to be sent again."
	}
	return v.showWebhooks(http.StatusOK, p)
}

// createWebhook answers with the page itself, which shows the secret this once.
func (d *Dashboard) createWebhook(v *visit) error {
	if err := v.readForm(); err != nil {
		return err
	}
	url, body := v.PostForm.Get("url"), map[string]string{}
	if url != "" {
		body["url"] = url
	}
	got, err := v.call(http.MethodPost, "/api/account/webhooks", body)
	if err != nil {
		return err
	}
	p := v.webhooksPage()
	if !got.ok() {
		p.Problem, p.URL = got.problem(), url
		return v.showWebhooks(got.status, p)
	}
	p.Created = &api.WebhookCreated{}
	if err := json.Unmarshal(got.body.Bytes(), p.Created); err != nil {
		return err
	}
	return v.showWebhooks(got.status, p)
}

func (d *Dashboard) removeWebhook(v *visit) error {
	return v.changeWebhooks(http.MethodDelete, "/api/account/webhooks/"+v.PathValue("id"), "removed")
}

func (d *Dashboard) redeliver(v *visit) error {
	return v.changeWebhooks(http.MethodPost, "/api/account/deliveries/"+v.PathValue("id")+"/again", "again")
}

// changeWebhooks calls a route of the API and leads back to the page.
func (v *visit) changeWebhooks(method, path, after string) error {
	got, err := v.call(method, path, nil)
	switch {
	case err != nil:
		return err
	case got.status == http.StatusNotFound:
		return webhook.ErrNotFound
	case got.ok():
		return v.redirect("/webhooks?after=" + after)
	}
	p := v.webhooksPage()
	p.Problem = got.problem()
	return v.showWebhooks(got.status, p)
}
