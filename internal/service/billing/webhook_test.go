package billing_test

import (
	"errors"
	"fmt"
	"net/http"
	"os"
	"regexp"
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"
	"github.com/stripe/stripe-go/v85"
	"golang.org/x/sync/errgroup"

	"github.com/bgremove/bgremove/internal/service/account"
	"github.com/bgremove/bgremove/internal/service/billing"
	"github.com/bgremove/bgremove/internal/service/store/storetest"
)

const (
	completed  = "checkout.session.completed"
	async      = "checkout.session.async_payment_succeeded"
	paid       = "invoice.paid"
	refunded   = "charge.refunded"
	withdrawn  = "charge.dispute.funds_withdrawn"
	reinstated = "charge.dispute.funds_reinstated"
	created    = "customer.subscription.created"
	updated    = "customer.subscription.updated"
	deleted    = "customer.subscription.deleted"
)

func TestPack(t *testing.T) {
	each(t, func(_ *testing.T, s *shop) {
		buys := event("evt_1", completed, 1, session(s.ann.ID, "light", "paid"))
		s.tell(buys)
		s.has(150, "light")
		s.tell(buys)
		s.tell(event("evt_2", completed, 1, session(s.ann.ID, "light", "paid")))
		s.tell(event("evt_3", async, 1, session(s.ann.ID, "light", "paid")))
		s.has(150, "light")
		s.ledger(account.Entry{Kind: account.Grant, Amount: 150, Note: "plan light (pi_1)"})
	})
}

// A payment that takes days grants credits when it arrives, and not earlier.
func TestPackPaidLater(t *testing.T) {
	each(t, func(_ *testing.T, s *shop) {
		s.tell(event("evt_1", completed, 1, session(s.ann.ID, "light", "unpaid")))
		s.has(0, "")
		s.tell(event("evt_2", async, 1, session(s.ann.ID, "light", "paid")))
		s.has(150, "light")
	})
}

// A payment grants once, even with many events about it at once.
func TestPackConcurrent(t *testing.T) {
	each(t, func(_ *testing.T, s *shop) {
		var g errgroup.Group
		for i := range 16 {
			payload := event(fmt.Sprint("evt_", i%4), completed, 1, session(s.ann.ID, "light", "paid"))
			g.Go(func() error { return s.Webhook(s.Context(), payload, sign(payload, secret, time.Now())) })
		}
		if err := g.Wait(); err != nil {
			s.Error(err)
		}
		s.has(150, "light")
	})
}

func TestSignature(t *testing.T) {
	each(t, func(_ *testing.T, s *shop) {
		payload := event("evt_1", completed, 1, session(s.ann.ID, "light", "paid"))
		other := event("evt_1", completed, 1, session(s.ann.ID, "heavy", "paid"))
		for name, signature := range map[string]string{
			"none":         "",
			"no signature": "t=1",
			"nonsense":     "v1=1,t",
			"wrong secret": sign(payload, "whsec_of_someone", time.Now()),
			"old":          sign(payload, secret, time.Now().Add(-6*time.Minute)),
			"of another":   sign(other, secret, time.Now()),
		} {
			if err := s.Webhook(s.Context(), payload, signature); !errors.Is(err, billing.ErrSignature) {
				s.Errorf("%s: %v", name, err)
			}
		}
		s.has(0, "")
		// A secret that is being replaced is still valid.
		both := sign(payload, "whsec_of_before", time.Now()) + ",v1=" + strings.Split(sign(payload, secret, time.Now()), "v1=")[1]
		if err := s.Webhook(s.Context(), payload, both); err != nil {
			s.Error(err)
		}
		s.has(150, "light")
	})
}

// An unreadable event is refused; an event that is not ours is accepted.
func TestStrangers(t *testing.T) {
	each(t, func(_ *testing.T, s *shop) {
		s.refuses(event("evt_1", completed, 1, session(s.ann.ID, "pro-monthly", "paid")), `"pro-monthly" is no pack`)
		s.refuses(event("evt_2", completed, 1, session(s.ann.ID, "gold", "paid")), `"gold" is no pack`)
		s.refuses([]byte(strings.Replace(string(event("evt_3", paid, 1, nil)), stripe.APIVersion, "2024-06-20", 1)), "API version 2024-06-20")
		s.refuses([]byte("{}"), "read an event")

		s.tell(event("evt_4", completed, 1, session("acc_none", "light", "paid")))
		if log := s.log.String(); !strings.Contains(log, "level=ERROR") || !strings.Contains(log, "acc_none") {
			s.Errorf("nobody is told of the payment: %s", log)
		}
		foreign := session(s.ann.ID, "light", "paid")
		delete(foreign, "metadata")
		s.tell(event("evt_5", completed, 1, foreign))
		s.tell(event("evt_6", paid, 1, invoice("in_9", "cus_bob", 7999, line("price_month", 7999, false))))
		s.tell(event("evt_7", refunded, 1, charge("ch_9", "pi_9", "cus_bob", 100, 100)))
		s.tell(event("evt_8", refunded, 1, charge("ch_9", "", "cus_bob", 100, 100)))
		s.tell(event("evt_9", updated, 1, map[string]any{"id": "sub_9", "object": "subscription", "customer": "cus_bob"}))
		s.tell(event("evt_10", "payment_intent.succeeded", 1, map[string]any{"id": "pi_1"}))
		s.has(0, "")
		s.ledger()
	})
}

// An event with a price that is missing in the settings is refused until it is
// there, because the money has arrived.
func TestUnknownPrice(t *testing.T) {
	each(t, func(_ *testing.T, s *shop) {
		s.known()
		unknown := event("evt_1", paid, 1, invoice("in_1", customer, 7999, line("price_new", 7999, false)))
		const missing = "price price_new is no plan's: it is missing in the setting stripe-price"
		s.refuses(unknown, missing)
		both := event("evt_2", paid, 1, invoice("in_2", customer, 15998, line("price_new", 7999, false), line("price_month", 7999, false)))
		s.refuses(both, missing) // and grants no part, as it would grant nothing later
		s.has(0, "")
		mended, err := billing.New(billing.Config{
			DB: s.db, WebhookSecret: secret, PublicURL: s.PublicURL, Prices: append(prices, billing.Price{Plan: "pro-monthly", ID: "price_new"}),
		})
		if err != nil {
			s.Fatal(err)
		}
		s.Service = mended
		s.tell(unknown)
		s.has(3000, "pro-monthly")
		s.tell(both)
		s.has(9000, "pro-monthly")
	})
}

func TestSubscription(t *testing.T) {
	each(t, func(_ *testing.T, s *shop) {
		s.known()
		begun := session(s.ann.ID, "pro-monthly", "paid")
		begun["mode"], begun["payment_intent"] = "subscription", nil
		s.tell(event("evt_1", completed, 1, begun))
		s.has(0, "")
		s.tell(event("evt_2", created, 1, subscription("active", "price_month")))
		s.tell(event("evt_3", paid, 1, invoice("in_1", customer, 7999, line("price_month", 7999, false))))
		s.tell(event("evt_4", paid, 1, invoice("in_1", customer, 7999, line("price_month", 7999, false))))
		s.has(3000, "pro-monthly")
		s.tell(event("evt_5", paid, 2, invoice("in_2", customer, 7999, line("price_month_old", 7999, false))))
		s.has(6000, "pro-monthly")

		// A pack is bought in addition.
		s.tell(event("evt_6", completed, 2, session(s.ann.ID, "light", "paid")))
		s.has(6150, "pro-monthly")

		// Another plan: the rest of a period is money, not credits, and grants
		// none.
		s.tell(event("evt_7", updated, 3, subscription("active", "price_quarter")))
		s.has(6150, "plus-quarterly")
		s.tell(event("evt_8", paid, 3, invoice("in_3", customer, 4000, line("price_month", -3999, true), line("price_quarter", 7999, false))))
		s.has(7500, "plus-quarterly")
		s.tell(event("evt_9", paid, 3, invoice("in_4", customer, 0, line("price_quarter", 0, false)))) // a trial
		s.has(7500, "plus-quarterly")

		s.tell(event("evt_10", deleted, 4, subscription("canceled", "price_quarter")))
		s.has(7500, "")
		// Late events restart nothing, but a paid invoice still grants.
		s.tell(event("evt_11", updated, 3, subscription("active", "price_quarter")))
		s.tell(event("evt_12", paid, 3, invoice("in_5", customer, 7999, line("price_quarter", 7999, false))))
		s.has(10200, "")
	})
}

// The order of a subscription's events does not matter.
func TestSubscriptionOrder(t *testing.T) {
	each(t, func(_ *testing.T, s *shop) {
		s.known()
		s.tell(event("evt_1", paid, 1, invoice("in_1", customer, 7999, line("price_month", 7999, false))))
		s.has(3000, "pro-monthly")
		s.tell(event("evt_2", updated, 5, subscription("past_due", "price_month")))
		s.has(3000, "pro-monthly")
		s.tell(event("evt_3", updated, 6, subscription("unpaid", "price_month")))
		s.has(3000, "")
		s.tell(event("evt_4", created, 1, subscription("active", "price_month")))
		s.has(3000, "")
		s.tell(event("evt_5", deleted, 4, subscription("active", "price_month"))) // a deleted subscription stays over
		s.tell(event("evt_6", updated, 7, subscription("active", "price_month")))
		s.has(3000, "")
	})
}

// Of two events in one second, the second may arrive first.
func TestSubscriptionOrderOfASecond(t *testing.T) {
	each(t, func(_ *testing.T, s *shop) {
		s.known()
		s.tell(event("evt_1", updated, 1, subscription("active", "price_month")))
		s.tell(event("evt_2", created, 1, subscription("incomplete", "price_month")))
		s.has(0, "pro-monthly")
	})
}

// An account may have a subscription beside one that was begun and never paid: its plan is
// that of the one that is paid.
func TestSubscriptionBesideAnother(t *testing.T) {
	each(t, func(_ *testing.T, s *shop) {
		s.known()
		other := func(status, price string) map[string]any {
			o := subscription(status, price)
			o["id"] = "sub_2"
			return o
		}
		s.tell(event("evt_1", created, 1, subscription("active", "price_month")))
		s.tell(event("evt_2", created, 2, other("incomplete", "price_month")))
		s.has(0, "pro-monthly")
		s.tell(event("evt_3", updated, 3, other("incomplete_expired", "price_month")))
		s.has(0, "pro-monthly")
		s.tell(event("evt_4", deleted, 4, subscription("canceled", "price_month")))
		s.has(0, "")
	})
}

func TestRefund(t *testing.T) {
	each(t, func(_ *testing.T, s *shop) {
		s.tell(event("evt_1", completed, 1, session(s.ann.ID, "light", "paid")))
		s.spend(100)
		half := event("evt_2", refunded, 2, charge("ch_1", "pi_1", customer, 999, 333))
		s.tell(half)
		s.tell(half)
		s.has(0, "light")
		s.tell(event("evt_3", refunded, 3, charge("ch_1", "pi_1", customer, 999, 999)))
		s.tell(event("evt_4", refunded, 2, charge("ch_1", "pi_1", customer, 999, 333))) // late
		s.has(0, "light")
		s.ledger(
			account.Entry{Kind: account.Reversal, Note: "payment refunded or disputed (pi_1): 100 of 100 credits had been spent"},
			account.Entry{Kind: account.Reversal, Amount: -50, Note: "payment refunded or disputed (pi_1)"},
			account.Entry{Kind: account.Charge, Amount: -100, JobID: "job_100"},
			account.Entry{Kind: account.Grant, Amount: 150, Note: "plan light (pi_1)"})
	})
}

// A refund that arrives before its payment takes back the payment's grant.
func TestRefundFirst(t *testing.T) {
	each(t, func(_ *testing.T, s *shop) {
		s.known()
		s.tell(event("evt_1", refunded, 2, charge("ch_1", "pi_1", customer, 999, 333)))
		s.has(0, "")
		s.tell(event("evt_2", completed, 1, session(s.ann.ID, "light", "paid")))
		s.tell(event("evt_3", async, 1, session(s.ann.ID, "light", "paid")))
		s.has(100, "light")
	})
}

// A period's charge names no invoice, so Stripe is asked.
func TestRefundOfPeriod(t *testing.T) {
	each(t, func(_ *testing.T, s *shop) {
		s.known()
		s.tell(event("evt_1", paid, 1, invoice("in_1", customer, 7999, line("price_month", 7999, false))))
		back := event("evt_2", refunded, 2, charge("ch_1", "pi_period", customer, 7999, 7999))
		s.stripe.set(func() { s.stripe.broken = http.StatusInternalServerError })
		s.refuses(back, "look up an invoice")
		s.has(3000, "pro-monthly")
		s.stripe.set(func() { s.stripe.broken = 0 })
		s.tell(back)
		s.has(0, "pro-monthly")
		if got := s.stripe.asked("/v1/invoice_payments").Get("payment[type]"); got != "payment_intent" {
			s.Errorf("asked for a payment of type %q", got)
		}
	})
}

func TestDispute(t *testing.T) {
	each(t, func(_ *testing.T, s *shop) {
		s.tell(event("evt_1", completed, 1, session(s.ann.ID, "light", "paid")))
		s.spend(30)
		s.tell(event("evt_2", withdrawn, 2, dispute("du_1", "pi_1", 999)))
		s.has(0, "light")
		s.tell(event("evt_3", reinstated, 3, dispute("du_1", "pi_1", 999)))
		s.has(120, "light")
		s.tell(event("evt_4", withdrawn, 2, dispute("du_1", "pi_1", 999))) // late
		s.has(120, "light")
		s.ledger(
			account.Entry{Kind: account.Grant, Amount: 120, Note: "dispute won (pi_1)"},
			account.Entry{Kind: account.Reversal, Amount: -120, Note: "payment refunded or disputed (pi_1): 30 of 150 credits had been spent"},
			account.Entry{Kind: account.Charge, Amount: -30, JobID: "job_30"},
			account.Entry{Kind: account.Grant, Amount: 150, Note: "plan light (pi_1)"})
	})
}

// A dispute names no customer. If it arrives first, its charge names one.
func TestDisputeFirst(t *testing.T) {
	each(t, func(_ *testing.T, s *shop) {
		s.known()
		s.tell(event("evt_1", withdrawn, 2, dispute("du_1", "pi_1", 999)))
		s.tell(event("evt_2", completed, 1, session(s.ann.ID, "light", "paid")))
		s.has(0, "light")
	})
}

// A refund and a dispute of one payment together take back its grant, and no
// more.
func TestRefundAndDispute(t *testing.T) {
	each(t, func(_ *testing.T, s *shop) {
		s.tell(event("evt_1", completed, 1, session(s.ann.ID, "light", "paid")))
		if _, err := account.NewLedger(s.db).Grant(s.Context(), s.ann.ID, 1000, "a gift"); err != nil {
			s.Fatal(err)
		}
		var g errgroup.Group
		for i, payload := range [][]byte{
			event("evt_2", refunded, 2, charge("ch_1", "pi_1", customer, 999, 333)),
			event("evt_3", refunded, 3, charge("ch_1", "pi_1", customer, 999, 666)),
			event("evt_4", withdrawn, 3, dispute("du_1", "pi_1", 999)),
			event("evt_4", withdrawn, 3, dispute("du_1", "pi_1", 999)),
		} {
			g.Go(func() error {
				if err := s.Webhook(s.Context(), payload, sign(payload, secret, time.Now())); err != nil {
					return fmt.Errorf("%d: %w", i, err)
				}
				return nil
			})
		}
		if err := g.Wait(); err != nil {
			s.Error(err)
		}
		s.has(1000, "light")
	})
}

func TestSweep(t *testing.T) {
	each(t, func(_ *testing.T, s *shop) {
		s.tell(event("evt_1", completed, 1, session(s.ann.ID, "light", "paid")))
		if _, err := s.db.ExecContext(s.Context(), "UPDATE stripe_events SET created_at = created_at - CAST(91 * 24 * 3600 AS BIGINT) * 1000"); err != nil {
			s.Fatal(err)
		}
		s.tell(event("evt_2", updated, 1, subscription("active", "price_month")))
		if n, err := s.Sweep(s.Context()); n != 1 || err != nil {
			s.Errorf("%d swept, %v", n, err)
		}
		s.tell(event("evt_1", completed, 1, session(s.ann.ID, "light", "paid")))
		s.has(150, "light")
	})
}

// TestEventsDocumented checks that the documented endpoint receives the events
// that we handle, in the version that we read.
func TestEventsDocumented(t *testing.T) {
	t.Parallel()
	text, err := os.ReadFile("../../../docs/operations.md")
	if err != nil {
		t.Fatal(err)
	}
	var told []stripe.EventType
	for _, found := range regexp.MustCompile(`enabled_events\[\]=([a-z_.]+)`).FindAllStringSubmatch(string(text), -1) {
		told = append(told, stripe.EventType(found[1]))
	}
	if diff := cmp.Diff(billing.Events, told); diff != "" {
		t.Errorf("events (-), document (+):\n%s", diff)
	}
	if !strings.Contains(string(text), "api_version="+stripe.APIVersion+" ") {
		t.Errorf("the document does not name version %s", stripe.APIVersion)
	}
}

// FuzzWebhook checks that signed events with any object are accepted or
// refused, and that every sum stays right.
func FuzzWebhook(f *testing.F) {
	s := open(f, storetest.Open(f, storetest.SQLite(f))).known()
	f.Add(0, `{"id":"cs_1","mode":"payment","payment_status":"paid","customer":"cus_ann","client_reference_id":"x","metadata":{"plan":"micro"}}`)
	f.Add(2, `{"id":"in_1","customer":{"id":"cus_ann"},"lines":{"data":[{"amount":-1,"pricing":{"price_details":{"price":"price_month"}}}]}}`)
	f.Add(3, `{"id":"ch_1","amount":1,"amount_refunded":9223372036854775807,"payment_intent":"pi_1"}`)
	f.Add(6, `null`)
	f.Fuzz(func(t *testing.T, kind int, object string) {
		kinds := billing.Events
		payload := fmt.Appendf(nil, `{"id":"evt_%d","object":"event","api_version":%q,"created":1,"type":%q,"data":{"object":%s}}`,
			time.Now().UnixNano(), stripe.APIVersion, kinds[(kind%len(kinds)+len(kinds))%len(kinds)], object)
		_ = s.Webhook(t.Context(), payload, sign(payload, secret, time.Now()))
		credits, sum := int64(0), int64(0)
		if err := s.db.QueryRowContext(t.Context(), "SELECT credits, (SELECT COALESCE(SUM(amount), 0) FROM ledger WHERE account_id = accounts.id) FROM accounts WHERE id = $1",
			s.ann.ID).Scan(&credits, &sum); err != nil || credits != sum || credits < 0 {
			t.Errorf("%d credits of %d in the ledger: %v", credits, sum, err)
		}
	})
}
