// Package gateway is the API over HTTP: who asks, what a fault does to the request,
// what the contract says of it, and the log of requests.
//
// A request goes through it like this:
//
//	ServeHTTP       counts it, gives it an id, logs it in the end
//	authenticate    finds out whose access token it has
//	serveOperation  asks the plan of faults whether something goes wrong
//	act             admits it: rights, size, JSON, contract
//	next            the generated handler, and by it the platform
//	observe         holds the answer against the contract
package gateway

import (
	"fmt"
	"net/http"
	"path"
	"sync"
	"sync/atomic"
	"time"

	"example.com/emailplatform/mockserver/internal/activity"
	"example.com/emailplatform/mockserver/internal/api"
	"example.com/emailplatform/mockserver/internal/auth"
	"example.com/emailplatform/mockserver/internal/clock"
	"example.com/emailplatform/mockserver/internal/fault"
	"example.com/emailplatform/mockserver/internal/platform"
	"example.com/emailplatform/mockserver/internal/problem"
	"example.com/emailplatform/mockserver/record"
)

// MaxBody is how many bytes a request may have.
const MaxBody = 10 << 20

// Options say who may ask, how requests are held against the contract, and who
// hears of them.
type Options struct {
	Access         *auth.Set
	SkipValidation bool
	RefuseUnknown  bool                 // members and parameters that the contract does not know
	OnViolation    func(error)          // hears of answers that break the contract, if set
	OnRequest      func(record.Request) // hears of every request, if set

	Faults  *fault.Plan
	Changes *activity.Feed
	Clock   *clock.Clock
}

// Gateway answers requests to the API.
type Gateway struct {
	Loopback bool          // answer only who calls it by a loopback name; set before the first request
	Log      Log           // the latest requests
	Busy     activity.Work // requests under way

	options    Options
	operations operations
	lastID     atomic.Uint64
}

// New returns the API of a platform.
func New(p *platform.Platform, o Options) *Gateway {
	strict := api.NewStrictHandlerWithOptions(p, nil, api.StrictHTTPServerOptions{
		RequestErrorHandlerFunc:  answerDecodeError,
		ResponseErrorHandlerFunc: AnswerError,
	})
	return &Gateway{options: o, operations: operationsOf(strict)}
}

// operations are the generated handlers, by the pattern of what they answer.
type operations map[string]http.HandlerFunc

func operationsOf(handlers api.ServerInterface) operations {
	found := make(operations, 64)
	api.HandlerWithOptions(handlers, api.StdHTTPServerOptions{BaseRouter: found, ErrorHandlerFunc: answerParameterError})
	return found
}

// HandleFunc takes a generated handler.
func (o operations) HandleFunc(pattern string, handler func(http.ResponseWriter, *http.Request)) {
	o[pattern] = handler
}

// ServeHTTP implements [http.Handler]: the generated code asks for it.
func (operations) ServeHTTP(http.ResponseWriter, *http.Request) {}

// routes leads every call to an operation of its gateway. All gateways share it:
// making it takes ten times as long as all else that a server is made of.
var routes = sync.OnceValue(func() *http.ServeMux {
	mux := http.NewServeMux()
	for pattern := range operationsOf(nil) { // none of which is called
		mux.HandleFunc(pattern, func(w http.ResponseWriter, r *http.Request) {
			c := w.(*call)
			c.gateway.serveOperation(c, pattern, c.gateway.operations[pattern], r)
		})
	}
	mux.HandleFunc(fallback, func(w http.ResponseWriter, r *http.Request) {
		c := w.(*call)
		defer c.gateway.observe(c, nil, r)()
		AnswerUnrouted(mux, fallback, w, r)
	})
	return mux
})

// fallback is the pattern of what no operation takes.
const fallback = "/"

// ServeHTTP implements [http.Handler].
func (g *Gateway) ServeHTTP(w http.ResponseWriter, r *http.Request) {
	g.Busy.Start()
	defer g.Busy.Done()
	c := &call{ResponseWriter: w, Request: record.Request{
		ID:     fmt.Sprintf("req-%08x", g.lastID.Add(1)),
		Time:   g.options.Clock.Now(),
		Method: r.Method,
		Path:   r.URL.EscapedPath(),
		Query:  r.URL.RawQuery,
	}}
	w.Header().Set("X-Request-Id", c.ID)
	start := time.Now()
	defer func() {
		c.Duration = time.Since(start)
		g.Log.add(c.Request)
		g.tellRequest(c.Request)
		if g.options.OnRequest != nil {
			g.options.OnRequest(c.Request)
		}
	}()
	if err := g.authenticate(c, r); err != nil {
		defer g.observe(c, nil, r)()
		AnswerError(c, r, err)
		return
	}
	g.serveAPI(c, r)
}

// ServeAs answers as the API would answer the owner of a token, undisturbed and
// unlogged. What the contract does not know is refused: nothing would note it.
func (g *Gateway) ServeAs(w http.ResponseWriter, r *http.Request, caller record.Token) {
	g.serveAPI(&call{
		ResponseWriter: w,
		Request:        record.Request{AccountID: caller.AccountID},
		caller:         caller,
		undisturbed:    true,
		strict:         true,
	}, r)
}

// serveAPI answers a request of a known caller.
func (g *Gateway) serveAPI(c *call, r *http.Request) {
	c.asked = platform.Caller{
		AccountID: c.caller.AccountID,
		UserID:    c.caller.UserID,
		UserEmail: c.caller.UserEmail,
		Unlimited: c.undisturbed,
	}
	c.gateway = g
	if !clean(r.URL.EscapedPath()) {
		defer g.observe(c, nil, r)()
		AnswerError(c, r, problem.NotFound("path", r.URL.Path, "path"))
		return
	}
	routes().ServeHTTP(c, r.WithContext(platform.WithCaller(r.Context(), &c.asked)))
}

// clean reports whether a path has no empty segment and no dots: net/http would
// lead whoever asks for one that has to another, and no document says so.
func clean(p string) bool {
	cleaned := path.Clean(p)
	return p == cleaned || p == cleaned+"/"
}

// tellRequest tells the stream of a request, and of what it may have changed.
func (g *Gateway) tellRequest(r record.Request) {
	g.options.Changes.Publish(activity.Request, func() any { return SummaryOf(r) })
	if r.Method != http.MethodGet && r.Status < 300 {
		g.options.Changes.Publish(activity.Records, nil)
	}
}

// authenticate finds out who asks (specification, "Authentication").
func (g *Gateway) authenticate(c *call, r *http.Request) error {
	if g.Loopback {
		if p := Misnamed(r); p != nil {
			return p
		}
	}
	caller, err := g.options.Access.Find(Bearer(r))
	if err != nil {
		return Unauthorized(err)
	}
	c.caller, c.AccountID = caller, caller.AccountID
	return nil
}
