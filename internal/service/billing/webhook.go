package billing

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"log/slog"

	"github.com/stripe/stripe-go/v85"
	"github.com/stripe/stripe-go/v85/webhook"

	"github.com/bgremove/bgremove/internal/service/store"
)

// Events are those that Stripe should send; others are taken and do nothing.
var Events = []stripe.EventType{
	stripe.EventTypeCheckoutSessionCompleted,
	stripe.EventTypeCheckoutSessionAsyncPaymentSucceeded,
	stripe.EventTypeInvoicePaid,
	stripe.EventTypeChargeRefunded,
	stripe.EventTypeChargeDisputeFundsWithdrawn,
	stripe.EventTypeChargeDisputeFundsReinstated,
	stripe.EventTypeCustomerSubscriptionCreated,
	stripe.EventTypeCustomerSubscriptionUpdated,
	stripe.EventTypeCustomerSubscriptionDeleted,
}

// change is what an event does to the database, in the transaction in which it
// is noted. nil does nothing.
type change func(context.Context, *store.Tx) error

// readers return the effect of an event. They may query Stripe, and write
// nothing.
var readers = map[stripe.EventType]func(*Service, context.Context, stripe.Event) (change, error){
	stripe.EventTypeCheckoutSessionCompleted:             (*Service).readSession,
	stripe.EventTypeCheckoutSessionAsyncPaymentSucceeded: (*Service).readSession,
	stripe.EventTypeInvoicePaid:                          (*Service).readInvoice,
	stripe.EventTypeChargeRefunded:                       (*Service).readRefund,
	stripe.EventTypeChargeDisputeFundsWithdrawn:          (*Service).readDispute,
	stripe.EventTypeChargeDisputeFundsReinstated:         (*Service).readDispute,
	stripe.EventTypeCustomerSubscriptionCreated:          (*Service).readSubscription,
	stripe.EventTypeCustomerSubscriptionUpdated:          (*Service).readSubscription,
	stripe.EventTypeCustomerSubscriptionDeleted:          (*Service).readSubscription,
}

// Webhook acts upon an event, once however often it comes. signature is the
// header Stripe-Signature; the error is ErrSignature, wrapped, where it is not
// that of payload or older than five minutes. After any other error nothing
// was done, and Stripe should send the event again.
func (s *Service) Webhook(ctx context.Context, payload []byte, signature string) error {
	ctx, cancel := context.WithTimeout(ctx, timeout)
	defer cancel()
	if err := webhook.ValidatePayload(payload, signature, s.WebhookSecret); err != nil {
		return fmt.Errorf("%w: %w", ErrSignature, err)
	}
	// The signature is right, so that any error now is of the endpoint's version.
	event, err := webhook.ConstructEvent(payload, signature, s.WebhookSecret)
	if err != nil {
		return fmt.Errorf("read an event: %w", err)
	}
	read, ok := readers[event.Type]
	if !ok {
		return nil
	}
	apply, err := read(s, ctx, event)
	if err == nil && apply != nil {
		err = s.applyOnce(ctx, event.ID, apply)
	}
	if err != nil {
		return fmt.Errorf("event %s (%s): %w", event.ID, event.Type, err)
	}
	return nil
}

// applyOnce applies what an event does in the transaction that notes the event.
func (s *Service) applyOnce(ctx context.Context, eventID string, apply change) error {
	return s.DB.Tx(ctx, func(tx *store.Tx) error {
		done, err := tx.ExecContext(ctx, "INSERT INTO stripe_events (id, created_at) VALUES ($1, now_ms()) ON CONFLICT (id) DO NOTHING", eventID)
		if err != nil {
			return fmt.Errorf("note the event: %w", err)
		}
		if n, err := done.RowsAffected(); n == 0 || err != nil {
			return err // it was acted upon
		}
		return apply(ctx, tx)
	})
}

// decodeObject reads what an event is about.
func decodeObject[T any](e stripe.Event) (*T, error) {
	if e.Data == nil {
		return nil, errors.New("it is about nothing")
	}
	v := new(T)
	if err := json.Unmarshal(e.Data.Raw, v); err != nil {
		return nil, fmt.Errorf("read its object: %w", err)
	}
	return v, nil
}

// ignore notes in the log that an event is none of ours.
func (s *Service) ignore(ctx context.Context, e stripe.Event, why string, facts ...slog.Attr) {
	attrs := append([]slog.Attr{slog.String("event", e.ID), slog.String("type", string(e.Type)), slog.String("reason", why)}, facts...)
	s.Log.LogAttrs(ctx, slog.LevelInfo, "Stripe event ignored", attrs...)
}
