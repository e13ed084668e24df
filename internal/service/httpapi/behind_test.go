package httpapi_test

import (
	"net/http"
	"strings"
	"testing"

	"github.com/bgremove/bgremove/internal/service/account"
	"github.com/bgremove/bgremove/internal/service/httpapi"
	"github.com/bgremove/bgremove/pkg/api"
)

// What stands behind the subject and around it is within its bounds and names no file.
// A refusal names the field, and charges and keeps nothing.
func TestRefusedBackgrounds(t *testing.T) {
	t.Parallel()
	s := start(t, func(c *httpapi.Config) { c.Rate = account.Rate{PerMinute: 1000, Burst: 1000} })
	who := s.user("ada@example.com", 20)
	c := s.client(s.key(who))
	good := fileField("a.gif", clip(t, 2, 10))
	option := func(name, value string) []field { return []field{good, {name: name, value: value}} }
	for name, test := range map[string]struct {
		fields []field
		field  string
	}{
		"background of a file":            {option("background", "./a.png"), "background"},
		"background of an absolute path":  {option("background", "/etc/passwd"), "background"},
		"background with a radius of 201": {option("background", "blur:201"), "background"},
		"background and colour":           {[]field{{name: "background", value: "blur"}, good, {name: "bgColor", value: "#ffffff"}}, "background"},
		"outline of 65":                   {option("outline", "#ffffff,65"), "outline"},
		"outline of a name":               {option("outline", "white,3"), "outline"},
		"shadow 101":                      {option("shadow", "0,101"), "shadow"},
		"shadow of words":                 {option("shadow", "hard"), "shadow"},
		"harmonise":                       {option("harmonise", "yes"), "harmonise"},
		"harmonise with nothing":          {option("harmonise", "true"), "harmonise"},
		"harmonise with transparent":      {[]field{{name: "harmonise", value: "true"}, good, {name: "bgColor", value: "transparent"}}, "harmonise"},
		"no room in the width":            {[]field{{name: "outline", value: "#ffffff,50"}, good, {name: "canvasW", value: "100"}}, "canvasW"},
		"no room in the height":           {[]field{{name: "shadow", value: "0,0,64"}, good, {name: "canvasH", value: "300"}}, "canvasH"},
	} {
		t.Run(name, func(t *testing.T) { c.refuses(t, test.fields, test.field) })
	}
	if left, kept := s.balance(who), s.objects(); left != 20 || kept != 0 {
		t.Errorf("%d credits are left and %d objects are kept", left, kept)
	}
}

// refuses submits a form of which a field, or with none the form itself, is wrong.
func (c *client) refuses(t *testing.T, fields []field, wrong string) {
	t.Helper()
	got := decode[api.Error](t, c.submit(jobs, fields), http.StatusBadRequest)
	if got.Error != api.ErrorCodeBadRequest || got.Message == nil {
		t.Fatalf("got %+v", got)
	}
	about := ""
	if got.Field != nil {
		about = *got.Field
	}
	if about != wrong || !strings.HasPrefix(*got.Message, about) {
		t.Errorf("%q is about %q, want %q", *got.Message, about, wrong)
	}
}
