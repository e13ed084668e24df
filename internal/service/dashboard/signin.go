package dashboard

import (
	"net/http"
)

// signInForm is the data of pages for visitors who are not signed in.
type signInForm struct {
	page
	Email, Next string
}

func (v *visit) signInPage(title string) signInForm {
	f := signInForm{page: v.page(title, ""), Email: v.PostForm.Get("email"), Next: localPath(v.field("next"))}
	f.Width = "narrow"
	return f
}

func (d *Dashboard) showSignIn(v *visit) error {
	f := v.signInPage("Sign in")
	if v.who != nil {
		return v.redirect(f.Next)
	}
	switch v.field("after") {
	case "signout":
		f.Done = "You are signed out."
	case "everywhere":
		f.Done = "You are signed out in every browser."
	case "reset":
		f.Done = "The new password is set. Sign in with it."
	}
	return v.show(http.StatusOK, "signin", f)
}

func (d *Dashboard) signIn(v *visit) error {
	if err := v.readForm(); err != nil {
		return err
	}
	got, err := v.call(http.MethodPost, "/api/session", map[string]string{"email": v.PostForm.Get("email"), "password": v.PostForm.Get("password")})
	if err != nil {
		return err
	}
	f := v.signInPage("Sign in")
	if got.ok() {
		return v.redirect(f.Next)
	}
	f.Problem = got.problem()
	if got.status == http.StatusUnauthorized {
		f.Problem = &problem{Status: got.status, Title: "Wrong address or password."}
	}
	return v.show(got.status, "signin", f)
}

func (d *Dashboard) signOut(v *visit) error {
	if _, err := v.call(http.MethodDelete, "/api/session", nil); err != nil {
		return err
	}
	return v.redirect("/signin?after=signout")
}

func (d *Dashboard) showSignUp(v *visit) error {
	if !d.SignUp {
		return errNoPage
	}
	if v.who != nil {
		return v.redirect("/")
	}
	return v.show(http.StatusOK, "signup", v.signInPage("Sign up"))
}

func (d *Dashboard) signUp(v *visit) error {
	if err := v.readForm(); err != nil {
		return err
	}
	got, err := v.call(http.MethodPost, "/api/accounts", map[string]string{"email": v.PostForm.Get("email"), "password": v.PostForm.Get("password")})
	if err != nil {
		return err
	}
	if got.ok() {
		return v.redirect("/")
	}
	f := v.signInPage("Sign up")
	f.Problem = got.problem()
	return v.show(got.status, "signup", f)
}

// maxForm is the largest size of a form without files, in bytes.
const maxForm = 64 << 10

// readForm reads a form without files.
func (v *visit) readForm() error {
	v.Body = http.MaxBytesReader(v.w, v.Body, maxForm)
	if err := v.ParseForm(); err != nil {
		return errForm
	}
	return nil
}
