package mockserver

import (
	"fmt"
	"net"
	"net/http"
	"net/netip"
	"strings"
	"sync"

	"example.com/emailplatform/events"
	"example.com/emailplatform/mockserver/internal/auth"
	"example.com/emailplatform/mockserver/internal/changes"
	"example.com/emailplatform/mockserver/internal/clock"
	"example.com/emailplatform/mockserver/internal/contract"
	"example.com/emailplatform/mockserver/internal/control"
	"example.com/emailplatform/mockserver/internal/delivery"
	"example.com/emailplatform/mockserver/internal/engine"
	"example.com/emailplatform/mockserver/internal/fault"
	"example.com/emailplatform/mockserver/internal/gateway"
	"example.com/emailplatform/mockserver/internal/httpapi"
	"example.com/emailplatform/mockserver/internal/inprocess"
	"example.com/emailplatform/mockserver/internal/mailpages"
	"example.com/emailplatform/mockserver/internal/platform"
	"example.com/emailplatform/mockserver/internal/quirk"
	"example.com/emailplatform/mockserver/internal/work"
)

// Server is an in-memory mock server for the platform. It is an
// [http.Handler]. All methods are safe for concurrent use.
type Server struct {
	cfg    Config
	engine *engine.Engine

	api       http.Handler        // with the quirks
	control   func() http.Handler // created at the first request, like mailPages
	mailPages func() http.Handler
	serve     listening
	close     sync.Once
}

// New returns a server without a network listener. Send requests through
// [Server.Transport], or mount the server as a handler. Close the server after
// use.
func New(cfg Config) *Server {
	cfg = cfg.complete()
	s := &Server{cfg: cfg}
	s.engine = build(cfg, s.linkBase)
	s.api = quirk.New(cfg.Quirks, s.engine.Gateway)
	s.mailPages = sync.OnceValue(func() http.Handler { return mailpages.New(s.engine.Platform, s.engine.Gateway.CheckHost) })
	s.control = sync.OnceValue(func() http.Handler {
		return control.New(s.engine, control.Options{
			Console:       cfg.Console,
			RetrySchedule: cfg.RetrySchedule,
			NeedsToken:    s.needsToken,
			DefaultToken:  DefaultToken,
			Quirks:        cfg.Quirks,
		})
	})
	return s
}

// build connects the layers from the bottom up: each layer receives the layers below
// it. The top layers are the control routes and this package.
func build(cfg Config, base func() string) *engine.Engine {
	e := &engine.Engine{
		Account:     cfg.Tokens[0].AccountID,
		LookupLimit: cfg.LookupLimit,
		Changes:     &changes.Feed{}, // all layers publish their changes here
		Work:        &work.Pending{}, // counts the work that Wait waits for
	}
	e.Clock = clock.New(clock.Options{Start: cfg.Now, Frozen: cfg.FreezeClock, Changes: e.Changes, Work: e.Work})
	e.Auth = auth.New(cfg.Tokens, e.Clock.Now)
	e.Faults = fault.New(cfg.FaultSeed, cfg.Logger, e.Changes)
	e.Deliveries = delivery.New(deliveryOptions(cfg, delivery.Options{
		Faults: e.Faults, Changes: e.Changes, Clock: e.Clock, Work: e.Work,
	}))
	e.Platform = platform.New(platform.Options{
		Hash:         cfg.HashFunction,
		LookupLimit:  cfg.LookupLimit,
		RecordEvents: cfg.RecordEvents,
		BaseURL:      base,
		Deliveries:   e.Deliveries,
		Faults:       e.Faults,
		Changes:      e.Changes,
		Clock:        e.Clock,
		Work:         e.Work,
	})
	e.Gateway = gateway.New(e.Platform, gateway.Options{
		Auth:           e.Auth,
		SkipValidation: cfg.SkipValidation,
		RejectUnknown:  cfg.RejectUnknownFields,
		OnViolation:    cfg.OnViolation,
		OnRequest:      cfg.OnRequest,
		Faults:         e.Faults,
		Changes:        e.Changes,
		Clock:          e.Clock,
	})
	return e
}

// deliveryOptions adds the configuration to the layers that the dispatcher uses.
func deliveryOptions(cfg Config, o delivery.Options) delivery.Options {
	o.Schedule, o.Concurrency, o.Timeout = cfg.RetrySchedule, cfg.DeliveryConcurrency, cfg.AttemptTimeout
	o.Targets = cfg.Targets
	o.Allow = delivery.Allowed{Public: cfg.AllowTargets, Hosts: cfg.AllowTargetHosts, Networks: cfg.AllowTargetNetworks}
	o.Check = eventCheck(cfg.OnViolation)
	return o
}

// eventCheck returns a function that validates deliveries, or nil if deliveries
// are not validated.
func eventCheck(violated func(error)) func(event events.Name, body []byte) {
	if violated == nil {
		return nil
	}
	return func(event events.Name, body []byte) {
		if err := contract.ValidateEvent(string(event), body); err != nil {
			violated(err)
		}
	}
}

// Close aborts all work in progress, so pending deliveries are lost. It stops all
// goroutines, timers and connections, except handlers in [Config.Targets] that ignore
// their context. Close can be called repeatedly.
func (s *Server) Close() {
	s.close.Do(func() {
		s.engine.Faults.Close()
		s.engine.Changes.Close()
		if s.serve.http != nil {
			_ = s.serve.http.Close()
			<-s.serve.done
		}
		s.engine.Platform.Close()
	})
}

// URL returns the base URL of the API, without a trailing slash. For a server from
// [New], URL returns a placeholder for use with [Server.Transport].
func (s *Server) URL() string {
	if s.serve.url == "" {
		return "http://127.0.0.1:0"
	}
	return s.serve.url
}

// linkBase returns the base URL for links in messages. If the server listens on all
// addresses of the machine, the host of the URL is localhost.
func (s *Server) linkBase() string {
	addr, err := netip.ParseAddrPort(strings.TrimPrefix(s.URL(), "http://"))
	if err == nil && addr.Addr().IsUnspecified() {
		return fmt.Sprintf("http://localhost:%d", addr.Port())
	}
	return s.URL()
}

// Format implements [fmt.Formatter]. It does not print the tokens.
func (s *Server) Format(f fmt.State, _ rune) { _, _ = fmt.Fprintf(f, "mockserver.Server{%s}", s.URL()) }

// Token returns the first access token of [Config.Tokens].
func (s *Server) Token() string { return s.cfg.Tokens[0].Value }

// Transport returns a transport that passes every request to the server in process,
// regardless of the host. It opens no sockets and leaves no goroutines running between
// requests, so you can use it in a testing/synctest bubble.
func (s *Server) Transport() http.RoundTripper { return inprocess.Transport{Handler: s} }

// HTTPClient returns a new client that uses [Server.Transport] and has no timeout. It
// works without a listener.
func (s *Server) HTTPClient() *http.Client { return &http.Client{Transport: s.Transport()} }

// ServeHTTP implements [http.Handler].
func (s *Server) ServeHTTP(w http.ResponseWriter, r *http.Request) {
	switch {
	case strings.HasPrefix(r.URL.Path, control.Prefix):
		s.control().ServeHTTP(w, r)
	case s.cfg.Console != nil && r.URL.Path == "/" && strings.Contains(r.Header.Get("Accept"), "text/html"):
		httpapi.Redirect(w, http.StatusSeeOther, control.Prefix[1:], "") // a browser gets the console
	case r.URL.Path+"/" == control.Prefix: // a user may omit the slash
		httpapi.Redirect(w, http.StatusPermanentRedirect, control.Prefix[1:], r.URL.RawQuery)
	case strings.HasPrefix(r.URL.Path, platform.LinkPrefix):
		s.mailPages().ServeHTTP(w, r)
	default:
		s.api.ServeHTTP(w, r)
	}
}

// needsToken reports whether the control routes require a token. They require
// no token on loopback addresses and for in-process requests.
func (s *Server) needsToken(r *http.Request) bool {
	if s.serve.http != nil {
		return !s.serve.loopback && httpapi.OverNetwork(r)
	}
	addr, ok := r.Context().Value(http.LocalAddrContextKey).(net.Addr)
	return ok && !httpapi.LoopbackAddr(addr)
}
