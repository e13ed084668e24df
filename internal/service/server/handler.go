package server

import (
	"context"
	"crypto/rand"
	"net/http"
	"net/netip"
	"slices"

	"github.com/bgremove/bgremove/internal/service/account"
	"github.com/bgremove/bgremove/internal/service/apidocs"
	"github.com/bgremove/bgremove/internal/service/dashboard"
	"github.com/bgremove/bgremove/internal/service/deployment"
	"github.com/bgremove/bgremove/internal/service/httpapi"
	"github.com/bgremove/bgremove/internal/service/session"
	"github.com/bgremove/bgremove/pkg/api"
)

// openSessions opens the sessions of browsers and the limits on their attempts.
func (n *node) openSessions(ctx context.Context) (*session.Manager, *session.Throttle, error) {
	c := n.config
	cookie := session.CookieName
	if c.Local { // another service of this machine has the same host
		deployed, err := deployment.ID(ctx, n.db)
		if err != nil {
			return nil, nil, err
		}
		cookie += "_" + deployed
	}
	sessions, err := session.New(session.Config{Store: n.sessions, Accounts: n.accounts, PublicURL: c.PublicURL, CookieName: cookie})
	if err != nil {
		return nil, nil, err
	}
	secret, err := n.db.FirstFact(ctx, "device-cookie secret", rand.Text()+rand.Text())
	if err != nil {
		return nil, nil, err
	}
	return sessions, &session.Throttle{
		Limiter: n.limiter, Requests: c.AccountRate, Proxies: c.TrustedProxies, Devices: session.NewDevices(secret, c.PublicURL),
	}, nil
}

// handler answers everything that the API's address is asked.
func (n *node) handler(ctx context.Context) (http.Handler, error) {
	c := n.config
	sessions, throttle, err := n.openSessions(ctx)
	if err != nil {
		return nil, err
	}
	mux, ledger := http.NewServeMux(), account.NewLedger(n.db)
	pages, err := dashboard.New(dashboard.Config{
		Sessions: sessions, Throttle: throttle, Keys: n.keys, Ledger: ledger, Jobs: n.jobs, Webhooks: n.webhooks, API: mux, MaxFile: c.MaxFile, MaxFiles: httpapi.MaxFiles,
		SignUp: c.SignUp, WithoutNetwork: n.fastOnly, Models: n.models, Unguided: n.unguided, Unlimited: c.Jobs.Unlimited, Local: c.Local, Editors: n.editors, Finish: c.Finish,
		Shop: n.shop, Mail: n.mail != nil, PublicURL: c.PublicURL, Log: c.Log,
	})
	if err != nil {
		return nil, err
	}
	service := httpapi.New(httpapi.Config{
		Accounts: n.accounts, Keys: n.keys, Ledger: ledger, Sessions: sessions, Limiter: n.limiter,
		Throttle: throttle, Jobs: n.jobs, Feed: n.feed, Blobs: n.blobs, Prober: n.remover, Webhooks: n.webhooks, FileURLs: c.FileURLs, Shop: n.shop, Mail: n.mail,
		Limits: c.Limits, MaxFile: c.MaxFile, UploadSpace: c.UploadSpace, Rate: c.Rate, SignUp: c.SignUp, WithoutNetwork: n.fastOnly, Models: n.models, Unguided: n.unguided,
		MaxUpload: c.Jobs.MaxUpload(), Ready: n.ready, NotFound: pages.NotFound(), Observe: n.metrics.request, Log: c.Log,
	})
	n.metrics.watchUploads(service.Load)
	service.Register(mux)
	pages.Register(mux)
	if err := apidocs.Register(mux, api.Specification); err != nil {
		return nil, err
	}
	mux.Handle("GET /metrics", localOnly(n.metrics.handler(), throttle, service.RefusePath))
	if !c.Local {
		return service.Handler(mux), nil
	}
	n.local.sessions, n.local.refuse = sessions, service.Refuse
	mux.Handle("GET "+localPath, n.local.handler())
	return onlyLoopback(service.Handler(mux), func(w http.ResponseWriter) { answerStatus(w, http.StatusForbidden, `{"error":"forbidden"}`) }), nil
}

// operations serves the node's operators.
func (n *node) operations() http.Handler {
	mux := http.NewServeMux()
	mux.Handle("GET /metrics", n.metrics.handler())
	mux.HandleFunc("GET /healthz", func(w http.ResponseWriter, _ *http.Request) { answer(w, nil) })
	mux.HandleFunc("GET /readyz", func(w http.ResponseWriter, r *http.Request) { answer(w, n.ready(r.Context())) })
	return mux
}

func answer(w http.ResponseWriter, err error) {
	if err != nil {
		answerStatus(w, http.StatusServiceUnavailable, `{"error":"unavailable"}`)
		return
	}
	answerStatus(w, http.StatusOK, `{"status":"ok"}`)
}

func answerStatus(w http.ResponseWriter, status int, body string) {
	w.Header().Set("Content-Type", "application/json")
	w.Header().Set("X-Content-Type-Options", "nosniff")
	w.WriteHeader(status)
	_, _ = w.Write([]byte(body))
}

// forwardedHeaders are the headers by which proxies say that they ask for others.
var forwardedHeaders = []string{"X-Forwarded-For", "Forwarded", "X-Real-Ip", "Via"}

// localOnly answers only connections from this machine that no proxy made for
// others: numbers of the business are not everybody's. A proxy that is trusted
// asks for others, whatever it says. To others refuse answers as if nothing were there.
func localOnly(h http.Handler, throttle *session.Throttle, refuse http.HandlerFunc) http.Handler {
	return http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		from, err := netip.ParseAddrPort(r.RemoteAddr)
		near := err == nil && from.Addr().Unmap().IsLoopback() && !throttle.Trusts(from.Addr().Unmap())
		forwarded := slices.ContainsFunc(forwardedHeaders, func(name string) bool { return r.Header.Get(name) != "" })
		if !near || forwarded {
			refuse(w, r)
			return
		}
		h.ServeHTTP(w, r)
	})
}
