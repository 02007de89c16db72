// Package gateway serves the API over HTTP, and logs its requests.
// A request passes these functions:
//
//	ServeHTTP       assigns an id and logs the request
//	authenticate    looks up its access token
//	serveOperation  applies the fault rule of the request, if there is one
//	validate        rejects invalid requests
//	the generated handler, which calls the platform
//	respond         validates the response, if that is enabled
package gateway

import (
	"context"
	"errors"
	"fmt"
	"net/http"
	"path"
	"sync"
	"sync/atomic"
	"time"

	"example.com/emailplatform/mockserver/internal/api"
	"example.com/emailplatform/mockserver/internal/apierror"
	"example.com/emailplatform/mockserver/internal/auth"
	"example.com/emailplatform/mockserver/internal/changes"
	"example.com/emailplatform/mockserver/internal/clock"
	"example.com/emailplatform/mockserver/internal/contract"
	"example.com/emailplatform/mockserver/internal/fault"
	"example.com/emailplatform/mockserver/internal/httpapi"
	"example.com/emailplatform/mockserver/internal/platform"
	"example.com/emailplatform/mockserver/internal/work"
	"example.com/emailplatform/mockserver/model"
)

// Options configure a [Gateway].
type Options struct {
	Auth           *auth.Set
	SkipValidation bool
	RejectUnknown  bool                // fields and parameters that openapi.yaml does not define
	OnViolation    func(error)         // called for each invalid response, if set
	OnRequest      func(model.Request) // called after each request, if set

	Faults  *fault.Plan
	Changes *changes.Feed
	Clock   *clock.Clock
}

// Gateway serves the API of a platform.
type Gateway struct {
	Loopback bool         // the Host must be a loopback name; set before the first request
	Log      Log          // the latest requests
	Busy     work.Pending // requests in progress

	options  Options
	platform *platform.Platform
	handlers handlers
	lastID   atomic.Uint64
}

// New returns a gateway to a platform.
func New(p *platform.Platform, o Options) *Gateway {
	strict := api.NewStrictHandlerWithOptions(p, nil, api.StrictHTTPServerOptions{
		RequestErrorHandlerFunc:  writeDecodeError,
		ResponseErrorHandlerFunc: httpapi.WriteError,
	})
	found := make(handlers, 64)
	api.HandlerWithOptions(strict, api.StdHTTPServerOptions{BaseRouter: found, ErrorHandlerFunc: writeParameterError})
	return &Gateway{options: o, platform: p, handlers: found}
}

// handlers maps each pattern to its generated handler. It implements the router
// interface in the generated code.
type handlers map[string]http.HandlerFunc

// HandleFunc adds a handler.
func (h handlers) HandleFunc(pattern string, handler func(http.ResponseWriter, *http.Request)) {
	h[pattern] = handler
}

// ServeHTTP does nothing.
func (handlers) ServeHTTP(http.ResponseWriter, *http.Request) {}

// router finds the operation for each request. All gateways share it, because creating
// a router takes ten times as long as the rest of New.
var router = sync.OnceValue(func() *http.ServeMux {
	mux := http.NewServeMux()
	for pattern, o := range contract.Operations() {
		mux.HandleFunc(pattern, func(w http.ResponseWriter, r *http.Request) {
			c := callOf(r)
			c.gateway.serveOperation(c, o, c.gateway.handlers[pattern], w, r)
		})
	}
	mux.HandleFunc(fallback, func(w http.ResponseWriter, r *http.Request) {
		callOf(r).gateway.respond(nil, w, r, func(w http.ResponseWriter) { writeUnrouted(mux, w, r) })
	})
	return mux
})

// Operation returns the operation of a request, or nil if no operation matches.
func Operation(r *http.Request) *contract.Operation {
	_, pattern := router().Handler(r)
	return contract.Operations()[pattern]
}

const fallback = "/"

// ServeHTTP implements [http.Handler].
func (g *Gateway) ServeHTTP(w http.ResponseWriter, r *http.Request) {
	g.Busy.Start(0)
	defer g.Busy.Done(0)
	c := &call{ResponseWriter: w, gateway: g, Request: model.Request{
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
		g.publish(c.Request)
		if g.options.OnRequest != nil {
			g.options.OnRequest(c.Request)
		}
	}()
	if err := g.authenticate(c, r); err != nil {
		if o := Operation(r); o != nil {
			c.Operation = o.ID // for searches in the log
			c.readBody(r, MaxLoggedBody)
		}
		g.reject(c, r, err)
		return
	}
	g.serve(c, r)
}

// ServeAs processes a request as the owner of a token, without fault rules and without
// a log entry. Unknown fields are errors here, because they would otherwise be visible
// only in the log.
func (g *Gateway) ServeAs(w http.ResponseWriter, r *http.Request, token model.Token) {
	g.serve(&call{ResponseWriter: w, gateway: g, token: token, byControl: true}, r)
}

func (g *Gateway) serve(c *call, r *http.Request) {
	c.AccountID, c.UserID, c.ReadOnly = c.token.AccountID, c.token.UserID, c.token.ReadOnly
	c.caller = platform.Caller{
		AccountID: c.token.AccountID,
		UserID:    c.token.UserID,
		UserEmail: c.token.UserEmail,
		Unlimited: c.byControl,
	}
	// net/http would redirect a path with empty segments or dots, but openapi.yaml
	// defines no redirects.
	p := r.URL.EscapedPath()
	if cleaned := path.Clean(p); p != cleaned && p != cleaned+"/" {
		g.reject(c, r, apierror.NotFound("path", r.URL.Path, "path"))
		return
	}
	c.context = callContext{platform.WithCaller(r.Context(), &c.caller), c}
	router().ServeHTTP(c, r.WithContext(&c.context))
}

// callContext is the context of a call. It is a part of the call, because a separate
// [context.WithValue] would allocate memory for each request.
type callContext struct {
	context.Context
	call *call
}

type callKey struct{}

// Value implements [context.Context].
func (c *callContext) Value(key any) any {
	if key == (callKey{}) {
		return c.call
	}
	return c.Context.Value(key)
}

// callOf returns the call that serve has added to the context of a request.
func callOf(r *http.Request) *call { return r.Context().Value(callKey{}).(*call) }

// publish publishes a request. If the request may have changed records, publish
// also publishes [changes.Records].
func (g *Gateway) publish(r model.Request) {
	g.options.Changes.PublishNew(changes.Request, func() any { return SummaryOf(r) })
	if r.Method != http.MethodGet && r.Method != http.MethodHead && r.Status < 300 {
		g.options.Changes.Publish(changes.Records, nil)
	}
}

// authenticate finds the owner of the access token (specification,
// "Authentication").
func (g *Gateway) authenticate(c *call, r *http.Request) (err error) {
	if err := g.CheckHost(r); err != nil {
		return err
	}
	token := httpapi.Bearer(r)
	if c.token, err = g.options.Auth.Find(token); err == nil {
		return nil
	}
	switch {
	case r.Header.Get("Authorization") == "":
		err = errors.New("the Authorization header is missing")
	case token == "":
		err = errors.New("the Authorization header must have the form \"Bearer <access token>\"")
	}
	return httpapi.Unauthorized(err)
}

// CheckHost returns the error of [httpapi.CheckHost] if Loopback is set.
func (g *Gateway) CheckHost(r *http.Request) error {
	if g.Loopback {
		if p := httpapi.CheckHost(r); p != nil {
			return p
		}
	}
	return nil
}
