package dashboard

import (
	"net/http"

	"github.com/bgremove/bgremove/internal/account"
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
		p.Done = "The mail is on its way. Its link works for a day."
	}
	return v.show(http.StatusOK, "account", p)
}

func (d *Dashboard) changePassword(v *visit) error {
	if err := v.readForm(); err != nil {
		return err
	}
	got, err := v.call(http.MethodPut, "/api/account/password", map[string]string{"current": v.PostForm.Get("current"), "new": v.PostForm.Get("new")})
	if err != nil {
		return err
	}
	if got.ok() {
		return v.redirect("/account?after=password")
	}
	p := v.accountPage()
	p.Problem = got.problem()
	return v.show(got.status, "account", p)
}

// sendConfirmation sends the mail once more by which an address is confirmed.
func (d *Dashboard) sendConfirmation(v *visit) error {
	got, err := v.call(http.MethodPost, "/api/confirmations", nil)
	if err != nil {
		return err
	}
	if got.ok() {
		return v.redirect("/account?after=mail")
	}
	p := v.accountPage()
	p.Problem = got.problem()
	return v.show(got.status, "account", p)
}

func (d *Dashboard) signOutEverywhere(v *visit) error {
	got, err := v.call(http.MethodDelete, "/api/sessions", nil)
	if err != nil {
		return err
	}
	if got.ok() {
		return v.redirect("/signin?after=everywhere")
	}
	p := v.accountPage()
	p.Problem = got.problem()
	return v.show(got.status, "account", p)
}
