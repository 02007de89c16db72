package mockserver

import (
	"cmp"
	"fmt"
	"log/slog"
	"net/http"
	"net/netip"
	"slices"
	"time"

	"example.com/emailplatform/mockserver/internal/auth"
	"example.com/emailplatform/mockserver/internal/delivery"
	"example.com/emailplatform/mockserver/internal/platform"
	"example.com/emailplatform/mockserver/internal/quirk"
	"example.com/emailplatform/mockserver/model"
	"example.com/emailplatform/webhook"
)

// DefaultToken is the access token of a server without configured tokens.
const DefaultToken = "dev-token"

// Token is an access token with its user and account. For the fields, see
// [model.Token].
type Token = model.Token

// Config configures a server. With the zero value, the server has one user,
// whose token is DefaultToken.
type Config struct {
	// Tokens are the valid access tokens. The default is a single token, DefaultToken.
	Tokens []Token
	// RetrySchedule contains the delay before each retry of a failed delivery. The
	// default is DefaultRetrySchedule; an empty slice disables retries.
	RetrySchedule []time.Duration
	// DeliveryConcurrency is the maximum number of concurrent attempts per webhook. The
	// default is 4. With 1, the deliveries of a webhook arrive in order, unless one must
	// be retried.
	DeliveryConcurrency int
	// AttemptTimeout is the maximum duration of a delivery attempt, including the
	// response, in real time. The default is 10 s.
	AttemptTimeout time.Duration
	// Targets maps hosts to handlers that receive deliveries in process, without a socket.
	// If the URL of a webhook has a port other than the default port of its scheme, the
	// host in Targets must include the port. When an attempt times out or the server is
	// closed, the server cancels the request's context and does not wait for the handler.
	Targets map[string]http.Handler
	// AllowTargets allows deliveries to public addresses. By default, the server delivers
	// only to loopback addresses. AllowTargets does not allow private, link-local and
	// other special addresses; for them, use AllowTargetHosts or AllowTargetNetworks.
	AllowTargets bool
	// AllowTargetHosts allows deliveries to hosts with these names, without a port, such
	// as "host.docker.internal", whatever their IP addresses are. Letter case is ignored.
	AllowTargetHosts []string
	// AllowTargetNetworks allows deliveries to receivers whose resolved address is in
	// these networks. Cloud metadata addresses such as 169.254.169.254 remain blocked.
	AllowTargetNetworks []netip.Prefix
	// HashFunction is the hash function for signatures: webhook.SHA256 (default) or
	// webhook.SHA512. [New] panics if the value is invalid.
	HashFunction webhook.HashFunction
	// LookupLimit is the algorithm for the lookup rate limit of one lookup per second.
	LookupLimit LookupLimit
	// Now is the initial time of the clock. The default is time.Now. A time
	// before 1970 or after 2199 is changed to the nearest valid time.
	Now time.Time
	// FreezeClock starts the server with a frozen clock; see [Server.FreezeClock].
	FreezeClock bool
	// FaultSeed is the seed for random faults; 0 means a random seed. When a rule with a
	// probability is added, the server logs the seed, so you can repeat the faults.
	FaultSeed uint64
	// RecordEvents enables the recording of events that no webhook
	// subscribes to; see [Server.Events].
	RecordEvents bool
	// Console is the handler of the web console. It receives the GET requests under
	// /_mock/ that no control route handles. If Console is set, the server redirects
	// browsers from / to the web console.
	Console http.Handler
	// SkipValidation disables the validation of requests against the OpenAPI document, for
	// benchmarks. The request handlers still check their input, but the location of an
	// error can omit the indexes of array elements.
	SkipValidation bool
	// If RejectUnknownFields is set, the response to every request with an unknown field
	// or parameter is 422. By default, only the operations with x-reject-unknown in
	// openapi.yaml do this, because they could send an unwanted email if they ignored a
	// field. The other operations ignore unknown fields, and the request log lists the
	// ignored fields (see [Request]). With SkipValidation, RejectUnknownFields has no
	// effect.
	RejectUnknownFields bool
	// Quirks are the names of deviations from the specification, such as "null-lists" or
	// "max-page=50"; see [Quirks]. Package client works with all of these deviations. Use
	// quirks to test your application against platforms that differ from the mock server.
	// By default the server has no quirks. [New] panics if a name is unknown.
	//
	// Quirks change only the requests and responses of the API:
	//
	//   - Deliveries, control routes and the methods of Server stay unchanged. If a quirk
	//     changes the ids in responses, they therefore contain other ids than the responses.
	//   - The request log and OnRequest contain the parameters as the quirk changed them.
	//     To build one response, some quirks request several pages. The log and OnRequest
	//     contain these requests too, and fault rules count them.
	//   - OnViolation gets a response before a quirk changes it.
	Quirks []string
	// OnViolation, if not nil, is called for every response and delivery that violates the
	// OpenAPI document, possibly concurrently. It must not call Snapshot, Restore or
	// Reset, because these methods wait until the call returns.
	OnViolation func(error)
	// OnRequest, if not nil, is called after every request to the API, possibly
	// concurrently. To make a test fail after an invalid request, check the fields Status,
	// UnknownFields and UnknownParameters of the [Request] here.
	OnRequest func(Request)
	// Logger logs work that no request started. By default, [New] uses the current
	// slog.Default; slog.New(slog.DiscardHandler) disables logging.
	Logger *slog.Logger
}

func (cfg Config) complete() Config {
	cfg = holdToContract(cfg)
	cfg.Tokens = auth.Complete(cfg.Tokens, DefaultToken)
	if cfg.RetrySchedule == nil {
		cfg.RetrySchedule = DefaultRetrySchedule()
	}
	cfg.RetrySchedule = slices.Clone(cfg.RetrySchedule)
	cfg.AllowTargetHosts = slices.Clone(cfg.AllowTargetHosts)
	cfg.AllowTargetNetworks = slices.Clone(cfg.AllowTargetNetworks)
	cfg.HashFunction = cmp.Or(cfg.HashFunction, webhook.SHA256)
	if cfg.HashFunction != webhook.SHA256 && cfg.HashFunction != webhook.SHA512 { // fail now instead of at the first delivery
		panic(fmt.Sprintf("mockserver: Config.HashFunction must be sha256 or sha512, got %q", cfg.HashFunction))
	}
	cfg.Quirks = slices.Clone(cfg.Quirks)
	if err := quirk.Check(cfg.Quirks); err != nil {
		panic("mockserver: Config.Quirks: " + err.Error())
	}
	if cfg.Logger == nil {
		cfg.Logger = slog.Default()
	}
	return cfg
}

// Quirks returns the names of all quirks for [Config].Quirks. Replace the N in max-page=N
// with a positive integer. The page docs/quirks.md describes the quirks.
func Quirks() []string { return quirk.Names() }

// DefaultRetrySchedule returns the delays before the retries of a delivery: 1 s,
// 5 s, 30 s, 2 min, 10 min, 1 h and 6 h.
func DefaultRetrySchedule() []time.Duration { return delivery.DefaultRetrySchedule() }

// LookupLimit is an algorithm for the lookup rate limit, which allows each user and
// account one lookup per second. A lookup that is rejected does not count toward the
// limit. In flags and JSON, the values are min_interval, token_bucket, fixed_window and
// unlimited.
type LookupLimit = platform.LookupLimit

// The algorithms for the lookup rate limit.
const (
	// LookupMinInterval accepts a lookup if the last accepted lookup was at least one
	// second ago.
	LookupMinInterval LookupLimit = platform.LookupMinInterval
	// LookupTokenBucket adds a token every second, up to two tokens, and each lookup
	// removes a token.
	LookupTokenBucket LookupLimit = platform.LookupTokenBucket
	// LookupFixedWindow accepts one lookup in each whole second of the clock.
	LookupFixedWindow LookupLimit = platform.LookupFixedWindow
	// LookupUnlimited accepts all lookups. Use it together with client.NoLookupLimit in
	// tests that cannot run in a testing/synctest bubble, because each lookup would
	// otherwise take a second of real time.
	LookupUnlimited LookupLimit = platform.LookupUnlimited
)
