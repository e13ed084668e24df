package cli

import (
	"errors"
	"fmt"
	"net/url"
	"strings"

	"github.com/spf13/pflag"

	"github.com/bgremove/bgremove/internal/service/billing"
	"github.com/bgremove/bgremove/internal/service/mailer"
)

// shopOptions are the flags for selling plans and sending mails.
type shopOptions struct {
	prices []string
	smtp   string
}

func (o *serveOptions) shopFlags(f *pflag.FlagSet) {
	f.StringSliceVar(&o.shop.prices, "stripe-price", nil, "`plans` that are sold through Stripe, with their prices, such as light=price_1Ab,pro-monthly=price_2Cd")
	f.Var(secret{&o.Shop.Key}, "stripe-key", "Stripe's secret `key` (not on the command line)")
	f.Var(secret{&o.Shop.WebhookSecret}, "stripe-webhook-secret", "the signing `secret` of the webhook endpoint (not on the command line)")
	f.StringVar(&o.Shop.API, "stripe-api", "", "an `address` in place of Stripe's own, for tests")
	f.Var(secret{&o.shop.smtp}, "smtp", "the mail `server`, smtp://USER:PASSWORD@HOST:PORT or smtps://… (not on the command line)")
	f.StringVar(&o.Mail.From, "mail-from", "", "the sender of mails, such as 'Clips <noreply@clips.example>'")
}

// checkShop requires all or none of the flags for selling.
func (o *serveOptions) checkShop() error {
	if o.Shop.Key == "" && o.Shop.WebhookSecret == "" && len(o.shop.prices) == 0 {
		return nil
	}
	errs := []error{requireFlags("selling plans",
		flagValue{"stripe-key", o.Shop.Key != ""}, flagValue{"stripe-webhook-secret", o.Shop.WebhookSecret != ""},
		flagValue{"stripe-price", len(o.shop.prices) > 0}, flagValue{"public-url", o.publicURL != ""})}
	for _, text := range o.shop.prices {
		plan, id, ok := strings.Cut(text, "=")
		if !ok {
			errs = append(errs, fmt.Errorf("stripe-price: %q is not PLAN=PRICE", text))
			continue
		}
		o.Shop.Prices = append(o.Shop.Prices, billing.Price{Plan: plan, ID: id})
	}
	if err := billing.CheckPrices(o.Shop.Prices); err != nil && errors.Join(errs...) == nil {
		errs = append(errs, fmt.Errorf("stripe-price: %w", err))
	}
	if u, err := url.Parse(o.Shop.API); o.Shop.API != "" && (err != nil || u.Host == "" || u.Scheme != "http" && u.Scheme != "https") {
		errs = append(errs, fmt.Errorf("stripe-api: %q is not an address such as http://127.0.0.1:12111", o.Shop.API))
	}
	if o.Jobs.Unlimited {
		errs = append(errs, errors.New("stripe-key: nothing can be sold with --credits unlimited"))
	}
	return errors.Join(errs...)
}

// checkMail requires all or none of the flags for sending mails.
func (o *serveOptions) checkMail() error {
	if o.shop.smtp == "" && o.Mail.From == "" {
		return nil
	}
	errs := []error{requireFlags("sending mail", flagValue{"smtp", o.shop.smtp != ""}, flagValue{"mail-from", o.Mail.From != ""}, flagValue{"public-url", o.publicURL != ""})}
	if o.shop.smtp != "" {
		server, err := mailer.ParseServer(o.shop.smtp)
		if err != nil {
			errs = append(errs, fmt.Errorf("smtp: %w", err))
		}
		o.Mail.Server = server
	}
	if o.Mail.From != "" {
		if err := mailer.CheckFrom(o.Mail.From); err != nil {
			errs = append(errs, fmt.Errorf("mail-from: %w", err))
		}
	}
	return errors.Join(errs...)
}

// flagValue says whether a flag has a value.
type flagValue struct {
	flag string
	set  bool
}

// requireFlags names the missing flags.
func requireFlags(purpose string, all ...flagValue) error {
	var errs []error
	for _, g := range all {
		if !g.set {
			errs = append(errs, fmt.Errorf("%s: missing, but needed for %s", g.flag, purpose))
		}
	}
	return errors.Join(errs...)
}
