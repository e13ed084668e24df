package dashboard_test

import (
	"net/http"
	"strings"
	"testing"

	"github.com/bgremove/bgremove/internal/service/server"
)

// The user of a local service opens an address and drops a clip, with neither
// account nor credits.
func TestLocal(t *testing.T) {
	t.Parallel()
	told := make(chan string, 1)
	s := start(t, func(c *server.Config) { c.Local, c.SignIn = true, func(url string) { told <- url } })
	signIn := strings.TrimPrefix(<-told, s.url)
	p := s.person()
	p.get("/").leads("/signin")
	p.get("/signin").says(http.StatusOK, "Open the address that")
	p.get(signIn).leads("/")
	got := p.get("/").says(http.StatusOK, "unlimited credits", "Jobs cost nothing on this service.", "Drop a clip here")
	for _, not := range []string{"Sign out", "/account", "local@localhost"} {
		if strings.Contains(got.body, not) {
			t.Errorf("the page has %q", not)
		}
	}
	p.get("/account").says(http.StatusNotFound)
	for _, path := range []string{"/account/password", "/account/sessions", "/account/mail"} {
		p.post(path).says(http.StatusNotFound)
	}
	id := p.upload("/jobs", []string{"hop.gif", string(clip(t))}, blank...).jobID()
	p.ended(id)
	p.get("/jobs/"+id).says(http.StatusOK, "no credits")
	if again := p.get("/?again="+id).says(http.StatusOK, ">Run again</button>"); strings.Contains(again.body, "changes the price") {
		t.Error("a job that costs nothing has a price")
	}
	p.get("/credits").says(http.StatusOK, "Unlimited")
	p.post("/keys", "name", "script").says(http.StatusCreated, "bgr_")
	s.person().get(signIn).says(http.StatusForbidden, "works once")
}
