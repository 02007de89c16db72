// Package gateway is the API over HTTP: who asks, what the contract says of it, what a fault does to it.
package gateway

import (
	"bytes"
	"context"
	"crypto/subtle"
	"encoding/json"
	"fmt"
	"io"
	"net/http"
	"strings"
	"sync/atomic"
	"time"

	"example.com/emailplatform/mockserver/internal/api"
	"example.com/emailplatform/mockserver/internal/contract"
	"example.com/emailplatform/mockserver/internal/fault"
	"example.com/emailplatform/mockserver/internal/feed"
	"example.com/emailplatform/mockserver/internal/platform"
	"example.com/emailplatform/mockserver/internal/problem"
	"example.com/emailplatform/mockserver/internal/record"
	"example.com/emailplatform/mockserver/internal/underway"
)

// MaxBody is how many bytes a request may have.
const MaxBody = 10 << 20

// Options say how requests are held against the contract, and who hears of them.
type Options struct {
	Tokens         []Token
	SkipValidation bool
	OnViolation    func(error)
	OnRequest      func(record.Request)
}

// Gateway answers requests to the API.
type Gateway struct {
	Loopback bool // only requests for a loopback name are answered
	Log      Log
	Busy     underway.Count // requests under way

	options Options
	faults  *fault.Plan
	changes *feed.Feed
	routes  *http.ServeMux
	lastID  atomic.Uint64
}

// New returns the API of a platform.
func New(p *platform.Platform, faults *fault.Plan, changes *feed.Feed, o Options) *Gateway {
	g := &Gateway{options: o, faults: faults, changes: changes, routes: http.NewServeMux()}
	strict := api.NewStrictHandlerWithOptions(p, nil, api.StrictHTTPServerOptions{
		RequestErrorHandlerFunc:  answerDecodeError,
		ResponseErrorHandlerFunc: AnswerError,
	})
	api.HandlerWithOptions(strict, api.StdHTTPServerOptions{
		BaseRouter:       router{g},
		ErrorHandlerFunc: answerParameterError,
	})
	g.routes.HandleFunc(fallback, func(w http.ResponseWriter, r *http.Request) {
		defer g.observe(exchangeOf(r.Context()), nil, r)()
		AnswerUnrouted(g.routes, fallback, w, r)
	})
	return g
}

// ServeHTTP implements [http.Handler].
func (s *Gateway) ServeHTTP(w http.ResponseWriter, r *http.Request) {
	s.Busy.Start()
	defer s.Busy.Done()
	x := &exchange{ResponseWriter: w, Request: record.Request{
		ID:     fmt.Sprintf("req-%08x", s.lastID.Add(1)),
		Time:   time.Now(),
		Method: r.Method,
		Path:   r.URL.EscapedPath(),
		Query:  r.URL.RawQuery,
	}}
	w.Header().Set("X-Request-Id", x.ID)
	defer func() {
		x.Duration = time.Since(x.Time)
		s.Log.add(x.Request)
		s.tellRequest(x.Request)
		if s.options.OnRequest != nil {
			s.options.OnRequest(x.Request)
		}
	}()
	if err := s.authenticate(x, r); err != nil {
		defer s.observe(x, nil, r)()
		AnswerError(x, r, err)
		return
	}
	s.serveAPI(x, r)
}

// ServeAs answers as the API would answer the owner of a token, undisturbed and unlogged.
func (s *Gateway) ServeAs(w http.ResponseWriter, r *http.Request, caller Token) {
	x := &exchange{ResponseWriter: w, Request: record.Request{AccountID: caller.AccountID}, caller: caller, undisturbed: true}
	s.serveAPI(x, r)
}

// Summary is a request without its body and answer.
type Summary struct {
	record.Request
	Body   *struct{} `json:"body,omitempty"`   // hides the request's
	Answer *struct{} `json:"answer,omitempty"` // hides the request's
}

// fallback is the pattern of what no operation takes.
const fallback = "/"

// router hands the generated routes to the server's mux, each behind the
// checks that all operations share.
type router struct{ *Gateway }

func (r router) HandleFunc(pattern string, handler func(http.ResponseWriter, *http.Request)) {
	r.routes.HandleFunc(pattern, func(_ http.ResponseWriter, req *http.Request) {
		r.serveOperation(pattern, handler, req)
	})
}

// exchange is one request and its answer. It is the ResponseWriter of all that
// comes after it and travels in the request's context.
type exchange struct {
	http.ResponseWriter
	record.Request
	caller Token
	asked  platform.Caller // the same for the platform
	answer *[]byte         // collects the answer's body, if somebody validates it

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

// serveAPI answers a request of a known caller.
func (s *Gateway) serveAPI(x *exchange, r *http.Request) {
	x.asked = platform.Caller{
		AccountID: x.caller.AccountID, UserID: x.caller.UserID, UserEmail: x.caller.UserEmail, Unlimited: x.undisturbed,
	}
	ctx := platform.WithCaller(context.WithValue(r.Context(), exchangeKey{}, x), &x.asked)
	s.routes.ServeHTTP(x, r.WithContext(ctx))
}

// tellRequest tells the stream of a request, and of what it may have changed.
func (s *Gateway) tellRequest(r record.Request) {
	s.changes.Tell(feed.Request, func() any { return Summary{Request: r} })
	if r.Method != http.MethodGet && r.Status < 300 {
		s.changes.Tell(feed.Records, nil)
	}
}

// authenticate finds out who asks (specification, "Authentication").
func (s *Gateway) authenticate(x *exchange, r *http.Request) error {
	if s.Loopback {
		if p := Misnamed(r); p != nil {
			return p
		}
	}
	if caller, ok := s.TokenOf(Bearer(r)); ok {
		x.caller, x.AccountID = caller, caller.AccountID
		return nil
	}
	return problem.New(http.StatusUnauthorized, "unauthorized", "the access token is missing or unknown", "header", "authorization")
}

// Bearer returns the token of a request.
func Bearer(r *http.Request) string {
	scheme, secret, _ := strings.Cut(r.Header.Get("Authorization"), " ")
	if !strings.EqualFold(scheme, "Bearer") {
		return ""
	}
	return secret
}

// TokenOf finds an access token.
func (s *Gateway) TokenOf(secret string) (Token, bool) {
	if secret == "" {
		return Token{}, false
	}
	for _, t := range s.options.Tokens {
		if subtle.ConstantTimeCompare([]byte(t.Token), []byte(secret)) == 1 {
			return t, true
		}
	}
	return Token{}, false
}

// serveOperation answers a request to an operation, unless a fault gets in the way.
func (s *Gateway) serveOperation(pattern string, next http.HandlerFunc, r *http.Request) {
	x := exchangeOf(r.Context())
	contract := contract.Load()
	op := contract.Operations[pattern]
	x.Operation = op.ID
	if !x.undisturbed {
		if rule := s.faults.Request(op.ID, r); rule != nil {
			s.serveDisturbed(x, rule, r, func() { s.act(x, op, next, r) })
			return
		}
	}
	s.act(x, op, next, r)
}

// act carries out a request and answers it.
func (s *Gateway) act(x *exchange, op *contract.Operation, next http.HandlerFunc, r *http.Request) {
	defer s.observe(x, op, r)()
	if err := s.admit(x, op, r); err != nil {
		AnswerError(x, r, err)
		return
	}
	if op.Route.Operation.Deprecated {
		x.Header().Set("Deprecation", deprecatedSince)
	}
	next(x, r)
}

// deprecatedSince is when POST /emails was deprecated, as RFC 9745 writes it.
const deprecatedSince = "@1735689600"

// observe keeps what is answered until the function that it returns holds it
// against the contract. op is nil where a request reached no operation.
func (s *Gateway) observe(x *exchange, op *contract.Operation, r *http.Request) func() {
	if s.options.OnViolation == nil || r.Method == http.MethodHead {
		return func() {}
	}
	x.answer = new([]byte)
	return func() {
		if err := contract.Load().ValidateAnswer(op, r, x.Status, x.Header(), *x.answer); err != nil {
			s.options.OnViolation(err)
		}
	}
}

// admit refuses what no operation should have to look at.
func (s *Gateway) admit(x *exchange, op *contract.Operation, r *http.Request) error {
	if x.caller.ReadOnly && r.Method != http.MethodGet && r.Method != http.MethodHead {
		return problem.New(http.StatusForbidden, "forbidden", "the access token may only read", "header", "authorization")
	}
	body, err := readBody(r, op)
	if err != nil {
		return err
	}
	x.Body = body
	r.Body = io.NopCloser(bytes.NewReader(body))
	if s.options.SkipValidation {
		return nil
	}
	x.asked.BadEntries, err = op.ValidateRequest(r, body)
	return err
}

// readBody reads the JSON that an operation takes; any other body is left alone.
func readBody(r *http.Request, op *contract.Operation) ([]byte, error) {
	takes := op.Route.Operation.RequestBody
	if takes == nil {
		return nil, nil
	}
	body, err := io.ReadAll(io.LimitReader(r.Body, MaxBody+1))
	if err != nil {
		return nil, problem.New(http.StatusBadRequest, "json_invalid", "the body could not be read", "body")
	}
	if len(body) > MaxBody {
		return nil, problem.New(http.StatusRequestEntityTooLarge, "too_large", fmt.Sprintf("the body is larger than %d bytes", MaxBody), "body")
	}
	if len(body) == 0 && !takes.Value.Required {
		return nil, nil
	}
	media, _, _ := strings.Cut(r.Header.Get("Content-Type"), ";")
	if !strings.EqualFold(strings.TrimSpace(media), "application/json") {
		return nil, problem.New(http.StatusUnsupportedMediaType, "unsupported_media_type", "want application/json", "header", "content-type")
	}
	if !json.Valid(body) {
		var value any
		return nil, problem.New(http.StatusBadRequest, "json_invalid", fmt.Sprint(json.Unmarshal(body, &value)), "body")
	}
	return body, nil
}

// AnswerUnrouted answers what no operation takes: a path that does not exist,
// or one that takes other methods.
func AnswerUnrouted(routes *http.ServeMux, fallback string, w http.ResponseWriter, r *http.Request) {
	methods := allowed(routes, fallback, r)
	if len(methods) == 0 {
		WriteProblem(w, problem.NotFound("path", r.URL.Path, "path"))
		return
	}
	w.Header().Set("Allow", strings.Join(methods, ", "))
	WriteProblem(w, problem.New(http.StatusMethodNotAllowed, "method_not_allowed", r.Method+" is not allowed here", "path"))
}

// serveDisturbed carries out a request that a rule hit.
func (s *Gateway) serveDisturbed(x *exchange, rule *fault.Rule, r *http.Request, act func()) {
	x.Fault = rule.ID
	s.faults.Disturb(rule, x, r, func(w http.ResponseWriter) {
		if w == http.ResponseWriter(x) {
			act()
			return
		}
		through := x.ResponseWriter
		x.ResponseWriter = w
		act()
		x.ResponseWriter, x.Status = through, 0 // what the client sees is still to come
	})
}
