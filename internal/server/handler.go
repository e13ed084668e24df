package server

import (
	"net/http"
	"net/netip"
	"slices"

	"github.com/bgremove/bgremove/internal/account"
	"github.com/bgremove/bgremove/internal/apidocs"
	"github.com/bgremove/bgremove/internal/dashboard"
	"github.com/bgremove/bgremove/internal/httpapi"
	"github.com/bgremove/bgremove/internal/session"
	"github.com/bgremove/bgremove/pkg/api"
)

// handler answers everything that the API's address is asked.
func (n *node) handler() (http.Handler, error) {
	c := n.config
	sessions, err := session.New(session.Config{Store: n.sessions, Accounts: n.accounts, PublicURL: c.PublicURL})
	if err != nil {
		return nil, err
	}
	throttle := &session.Throttle{Limiter: n.limiter, Requests: c.AccountRate, Proxies: c.TrustedProxies}
	mux, ledger := http.NewServeMux(), account.NewLedger(n.db)
	pages, err := dashboard.New(dashboard.Config{
		Sessions: sessions, Throttle: throttle, Keys: n.keys, Ledger: ledger, Jobs: n.jobs, API: mux, MaxFile: c.MaxFile,
		SignUp: c.SignUp, WithoutNetwork: n.fastOnly, Unlimited: c.Jobs.Unlimited, Local: c.Local,
		Shop: n.shop, Mail: n.mail != nil, PublicURL: c.PublicURL, Log: c.Log,
	})
	if err != nil {
		return nil, err
	}
	service := httpapi.New(httpapi.Config{
		Accounts: n.accounts, Keys: n.keys, Ledger: ledger, Sessions: sessions, Limiter: n.limiter,
		Throttle: throttle, Jobs: n.jobs, Feed: n.feed, Blobs: n.blobs, Prober: n.remover, Shop: n.shop, Mail: n.mail,
		Limits: c.Limits, MaxFile: c.MaxFile, UploadSpace: c.UploadSpace, Rate: c.Rate, SignUp: c.SignUp, WithoutNetwork: n.fastOnly,
		MaxUpload: c.Jobs.KeepOrphans / 2, Ready: n.ready, NotFound: pages.NotFound(), Observe: n.metrics.request, Log: c.Log,
	})
	docs, err := apidocs.Handler(api.Specification)
	if err != nil {
		return nil, err
	}
	service.Register(mux)
	pages.Register(mux)
	for _, path := range []string{"GET /openapi.json", "GET /docs", "GET /docs/"} {
		mux.Handle(path, docs)
	}
	mux.Handle("GET /metrics", nearby(n.metrics.handler()))
	if !c.Local {
		return service.Handler(mux), nil
	}
	n.local.sessions, n.local.refuse = sessions, service.Refuse
	mux.Handle("GET "+localPath, n.local.handler())
	return onlyLoopback(service.Handler(mux), func(w http.ResponseWriter) { answerStatus(w, http.StatusForbidden, `{"error":"forbidden"}`) }), nil
}

// operations answers those who look after the node.
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
	w.WriteHeader(status)
	_, _ = w.Write([]byte(body))
}

// forwarding are the headers by which proxies say that they ask for others.
var forwarding = []string{"X-Forwarded-For", "Forwarded", "X-Real-Ip", "Via"}

// nearby answers only connections from this machine that no proxy made for
// others: numbers of the business are not everybody's.
func nearby(h http.Handler) http.Handler {
	return http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		from, err := netip.ParseAddrPort(r.RemoteAddr)
		near := err == nil && from.Addr().Unmap().IsLoopback()
		forwarded := slices.ContainsFunc(forwarding, func(name string) bool { return r.Header.Get(name) != "" })
		if !near || forwarded {
			http.NotFound(w, r)
			return
		}
		h.ServeHTTP(w, r)
	})
}
