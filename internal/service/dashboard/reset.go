package dashboard

import (
	"net/http"

	"github.com/bgremove/bgremove/internal/service/account"
)

// showReset asks for the address of a lost password. Without mail there is no
// such page.
func (d *Dashboard) showReset(v *visit) error {
	if !d.Mail {
		return errNoPage
	}
	return v.show(http.StatusOK, "reset", v.signInPage("Forgot your password?"))
}

func (d *Dashboard) reset(v *visit) error {
	if !d.Mail {
		return errNoPage
	}
	if err := v.readForm(); err != nil {
		return err
	}
	got, err := v.call(http.MethodPost, "/api/password-resets", map[string]string{"email": v.PostForm.Get("email")})
	if err != nil {
		return err
	}
	f := v.signInPage("Forgot your password?")
	if !got.ok() {
		f.Problem = got.problem()
		return v.show(got.status, "reset", f)
	}
	// The answer is the same for an unknown address, because the visitor must
	// not learn which addresses have accounts.
	f.Done = "If the address has an account, a link is on its way to it. It works for " + account.ResetToken.Validity() + "."
	return v.show(http.StatusOK, "reset", f)
}

func (d *Dashboard) showNewPassword(v *visit) error {
	return v.show(http.StatusOK, "newpassword", v.signInPage("Set a new password"))
}

func (d *Dashboard) newPassword(v *visit) error {
	if err := v.readForm(); err != nil {
		return err
	}
	got, err := v.call(http.MethodPut, "/api/password-resets/"+v.PathValue("token"), map[string]string{"password": v.PostForm.Get("password")})
	if err != nil {
		return err
	}
	if got.ok() {
		return v.redirect("/signin?after=reset")
	}
	f := v.signInPage("Set a new password")
	f.Problem = v.linkProblem(got)
	return v.show(got.status, "newpassword", f)
}

// showConfirm asks for a click, because programs that scan mail follow links
// too.
func (d *Dashboard) showConfirm(v *visit) error {
	return v.show(http.StatusOK, "confirm", v.signInPage("Confirm your address"))
}

func (d *Dashboard) confirm(v *visit) error {
	got, err := v.call(http.MethodPut, "/api/confirmations/"+v.PathValue("token"), nil)
	if err != nil {
		return err
	}
	if got.ok() {
		return v.redirect("/?after=confirmed")
	}
	f := v.signInPage("Confirm your address")
	f.Problem = v.linkProblem(got)
	return v.show(got.status, "confirm", f)
}

// linkProblem says why a link from a mail does not work.
func (v *visit) linkProblem(got *answer) *problem {
	if got.status == http.StatusNotFound {
		return &problem{Status: got.status, Title: "This link does not work any more.", Text: "It works once and for a short time. Ask for a new one."}
	}
	return got.problem()
}
