package mockserver

import (
	"errors"
	"fmt"
	"log/slog"
	"net/http"
	"net/netip"
	"time"

	"example.com/emailplatform/mockserver/internal/auth"
	"example.com/emailplatform/mockserver/internal/delivery"
	"example.com/emailplatform/mockserver/internal/platform"
	"example.com/emailplatform/mockserver/record"
	"example.com/emailplatform/webhook"
)

// DefaultToken is the access token of a server whose Config names none.
const DefaultToken = "dev-token"

// Token is an access token with its user and account. Package record documents its
// fields.
type Token = record.Token

// Config says how a server behaves. The zero value is a platform with one
// user, whose token is DefaultToken.
type Config struct {
	// Tokens are the access tokens that are known; one DefaultToken if empty.
	Tokens []Token
	// RetrySchedule holds the waits before a failed delivery is tried again.
	// Nil is DefaultRetrySchedule; empty is no second attempt.
	RetrySchedule []time.Duration
	// DeliveryConcurrency is how many attempts to one webhook may be under way at
	// a time; 4 unless it is positive. With 1 a webhook's deliveries come one after
	// the other, in order.
	DeliveryConcurrency int
	// AttemptTimeout is how long an attempt may take until the end of its answer; 10
	// s unless it is positive. It is real time.
	AttemptTimeout time.Duration
	// Targets answers deliveries in process: the handler is called for every
	// webhook URL with that host (with its port, unless it is that of the
	// scheme), and no socket is opened. When an attempt has taken too long, or
	// the server is closed, the request's context ends; a handler that goes on
	// then is waited for by nobody, and outlives even Close.
	Targets map[string]http.Handler
	// AllowTargets allows deliveries to public addresses. Without it they go to
	// loopback addresses alone. Private, link-local and other special addresses
	// are refused in any case, but for those that the next two fields name.
	AllowTargets bool
	// AllowTargetHosts are host names, without a port, that deliveries may go to
	// wherever they lead, such as "host.docker.internal". Case does not matter.
	AllowTargetHosts []string
	// AllowTargetNetworks are networks that deliveries may go to, by addresses or
	// by names that lead there. It is the address of the connection that counts:
	// nothing that is allowed leads to an address where clouds keep credentials of
	// their machines, such as 169.254.169.254, however it is written.
	AllowTargetNetworks []netip.Prefix
	// HashFunction signs the deliveries of webhooks; webhook.SHA256 if empty. [New]
	// panics with any but webhook.SHA256 and webhook.SHA512.
	HashFunction webhook.Hash
	// Lookups says how the limit of one lookup a second is counted.
	Lookups LookupLimit
	// Now is the platform's time at the start and after [Server.Reset]; package
	// time's if zero. It runs on from there. A time outside of the years 1970 to
	// 2199 is moved to the nearest within.
	Now time.Time
	// FreezeClock lets the platform's time stand still at the start and after
	// [Server.Reset], until [Server.Advance] or [Server.ResumeClock].
	FreezeClock bool
	// FaultSeed is the seed of the fault plan's probabilities; 0 chooses one. It
	// is logged with every rule that needs it, see [Server.FaultSeed].
	FaultSeed uint64
	// RecordEvents keeps the events that no webhook hears too, see
	// [Server.Events]; without it they are not even made.
	RecordEvents bool
	// Console answers what is read under /_mock/ and no control route takes. With
	// one, browsers that ask for / are led there.
	Console http.Handler
	// SkipValidation turns the validation of requests against the API's
	// document off, for benchmarks. What handlers check themselves stays.
	SkipValidation bool
	// RejectUnknownFields rejects requests with fields or parameters that the OpenAPI
	// document does not define, with the status 422. By default the platform ignores
	// such fields, and [Request] lists them. It has no effect with SkipValidation.
	RejectUnknownFields bool
	// OnViolation, if set, is called with every response and every delivered
	// body that breaks the API's document. It may be called concurrently, and
	// must not call Snapshot, Restore or Reset, which wait for it.
	OnViolation func(error)
	// OnRequest, if set, is called after every request to the API. It may be
	// called concurrently.
	OnRequest func(Request)
	// Log receives what goes wrong outside of requests; discarded if nil.
	Log *slog.Logger
}

// complete fills in the defaults.
func (cfg Config) complete() Config {
	cfg = holdToContract(cfg)
	cfg.Tokens = auth.Complete(cfg.Tokens, DefaultToken)
	if cfg.RetrySchedule == nil {
		cfg.RetrySchedule = DefaultRetrySchedule()
	}
	switch cfg.HashFunction {
	case "":
		cfg.HashFunction = webhook.SHA256
	case webhook.SHA256, webhook.SHA512:
	default: // the first delivery would panic
		panic(fmt.Sprintf("mockserver: Config.HashFunction: want sha256 or sha512, not %q", cfg.HashFunction))
	}
	if cfg.Log == nil {
		cfg.Log = slog.New(slog.DiscardHandler)
	}
	return cfg
}

// DefaultRetrySchedule returns the waits between the attempts of a delivery
// that is not answered with 2xx: 1 s, 5 s, 30 s, 2 min, 10 min, 1 h and 6 h.
// After the last one it has failed for good.
func DefaultRetrySchedule() []time.Duration { return delivery.DefaultRetrySchedule() }

// LookupLimit is the way of counting the limit of one lookup per second, user and
// account. Rejected lookups do not count. Its text, in flags and in JSON, is
// min_interval, token_bucket or fixed_window.
type LookupLimit = platform.LookupLimit

// The ways of counting.
const (
	// LookupMinInterval accepts a lookup one second or more after the last accepted one.
	LookupMinInterval LookupLimit = platform.LookupMinInterval
	// LookupTokenBucket adds a token every second, up to two, and each lookup takes one.
	LookupTokenBucket LookupLimit = platform.LookupTokenBucket
	// LookupFixedWindow accepts one lookup in each second of the clock.
	LookupFixedWindow LookupLimit = platform.LookupFixedWindow
)

// RevokeToken makes an access token unknown: what is asked with it from now on is
// answered with 401, which applications have to survive. The tokens of
// [Config.Tokens] come back with [Server.Reset]. It is an error if
// there is no such token, and the error does not tell which it was.
func (s *Server) RevokeToken(token string) error {
	if !s.env.Access.Revoke(token) {
		return errors.New("mockserver: token: there is no such token")
	}
	return nil
}

// SetTarget lets a handler of this process answer the deliveries to a host from
// now on, as [Config.Targets] does and in the place of what that says of the same
// host; nil takes the handler away, and they go over the network again. An attempt
// under way stays with the handler that it has. It outlives [Server.Reset].
func (s *Server) SetTarget(host string, handler http.Handler) {
	s.env.Deliveries.SetTarget(host, handler)
}

// SetLookupLimit says how the limit of lookups is counted from now on, until
// [Server.Reset].
func (s *Server) SetLookupLimit(limit LookupLimit) { s.env.Platform.SetLookups(limit) }
