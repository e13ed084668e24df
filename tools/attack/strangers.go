package main

import (
	"bytes"
	"context"
	"crypto/hmac"
	"crypto/sha256"
	"encoding/hex"
	"errors"
	"fmt"
	"net/http"
	"strings"
	"time"

	"github.com/bgremove/bgremove/pkg/api"
)

var strangerAttacks = []attack{
	{name: "paths", what: "requests for ../../bgremove.db, /etc/passwd and the like, in every spelling", run: paths},
	{name: "webhook", what: "payments without Stripe's signature, or with an old one", run: webhook},
	{name: "metrics", what: "/metrics through a trusted proxy, and with headers of proxies", flags: []string{"--trusted-proxies", "127.0.0.0/8"}, run: metrics},
	{name: "headers", what: "answers with a type that a browser may guess", run: headers},
	{name: "events", what: "a browser that resumes a stream while nothing happens", run: events},
}

func paths(ctx context.Context, t *target) (string, error) {
	v, err := t.browser(ctx, credits)
	if err != nil {
		return "", err
	}
	tried := 0
	for _, up := range []string{"../../../..", "..%2f..%2f..%2f..", "%2e%2e/%2e%2e/%2e%2e/%2e%2e", `..%5c..%5c..%5c..`, "....//....//....//....", "%252e%252e%252f%252e%252e"} {
		for _, file := range []string{"/etc/passwd", t.deployment.Folder() + "/bgremove.db"} {
			for _, route := range []string{"/", "/docs/", "/api/v1/jobs/", "/api/jobs/", "/jobs/", "/assets/", "/reset/"} {
				for _, end := range []string{"", "/download", "/input"} {
					path := route + up + file + end
					got, err := v.get(ctx, path)
					if err != nil {
						return "", err
					}
					if got.status < 300 || bytes.Contains(got.body, []byte("root:")) || bytes.Contains(got.body, []byte("SQLite format")) {
						return "", fmt.Errorf("%s: %v", path, got)
					}
					tried++
				}
			}
		}
	}
	return fmt.Sprintf("no file in %d answers", tried), nil
}

// webhook uses a server that sells, and signs events as Stripe.
func webhook(ctx context.Context, t *target) (_ string, err error) {
	const secret = "whsec_attack"
	p, err := t.newDeployment(ctx)
	if err != nil {
		return "", err
	}
	p.Set("BGREMOVE_STRIPE_KEY", "sk_test_attack")
	p.Set("BGREMOVE_STRIPE_WEBHOOK_SECRET", secret)
	t, err = t.serve(ctx, p, p, "api", "--stripe-api", "http://127.0.0.1:1", "--stripe-price", "light=price_attack", "--public-url", "http://clips.example")
	if err != nil {
		return "", err
	}
	defer func() { err = errors.Join(err, t.close(ctx)) }()
	v, err := t.customer(ctx, 0)
	if err != nil {
		return "", err
	}
	event := fmt.Sprintf(`{"id":"evt_1","object":"event","type":"checkout.session.completed","data":{"object":{"id":"cs_1","object":"checkout.session",
		"mode":"payment","payment_status":"paid","payment_intent":"pi_1","client_reference_id":%q,"metadata":{"plan":"light"}}}}`, v.id)
	send := func(signature string) (answer, error) {
		return t.stranger().send(ctx, http.MethodPost, "/api/stripe/webhook", strings.NewReader(event), "Stripe-Signature", signature)
	}
	now := time.Now()
	for name, signature := range map[string]string{
		"none": "", "nonsense": "t=1,v1=00", "another secret": signed("whsec_other", event, now),
		"another event": signed(secret, event+" ", now), "an hour old": signed(secret, event, now.Add(-time.Hour)),
		"another scheme": strings.Replace(signed(secret, event, now), "v1=", "v0=", 1),
	} {
		got, err := send(signature)
		if err := errors.Join(err, got.want(http.StatusBadRequest, api.ErrorCodeBadRequest)); err != nil {
			return "", fmt.Errorf("signature %s: %w", name, err)
		}
	}
	return "6 times 400, no credits", t.hasCredits(ctx, v, 0)
}

// signed is Stripe's header for a signed event.
func signed(secret, event string, at time.Time) string {
	mac := hmac.New(sha256.New, []byte(secret))
	fmt.Fprintf(mac, "%d.%s", at.Unix(), event)
	return fmt.Sprintf("t=%d,v1=%s", at.Unix(), hex.EncodeToString(mac.Sum(nil)))
}

// metrics are requested from a server that trusts all its visitors as proxies.
func metrics(ctx context.Context, t *target) (_ string, err error) {
	proxied, err := t.stranger().get(ctx, "/metrics")
	if err := errors.Join(err, proxied.want(http.StatusNotFound, api.ErrorCodeNotFound)); err != nil {
		return "", fmt.Errorf("a trusted proxy: %w", err)
	}
	direct, err := t.open(ctx)
	if err != nil {
		return "", err
	}
	defer func() { err = errors.Join(err, direct.close(ctx)) }()
	for _, header := range []string{"X-Forwarded-For", "Forwarded", "X-Real-Ip", "Via"} {
		got, err := direct.stranger().get(ctx, "/metrics", header, "203.0.113.5")
		if err := errors.Join(err, got.want(http.StatusNotFound, api.ErrorCodeNotFound)); err != nil {
			return "", fmt.Errorf("%s: %w", header, err)
		}
	}
	own, err := direct.stranger().get(ctx, "/metrics")
	return "404; 200 for this machine alone", errors.Join(err, own.want(http.StatusOK, ""))
}

func headers(ctx context.Context, t *target) (string, error) {
	v, err := t.browser(ctx, 0)
	if err != nil {
		return "", err
	}
	asked := []string{"/healthz", "/readyz", "/api/account", "/api/plans", "/api/v1/jobs/none", "/api/nothing", "/nothing", "/openapi.json", "/docs", "/metrics", "/signin", "/jobs"}
	for _, path := range asked {
		got, err := v.get(ctx, path)
		if err != nil {
			return "", err
		}
		if got.header.Get("X-Content-Type-Options") != "nosniff" {
			return "", fmt.Errorf("%s: %v without nosniff", path, got)
		}
	}
	return fmt.Sprintf("nosniff in %d answers", len(asked)), nil
}

// eventsWithin is shorter than the interval at which a quiet stream reports
// that it is alive.
const eventsWithin = 10 * time.Second

func events(ctx context.Context, t *target) (string, error) {
	v, err := t.browser(ctx, 0)
	if err != nil {
		return "", err
	}
	ctx, cancel := context.WithTimeout(ctx, eventsWithin)
	defer cancel()
	r, err := http.NewRequestWithContext(ctx, http.MethodGet, v.url+"/api/jobs/events", nil)
	if err != nil {
		return "", err
	}
	r.Header.Set("Last-Event-ID", "0")
	began := time.Now()
	got, err := v.http.Do(r)
	if err != nil {
		return "", fmt.Errorf("no header: %w", err)
	}
	defer got.Body.Close()
	return fmt.Sprintf("%d after %.1f s", got.StatusCode, time.Since(began).Seconds()), answer{status: got.StatusCode}.want(http.StatusOK, "")
}
