package mockserver

import (
	"fmt"
	"log/slog"
	"net"
	"net/http"
	"net/url"
	"strings"
	"sync"
	"time"

	"example.com/emailplatform/mockserver/internal/contract"
	"example.com/emailplatform/mockserver/internal/control"
	"example.com/emailplatform/mockserver/internal/delivery"
	"example.com/emailplatform/mockserver/internal/fault"
	"example.com/emailplatform/mockserver/internal/feed"
	"example.com/emailplatform/mockserver/internal/gateway"
	"example.com/emailplatform/mockserver/internal/inproc"
	"example.com/emailplatform/mockserver/internal/platform"
	"example.com/emailplatform/mockserver/internal/record"
	"example.com/emailplatform/mockserver/internal/underway"
	"example.com/emailplatform/mockserver/internal/world"
	"example.com/emailplatform/webhook"
)

// DefaultToken is the access token of a server whose Config names none.
const DefaultToken = "dev-token"

// Token is an access token and whose it is. Requests with it act for the user
// and see the account's resources alone.
type Token struct {
	// Token is the secret text that requests carry; DefaultToken if empty.
	Token string
	// UserID and UserEmail name the user, as events do. Zero values are 1 and
	// "user@example.com".
	UserID    int64
	UserEmail string
	// AccountID is the account; 1 if zero.
	AccountID int64
	// ReadOnly refuses everything but reading with 403.
	ReadOnly bool
}

// Config says how a server behaves. The zero value is a platform with one
// user, whose token is DefaultToken.
type Config struct {
	// Tokens are the access tokens that are known; one DefaultToken if empty.
	Tokens []Token
	// RetrySchedule holds the waits before a failed delivery is tried again.
	// Nil is DefaultRetrySchedule; empty is no second attempt.
	RetrySchedule []time.Duration
	// Targets answers deliveries in process: the handler is called for every
	// webhook URL with that host (with its port, unless it is that of the
	// scheme), and no socket is opened. When an attempt has taken too long, or
	// the server is closed, the request's context ends; a handler that goes on
	// then is waited for by nobody, and outlives even Close.
	Targets map[string]http.Handler
	// AllowTargets allows deliveries to public addresses. Without it they go to
	// loopback addresses alone. Private, link-local and other special addresses
	// are refused in any case.
	AllowTargets bool
	// HashFunction signs the deliveries of webhooks; webhook.SHA256 if empty.
	HashFunction webhook.Hash
	// Lookups says how the limit of one lookup a second is counted.
	Lookups LookupLimit
	// FaultSeed is the seed of the fault plan's probabilities; 0 chooses one. It
	// is logged with every rule that needs it, see [Server.FaultSeed].
	FaultSeed uint64
	// RecordEvents keeps the events that no webhook hears too, see
	// [Server.Events]; without it they are not even made.
	RecordEvents bool
	// Console answers what is read under /_mock/ and no control route takes.
	Console http.Handler
	// SkipValidation turns the validation of requests against the API's
	// document off, for benchmarks. What handlers check themselves stays.
	SkipValidation bool
	// OnViolation, if set, is called with every response and every delivered
	// body that breaks the API's document. It may be called concurrently.
	OnViolation func(error)
	// OnRequest, if set, is called after every request to the API. It may be
	// called concurrently.
	OnRequest func(Request)
	// Log receives what goes wrong outside of requests; discarded if nil.
	Log *slog.Logger
}

// Server is the platform in memory. It is an [http.Handler], and its methods
// are what a test does and sees beside the API. All methods may be called
// concurrently.
type Server struct {
	cfg   Config
	world *world.World

	control func() http.Handler
	serve   listening
	close   sync.Once
}

// New returns a server that listens nowhere: reach it by [Server.Transport],
// or mount it as a handler. Close it when it is no longer needed.
func New(cfg Config) *Server {
	cfg = conform(cfg)
	known := gateway.Tokens(each(cfg.Tokens, func(t Token) gateway.Token { return gateway.Token(t) }), DefaultToken)
	cfg.Tokens = each(known, func(t gateway.Token) Token { return Token(t) })
	if cfg.RetrySchedule == nil {
		cfg.RetrySchedule = DefaultRetrySchedule()
	}
	if cfg.HashFunction == "" {
		cfg.HashFunction = webhook.SHA256
	}
	if cfg.Log == nil {
		cfg.Log = slog.New(slog.DiscardHandler)
	}
	s := &Server{cfg: cfg, world: build(cfg, known)}
	s.control = sync.OnceValue(func() http.Handler {
		return control.New(s.world, control.Options{
			Console: cfg.Console, RetrySchedule: cfg.RetrySchedule, NeedsToken: s.needsToken,
		})
	})
	return s
}

// build puts the parts of the platform together, from the ground up.
func build(cfg Config, known []gateway.Token) *world.World {
	w := &world.World{Tokens: known, Lookups: cfg.Lookups, Changes: &feed.Feed{}, Work: &underway.Count{}}
	w.Faults = fault.New(cfg.FaultSeed, cfg.Log, w.Changes)
	w.Deliveries = delivery.New(delivery.Options{
		Schedule:    cfg.RetrySchedule,
		Targets:     cfg.Targets,
		AllowPublic: cfg.AllowTargets,
		Check:       eventCheck(cfg.OnViolation),
		Faults:      w.Faults,
		Changes:     w.Changes,
		Work:        w.Work,
	})
	w.Platform = platform.New(platform.Options{
		Hash:         cfg.HashFunction,
		Lookups:      cfg.Lookups,
		RecordEvents: cfg.RecordEvents,
		Deliveries:   w.Deliveries,
		Faults:       w.Faults,
		Changes:      w.Changes,
		Work:         w.Work,
	})
	var onRequest func(record.Request)
	if cfg.OnRequest != nil {
		onRequest = func(r record.Request) { cfg.OnRequest(Request(r)) }
	}
	w.API = gateway.New(w.Platform, w.Faults, w.Changes, gateway.Options{
		Tokens: known, SkipValidation: cfg.SkipValidation, OnViolation: cfg.OnViolation, OnRequest: onRequest,
	})
	return w
}

// eventCheck holds what is delivered against the contract, if anybody asks.
func eventCheck(violated func(error)) func(event string, body []byte) {
	if violated == nil {
		return nil
	}
	return func(event string, body []byte) {
		if err := contract.Load().ValidateEvent(event, body); err != nil {
			violated(err)
		}
	}
}

// Close ends what is under way and leaves nothing behind: no goroutine, no
// timer, no connection, unless a handler of [Config.Targets] does not heed its
// request's context. Deliveries that have not been made are lost. It may be
// called more than once.
func (s *Server) Close() {
	s.close.Do(func() {
		s.world.Faults.Close()
		s.world.Changes.Close()
		if s.serve.http != nil {
			_ = s.serve.http.Close()
			<-s.serve.done
		}
		s.world.Platform.Close()
	})
}

// URL returns the base URL of the API, without a slash at its end. That of a
// server that listens nowhere is a loopback address that nothing can listen
// on, for clients that use [Server.Transport].
func (s *Server) URL() string {
	if s.serve.url == "" {
		return "http://127.0.0.1:0"
	}
	return s.serve.url
}

// Format implements [fmt.Formatter]: it prints no token, and reads nothing that
// is changing.
func (s *Server) Format(f fmt.State, _ rune) { _, _ = fmt.Fprintf(f, "mockserver.Server{%s}", s.URL()) }

// Token returns the first of the access tokens that the server knows.
func (s *Server) Token() string { return s.cfg.Tokens[0].Token }

// Transport returns a transport that answers every request in process, whatever
// its host. It opens no socket and holds no goroutine between requests, so
// that it works in a bubble of testing/synctest.
func (s *Server) Transport() http.RoundTripper { return inproc.Transport{Handler: s} }

// ServeHTTP implements [http.Handler].
func (s *Server) ServeHTTP(w http.ResponseWriter, r *http.Request) {
	switch {
	case strings.HasPrefix(r.URL.Path, control.Prefix):
		s.control().ServeHTTP(w, r)
		return
	case r.URL.Path+"/" == control.Prefix: // typed by hand
		to := url.URL{Path: control.Prefix, RawQuery: r.URL.RawQuery}
		http.Redirect(w, r, to.String(), http.StatusPermanentRedirect)
		return
	}
	s.world.API.ServeHTTP(w, r)
}

// needsToken reports whether a token is needed: not while the server listens on
// loopback alone, and not in process.
func (s *Server) needsToken(r *http.Request) bool {
	if s.serve.http != nil {
		return !s.serve.loopback && gateway.OverNetwork(r)
	}
	addr, ok := r.Context().Value(http.LocalAddrContextKey).(net.Addr)
	return ok && !gateway.LoopbackAddr(addr)
}
