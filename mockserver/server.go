package mockserver

import (
	"bytes"
	"context"
	"crypto/subtle"
	"encoding/json"
	"fmt"
	"io"
	"log/slog"
	"net/http"
	"net/url"
	"strings"
	"sync"
	"sync/atomic"
	"time"

	"example.com/emailplatform/mockserver/internal/api"
	"example.com/emailplatform/webhook"
)

// Limits of the API.
const (
	maxBody   = 10 << 20 // bytes of a request
	maxImport = 1000     // contacts of an import (specification, "Limits")
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
	cfg      Config
	platform *platform
	routes   *http.ServeMux
	requests requestLog
	busy     work // requests under way
	lastID   atomic.Uint64

	control func() http.Handler
	serve   listening
	close   sync.Once
}

// New returns a server that listens nowhere: reach it by [Server.Transport],
// or mount it as a handler. Close it when it is no longer needed.
func New(cfg Config) *Server {
	cfg = conform(cfg)
	cfg.Tokens = tokens(cfg.Tokens)
	if cfg.RetrySchedule == nil {
		cfg.RetrySchedule = DefaultRetrySchedule()
	}
	if cfg.HashFunction == "" {
		cfg.HashFunction = webhook.SHA256
	}
	if cfg.Log == nil {
		cfg.Log = slog.New(slog.DiscardHandler)
	}
	s := &Server{cfg: cfg, platform: newPlatform(cfg), routes: http.NewServeMux()}
	strict := api.NewStrictHandlerWithOptions(s.platform, nil, api.StrictHTTPServerOptions{
		RequestErrorHandlerFunc:  answerDecodeError,
		ResponseErrorHandlerFunc: answerError,
	})
	api.HandlerWithOptions(strict, api.StdHTTPServerOptions{
		BaseRouter:       router{s},
		ErrorHandlerFunc: answerParameterError,
	})
	s.routes.HandleFunc(fallback, func(w http.ResponseWriter, r *http.Request) {
		defer s.observe(exchangeOf(r.Context()), nil, r)()
		answerUnrouted(s.routes, fallback, w, r)
	})
	s.control = sync.OnceValue(s.controlRoutes)
	return s
}

func tokens(given []Token) []Token {
	if len(given) == 0 {
		given = []Token{{}}
	}
	out := make([]Token, len(given))
	for i, t := range given {
		if t.Token == "" {
			t.Token = DefaultToken
		}
		if t.UserID == 0 {
			t.UserID = 1
		}
		if t.UserEmail == "" {
			t.UserEmail = "user@example.com"
		}
		if t.AccountID == 0 {
			t.AccountID = 1
		}
		out[i] = t
	}
	return out
}

// Close ends what is under way and leaves nothing behind: no goroutine, no
// timer, no connection, unless a handler of [Config.Targets] does not heed its
// request's context. Deliveries that have not been made are lost. It may be
// called more than once.
func (s *Server) Close() {
	s.close.Do(func() {
		s.platform.faults.close()
		s.platform.changes.close()
		if s.serve.http != nil {
			_ = s.serve.http.Close()
			<-s.serve.done
		}
		s.platform.close()
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
func (s *Server) Transport() http.RoundTripper { return handlerTransport{s} }

// fallback is the pattern of what no operation takes.
const fallback = "/"

// router hands the generated routes to the server's mux, each behind the
// checks that all operations share.
type router struct{ *Server }

func (r router) HandleFunc(pattern string, handler func(http.ResponseWriter, *http.Request)) {
	r.routes.HandleFunc(pattern, func(_ http.ResponseWriter, req *http.Request) {
		r.serveOperation(pattern, handler, req)
	})
}

// exchange is one request and its answer. It is the ResponseWriter of all that
// comes after it and travels in the request's context.
type exchange struct {
	http.ResponseWriter
	Request
	caller Token
	answer *[]byte // collects the answer's body, if somebody validates it

	badEntries map[int]api.ProblemDetail // of an import, by their index

	undisturbed bool // by faults and the limit of lookups: nobody's own request
}

type exchangeKey struct{}

func exchangeOf(ctx context.Context) *exchange {
	return ctx.Value(exchangeKey{}).(*exchange)
}

func (x *exchange) WriteHeader(status int) {
	if x.Status == 0 {
		x.Status = status
	}
	x.ResponseWriter.WriteHeader(status)
}

func (x *exchange) Write(b []byte) (int, error) {
	if x.Status == 0 {
		x.Status = http.StatusOK
	}
	if room := maxAnswer - len(x.Answer); x.Status >= 400 && room > 0 {
		x.Answer = append(x.Answer, b[:min(room, len(b))]...)
	}
	if x.answer != nil {
		*x.answer = append(*x.answer, b...)
	}
	return x.ResponseWriter.Write(b)
}

// maxAnswer is how many bytes of an error the log of requests holds.
const maxAnswer = 4 << 10

// Unwrap serves [http.ResponseController].
func (x *exchange) Unwrap() http.ResponseWriter { return x.ResponseWriter }

// ServeHTTP implements [http.Handler].
func (s *Server) ServeHTTP(w http.ResponseWriter, r *http.Request) {
	switch {
	case strings.HasPrefix(r.URL.Path, controlPrefix):
		s.control().ServeHTTP(w, r)
		return
	case r.URL.Path+"/" == controlPrefix: // typed by hand
		to := url.URL{Path: controlPrefix, RawQuery: r.URL.RawQuery}
		http.Redirect(w, r, to.String(), http.StatusPermanentRedirect)
		return
	}
	s.busy.start()
	defer s.busy.done()
	x := &exchange{ResponseWriter: w, Request: Request{
		ID:     fmt.Sprintf("req-%08x", s.lastID.Add(1)),
		Time:   time.Now(),
		Method: r.Method,
		Path:   r.URL.EscapedPath(),
		Query:  r.URL.RawQuery,
	}}
	w.Header().Set("X-Request-Id", x.ID)
	defer func() {
		x.Duration = time.Since(x.Time)
		s.requests.add(x.Request)
		s.tellRequest(x.Request)
		if s.cfg.OnRequest != nil {
			s.cfg.OnRequest(x.Request)
		}
	}()
	if err := s.authenticate(x, r); err != nil {
		defer s.observe(x, nil, r)()
		answerError(x, r, err)
		return
	}
	s.serveAPI(x, r)
}

// serveAPI answers a request of a known caller.
func (s *Server) serveAPI(x *exchange, r *http.Request) {
	s.routes.ServeHTTP(x, r.WithContext(context.WithValue(r.Context(), exchangeKey{}, x)))
}

// tellRequest tells the stream of a request, and of what it may have changed.
func (s *Server) tellRequest(r Request) {
	s.platform.changes.tell(changeRequest, func() any { return requestSummary{Request: r} })
	if r.Method != http.MethodGet && r.Status < 300 {
		s.platform.changes.tell(changeRecords, nil)
	}
}

// authenticate finds out who asks (specification, "Authentication").
func (s *Server) authenticate(x *exchange, r *http.Request) error {
	if s.serve.loopback {
		if p := misnamed(r); p != nil {
			return p
		}
	}
	if caller, ok := s.tokenOf(bearer(r)); ok {
		x.caller, x.AccountID = caller, caller.AccountID
		return nil
	}
	return fail(http.StatusUnauthorized, "unauthorized", "the access token is missing or unknown", "header", "authorization")
}

func bearer(r *http.Request) string {
	scheme, secret, _ := strings.Cut(r.Header.Get("Authorization"), " ")
	if !strings.EqualFold(scheme, "Bearer") {
		return ""
	}
	return secret
}

// tokenOf finds an access token.
func (s *Server) tokenOf(secret string) (Token, bool) {
	if secret == "" {
		return Token{}, false
	}
	for _, t := range s.cfg.Tokens {
		if subtle.ConstantTimeCompare([]byte(t.Token), []byte(secret)) == 1 {
			return t, true
		}
	}
	return Token{}, false
}

// serveOperation answers a request to an operation, unless a fault gets in the way.
func (s *Server) serveOperation(pattern string, next http.HandlerFunc, r *http.Request) {
	x := exchangeOf(r.Context())
	contract := loadContract()
	op := contract.operations[pattern]
	x.Operation = op.id
	if !x.undisturbed {
		if rule := s.platform.faults.request(op.id, r); rule != nil {
			s.serveDisturbed(x, rule, r, func() { s.act(x, op, next, r) })
			return
		}
	}
	s.act(x, op, next, r)
}

// act carries out a request and answers it.
func (s *Server) act(x *exchange, op *operation, next http.HandlerFunc, r *http.Request) {
	defer s.observe(x, op, r)()
	if err := s.admit(x, op, r); err != nil {
		answerError(x, r, err)
		return
	}
	next(x, r)
}

// observe keeps what is answered until the function that it returns holds it
// against the contract. op is nil where a request reached no operation.
func (s *Server) observe(x *exchange, op *operation, r *http.Request) func() {
	if s.cfg.OnViolation == nil || r.Method == http.MethodHead {
		return func() {}
	}
	x.answer = new([]byte)
	return func() {
		if err := loadContract().validateAnswer(op, r, x.Status, x.Header(), *x.answer); err != nil {
			s.cfg.OnViolation(err)
		}
	}
}

// admit refuses what no operation should have to look at.
func (s *Server) admit(x *exchange, op *operation, r *http.Request) error {
	if x.caller.ReadOnly && r.Method != http.MethodGet && r.Method != http.MethodHead {
		return fail(http.StatusForbidden, "forbidden", "the access token may only read", "header", "authorization")
	}
	body, err := readBody(r, op)
	if err != nil {
		return err
	}
	x.Body = body
	r.Body = io.NopCloser(bytes.NewReader(body))
	if s.cfg.SkipValidation {
		return nil
	}
	x.badEntries, err = op.validateRequest(r, body)
	return err
}

// readBody reads the JSON that an operation takes; any other body is left alone.
func readBody(r *http.Request, op *operation) ([]byte, error) {
	takes := op.route.Operation.RequestBody
	if takes == nil {
		return nil, nil
	}
	body, err := io.ReadAll(io.LimitReader(r.Body, maxBody+1))
	if err != nil {
		return nil, fail(http.StatusBadRequest, "json_invalid", "the body could not be read", "body")
	}
	if len(body) > maxBody {
		return nil, fail(http.StatusRequestEntityTooLarge, "too_large", fmt.Sprintf("the body is larger than %d bytes", maxBody), "body")
	}
	if len(body) == 0 && !takes.Value.Required {
		return nil, nil
	}
	media, _, _ := strings.Cut(r.Header.Get("Content-Type"), ";")
	if !strings.EqualFold(strings.TrimSpace(media), "application/json") {
		return nil, fail(http.StatusUnsupportedMediaType, "unsupported_media_type", "want application/json", "header", "content-type")
	}
	if !json.Valid(body) {
		var value any
		return nil, fail(http.StatusBadRequest, "json_invalid", fmt.Sprint(json.Unmarshal(body, &value)), "body")
	}
	return body, nil
}

// answerUnrouted answers what no operation takes: a path that does not exist,
// or one that takes other methods.
func answerUnrouted(routes *http.ServeMux, fallback string, w http.ResponseWriter, r *http.Request) {
	methods := allowed(routes, fallback, r)
	if len(methods) == 0 {
		writeProblem(w, notFound("path", r.URL.Path, "path"))
		return
	}
	w.Header().Set("Allow", strings.Join(methods, ", "))
	writeProblem(w, fail(http.StatusMethodNotAllowed, "method_not_allowed", r.Method+" is not allowed here", "path"))
}
