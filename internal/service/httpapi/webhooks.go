package httpapi

import (
	"context"
	"encoding/json"
	"errors"

	"github.com/bgremove/bgremove/internal/service/job"
	"github.com/bgremove/bgremove/internal/service/outbound"
	"github.com/bgremove/bgremove/internal/service/webhook"
	"github.com/bgremove/bgremove/pkg/api"
)

// WebhookBody is the JSON of a message about the end of a job: the job as keys see it.
func WebhookBody(j job.Job, event string) ([]byte, error) {
	return json.Marshal(api.WebhookEvent{Type: api.WebhookEventType(event), Timestamp: milliseconds(j.EndedAt), Data: jobBody(j)})
}

// webhookError makes a refusal of package webhook one of a field.
func webhookError(field string, err error) error {
	var bad *outbound.URLError
	switch {
	case errors.As(err, &bad):
		return &formError{field: field, reason: bad.Reason}
	case errors.Is(err, webhook.ErrNoSecret):
		return &formError{field: field, reason: webhook.ErrNoSecret.Error()}
	case errors.Is(err, webhook.ErrTooMany):
		return &formError{reason: webhook.ErrTooMany.Error()}
	}
	return err
}

// ListWebhooks is the account's webhooks.
func (o operations) ListWebhooks(ctx context.Context, _ api.ListWebhooksRequestObject) (api.ListWebhooksResponseObject, error) {
	all, err := o.Webhooks.List(ctx, requestFrom(ctx).account.ID)
	if err != nil {
		return nil, err
	}
	return api.ListWebhooks200JSONResponse{Webhooks: bodies(all, webhookBody)}, nil
}

func webhookBody(e webhook.Endpoint) api.Webhook {
	b := api.Webhook{ID: e.ID, CreatedAt: milliseconds(e.CreatedAt)}
	if e.URL != "" {
		b.URL = &e.URL
	}
	return b
}

// CreateWebhook makes a webhook and shows its secret, this once.
func (o operations) CreateWebhook(ctx context.Context, in api.CreateWebhookRequestObject) (api.CreateWebhookResponseObject, error) {
	if !o.mayCauseCosts(requestFrom(ctx).account) {
		return nil, errUnconfirmed
	}
	url := ""
	if in.Body.URL != nil {
		if url = *in.Body.URL; url == "" {
			return nil, &formError{field: "url", reason: "must be an address such as https://example.com/path"}
		}
	}
	made, secret, err := o.Webhooks.Create(ctx, requestFrom(ctx).account.ID, url)
	if err != nil {
		return nil, webhookError("url", err)
	}
	b := webhookBody(made)
	return api.CreateWebhook201JSONResponse{ID: b.ID, URL: b.URL, CreatedAt: b.CreatedAt, Secret: secret}, nil
}

// DeleteWebhook removes a webhook.
func (o operations) DeleteWebhook(ctx context.Context, in api.DeleteWebhookRequestObject) (api.DeleteWebhookResponseObject, error) {
	if err := o.Webhooks.Delete(ctx, requestFrom(ctx).account.ID, in.ID); err != nil {
		return nil, err
	}
	return api.DeleteWebhook204Response{}, nil
}

// ListDeliveries is a page of the messages about the account's jobs.
func (o operations) ListDeliveries(ctx context.Context, in api.ListDeliveriesRequestObject) (api.ListDeliveriesResponseObject, error) {
	wanted, err := parseLimit(in.Params.Limit)
	if err != nil {
		return nil, err
	}
	before, err := parseBefore(in.Params.Before, webhook.IsID)
	if err != nil {
		return nil, err
	}
	found, err := o.Webhooks.Deliveries(ctx, requestFrom(ctx).account.ID, before, wanted+1)
	if err != nil {
		return nil, err
	}
	shown, last := pageOf(found, wanted)
	b := api.DeliveryPage{Deliveries: bodies(shown, deliveryBody)}
	if last != nil {
		b.Next = &last.ID
	}
	return api.ListDeliveries200JSONResponse(b), nil
}

func deliveryBody(d webhook.Delivery) api.Delivery {
	b := api.Delivery{
		ID: d.ID, Job: d.JobID, URL: d.URL, Event: api.WebhookEventType(d.Event), State: api.DeliveryState(d.State),
		Attempts: int(d.Attempts), CreatedAt: milliseconds(d.CreatedAt),
	}
	if d.EndpointID != "" {
		b.Webhook = &d.EndpointID
	}
	if d.Status != 0 {
		b.Status = &d.Status
	}
	if d.Error != "" {
		b.Error = &d.Error
	}
	if d.State == webhook.Waiting {
		next := milliseconds(d.NextAt)
		b.NextAt = &next
	}
	if !d.EndedAt.IsZero() {
		ended := milliseconds(d.EndedAt)
		b.EndedAt = &ended
	}
	return b
}

// Redeliver sends a message again.
func (o operations) Redeliver(ctx context.Context, in api.RedeliverRequestObject) (api.RedeliverResponseObject, error) {
	if err := o.Webhooks.Redeliver(ctx, requestFrom(ctx).account.ID, in.ID); err != nil {
		return nil, err
	}
	return api.Redeliver204Response{}, nil
}
