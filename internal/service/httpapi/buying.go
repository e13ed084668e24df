package httpapi

import (
	"context"
	"io"

	"github.com/bgremove/bgremove/internal/service/account"
	"github.com/bgremove/bgremove/pkg/api"
)

// errNothingSold answers where no plans are sold.
var errNothingSold = &notOffered{"nothing is sold here; ask the operator of this service for credits"}

// ListPlans is what credits are sold by.
func (o operations) ListPlans(context.Context, api.ListPlansRequestObject) (api.ListPlansResponseObject, error) {
	all := account.Plans()
	b := api.PlanList{Plans: make([]api.Plan, len(all))}
	for i, p := range all {
		b.Plans[i] = api.Plan{Name: p.Name, Title: p.Title, Credits: p.Credits, Cents: p.Cents, Period: api.PlanPeriod(p.Period),
			Purchasable: o.Shop != nil && o.Shop.Sells(p.Name)}
	}
	return api.ListPlans200JSONResponse(b), nil
}

// CreateCheckout begins a purchase.
func (o operations) CreateCheckout(ctx context.Context, in api.CreateCheckoutRequestObject) (api.CreateCheckoutResponseObject, error) {
	if o.Shop == nil {
		return nil, errNothingSold
	}
	who := requestFrom(ctx).account
	if !o.mayCauseCosts(who) {
		return nil, errUnconfirmed
	}
	to, err := o.Shop.Checkout(ctx, who, in.Body.Plan)
	if err != nil {
		return nil, err
	}
	return api.CreateCheckout200JSONResponse{URL: to}, nil
}

// CreatePortal begins a visit of the customer portal.
func (o operations) CreatePortal(ctx context.Context, _ api.CreatePortalRequestObject) (api.CreatePortalResponseObject, error) {
	if o.Shop == nil {
		return nil, errNothingSold
	}
	to, err := o.Shop.Portal(ctx, requestFrom(ctx).account)
	if err != nil {
		return nil, err
	}
	return api.CreatePortal200JSONResponse{URL: to}, nil
}

// ReceiveStripeEvent acts upon what Stripe tells.
func (o operations) ReceiveStripeEvent(ctx context.Context, in api.ReceiveStripeEventRequestObject) (api.ReceiveStripeEventResponseObject, error) {
	if o.Shop == nil {
		return nil, errNothingSold
	}
	payload, err := io.ReadAll(in.Body) // guard bounds it
	if err != nil {
		return nil, err
	}
	var signature string
	if in.Params.StripeSignature != nil {
		signature = *in.Params.StripeSignature
	}
	if err := o.Shop.Webhook(ctx, payload, signature); err != nil {
		return nil, err
	}
	return api.ReceiveStripeEvent204Response{}, nil
}
