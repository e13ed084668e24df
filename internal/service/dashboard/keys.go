package dashboard

import (
	"encoding/json"
	"net/http"
	"strings"

	"github.com/bgremove/bgremove/internal/service/account"
	"github.com/bgremove/bgremove/pkg/api"
)

type keysPage struct {
	page
	Keys    []account.Key
	Most    int
	Name    string // as typed before a refusal
	Created *createdKey
}

// createdKey is a key that is shown only this once.
type createdKey struct {
	Key          api.KeyCreated
	Secret, Curl string
}

func (v *visit) showKeys(status int, p keysPage) (err error) {
	p.Most = account.MaxKeys
	if p.Keys, err = v.Keys.List(v.Context(), v.who.ID); err != nil {
		return err
	}
	return v.show(status, "keys", p)
}

func (d *Dashboard) keys(v *visit) error {
	p := keysPage{page: v.page("API keys", "/keys")}
	if v.field("after") == "revoked" {
		p.Done = "The key is revoked."
	}
	return v.showKeys(http.StatusOK, p)
}

// createKey answers with the page itself rather than a redirect: the secret is
// stored nowhere, so the next request could not show it.
func (d *Dashboard) createKey(v *visit) error {
	if err := v.readForm(); err != nil {
		return err
	}
	name := v.PostForm.Get("name")
	got, err := v.call(http.MethodPost, "/api/account/keys", map[string]string{"name": name})
	if err != nil {
		return err
	}
	p := keysPage{page: v.page("API keys", "/keys")}
	if !got.ok() {
		p.Problem, p.Name = got.problem(), name
		return v.showKeys(got.status, p)
	}
	var key api.KeyCreated
	if err := json.Unmarshal(got.body.Bytes(), &key); err != nil {
		return err
	}
	p.Created = &createdKey{Key: key, Secret: key.Key, Curl: curl(v.origin(), key.Key)}
	return v.showKeys(got.status, p)
}

// curl is a command that submits a clip. The address comes from the request and
// is quoted for a shell.
func curl(origin, secret string) string {
	return "curl -H 'Authorization: Bearer " + secret + "' -F file=@clip.gif '" + strings.ReplaceAll(origin, "'", "") + "/api/v1/jobs'"
}

// origin is the visitor's address of the service.
func (v *visit) origin() string {
	if v.PublicURL != nil {
		return v.PublicURL.Scheme + "://" + v.PublicURL.Host
	}
	if v.TLS != nil {
		return "https://" + v.Host
	}
	return "http://" + v.Host
}

type revokePage struct {
	page
	Key account.Key
}

// confirmRevoke asks for confirmation if no script opens the dialog.
func (d *Dashboard) confirmRevoke(v *visit) error {
	keys, err := d.Keys.List(v.Context(), v.who.ID)
	if err != nil {
		return err
	}
	for _, k := range keys {
		if k.ID == v.PathValue("id") {
			p := revokePage{page: v.page("Revoke a key", "/keys"), Key: k}
			p.Width = "narrow"
			return v.show(http.StatusOK, "revoke", p)
		}
	}
	return account.ErrNotFound
}

func (d *Dashboard) revoke(v *visit) error {
	got, err := v.call(http.MethodDelete, "/api/account/keys/"+v.PathValue("id"), nil)
	switch {
	case err != nil:
		return err
	case got.status == http.StatusNotFound:
		return account.ErrNotFound
	case got.ok():
		return v.redirect("/keys?after=revoked")
	}
	p := keysPage{page: v.page("API keys", "/keys")}
	p.Problem = got.problem()
	return v.showKeys(got.status, p)
}
