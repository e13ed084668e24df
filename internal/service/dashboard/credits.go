package dashboard

import (
	"encoding/json"
	"net/http"
	"net/url"
	"strings"

	"github.com/bgremove/bgremove/internal/service/account"
)

// ledgerPageSize is the number of ledger lines on a page.
const ledgerPageSize = 50

type creditsPage struct {
	page
	Plans []plan
	// Buying means that plans are sold here, Customer that there are invoices
	// to see.
	Buying, Customer bool
	Entries          []account.Line
	First            bool
	NextPath         string
}

// plan is a plan or pack that may be for sale.
type plan struct {
	account.Plan
	Sold bool
}

func (v *visit) plans() (all []plan) {
	for _, p := range account.Plans() {
		all = append(all, plan{p, v.Shop != nil && v.Shop.Sells(p.Name)})
	}
	return all
}

func (d *Dashboard) credits(v *visit) error {
	p := v.page("Credits", "/credits")
	if bought, ok := account.PlanNamed(v.field("bought")); ok {
		p.Done = "Thank you for buying " + bought.Title + ". Its credits appear as soon as the payment arrives, often at once."
	}
	return v.showCredits(http.StatusOK, p)
}

func (v *visit) showCredits(status int, around page) error {
	before := v.field("before")
	p := creditsPage{page: around, Plans: v.plans(), Buying: v.Shop != nil, First: before == ""}
	var err error
	if p.Buying {
		if p.Customer, err = v.Shop.HasCustomer(v.Context(), v.who.ID); err != nil {
			return err
		}
	}
	if p.Entries, err = v.Ledger.Statement(v.Context(), v.who.ID, before, ledgerPageSize+1); err != nil {
		return err
	}
	if len(p.Entries) > ledgerPageSize {
		p.Entries = p.Entries[:ledgerPageSize]
		p.NextPath = "/credits?before=" + url.QueryEscape(p.Entries[ledgerPageSize-1].ID)
	}
	return v.show(status, "credits", p)
}

type checkoutPage struct {
	page
	To string
}

func (d *Dashboard) buy(v *visit) error {
	if err := v.readForm(); err != nil {
		return err
	}
	return v.toPayment("/api/checkout", map[string]string{"plan": v.PostForm.Get("plan")})
}

func (d *Dashboard) portal(v *visit) error { return v.toPayment("/api/portal", nil) }

// toPayment redirects to the payment service through a page of ours, because
// our policy lets forms lead only to ourselves.
func (v *visit) toPayment(route string, body any) error {
	if v.Shop == nil {
		return errNoPage
	}
	got, err := v.call(http.MethodPost, route, body)
	if err != nil {
		return err
	}
	if !got.ok() {
		p := v.page("Credits", "/credits")
		p.Problem = got.problem()
		return v.showCredits(got.status, p)
	}
	var to struct{ URL string }
	if err := json.Unmarshal(got.body.Bytes(), &to); err != nil {
		return err
	}
	p := checkoutPage{page: v.page("To the checkout", "/credits"), To: to.URL}
	p.Leave = strings.NewReplacer("'", "%27", ";", "%3B").Replace(to.URL)
	return v.show(http.StatusOK, "checkout", p)
}
