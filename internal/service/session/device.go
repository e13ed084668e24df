package session

import (
	"crypto/hmac"
	"crypto/rand"
	"crypto/sha256"
	"encoding/base64"
	"net/http"
	"net/url"
	"strings"
	"time"

	"github.com/bgremove/bgremove/internal/service/account"
)

// DeviceCookie is the cookie of a browser in which an account has signed in
// before.
const DeviceCookie = "bgremove_device"

// deviceLifetime is how long a browser is known.
const deviceLifetime = 365 * 24 * time.Hour

// Devices recognise the browsers in which an account has signed in before, by a
// signed cookie. Strangers who try its password then do not lock its owner out.
// See OWASP, "Slow Down Online Guessing Attacks with Device Cookies". It is
// safe for concurrent use. A nil one knows no browser.
type Devices struct {
	secret []byte
	secure bool
}

// NewDevices makes cookies that are signed by a secret, for browsers that reach
// the service at publicURL, which may be nil.
func NewDevices(secret string, publicURL *url.URL) *Devices {
	return &Devices{secret: []byte(secret), secure: secure(publicURL)}
}

// secure reports whether cookies are sent by https alone.
func secure(publicURL *url.URL) bool { return publicURL != nil && publicURL.Scheme == "https" }

// Remember lets a browser keep that the account of an address has signed in.
func (d *Devices) Remember(w http.ResponseWriter, email string) {
	if d == nil {
		return
	}
	device := rand.Text()
	http.SetCookie(w, &http.Cookie{
		Name: DeviceCookie, Value: device + "." + d.sign(device, email), Path: "/", MaxAge: int(deviceLifetime / time.Second),
		HttpOnly: true, SameSite: http.SameSiteLaxMode, Secure: d.secure,
	})
}

// known is the name of the browser that sends r, if the account of an address has
// signed in there.
func (d *Devices) known(r *http.Request, email string) (device string, ok bool) {
	if d == nil {
		return "", false
	}
	cookie, err := r.Cookie(DeviceCookie)
	if err != nil {
		return "", false
	}
	device, signature, _ := strings.Cut(cookie.Value, ".")
	return device, hmac.Equal([]byte(signature), []byte(d.sign(device, email)))
}

func (d *Devices) sign(device, email string) string {
	mac := hmac.New(sha256.New, d.secret)
	mac.Write([]byte(device + "\n" + account.NormalEmail(email)))
	return base64.RawURLEncoding.EncodeToString(mac.Sum(nil))
}
