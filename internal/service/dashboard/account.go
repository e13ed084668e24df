package dashboard

import (
	"net/http"

	"github.com/bgremove/bgremove/internal/service/account"
)

type accountPage struct {
	page
	PlanTitle string
}

func (v *visit) accountPage() accountPage {
	p := accountPage{page: v.page("Account", "/account"), PlanTitle: v.who.Plan}
	p.Width = "middling"
	if plan, ok := account.PlanNamed(v.who.Plan); ok {
		p.PlanTitle = plan.Title
	}
	return p
}

func (d *Dashboard) account(v *visit) error {
	if d.Local {
		return errNoPage
	}
	p := v.accountPage()
	switch v.field("after") {
	case "password":
		p.Done = "The password is changed. Other browsers are signed out."
	case "mail":
		p.Done = "The mail is on its way. Its link works for " + account.ConfirmToken.Validity() + "."
	}
	return v.show(http.StatusOK, "account", p)
}

func (d *Dashboard) changePassword(v *visit) error {
	if err := v.readForm(); err != nil {
		return err
	}
	body := map[string]string{"current": v.PostForm.Get("current"), "new": v.PostForm.Get("new")}
	return v.changeAccount(http.MethodPut, "/api/account/password", body, "/account?after=password")
}

// sendConfirmation sends the mail that confirms an address again.
func (d *Dashboard) sendConfirmation(v *visit) error {
	return v.changeAccount(http.MethodPost, "/api/confirmations", nil, "/account?after=mail")
}

func (d *Dashboard) signOutEverywhere(v *visit) error {
	return v.changeAccount(http.MethodDelete, "/api/sessions", nil, "/signin?after=everywhere")
}

// changeAccount calls a route of the API and redirects to next. If the route
// refuses, it shows the page again with the reason. A local service has no such page.
func (v *visit) changeAccount(method, path string, body any, next string) error {
	if v.Local {
		return errNoPage
	}
	got, err := v.call(method, path, body)
	if err != nil {
		return err
	}
	if got.ok() {
		return v.redirect(next)
	}
	p := v.accountPage()
	p.Problem = got.problem()
	return v.show(got.status, "account", p)
}
