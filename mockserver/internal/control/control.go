// Package control serves the control routes under /_mock/ for tests, on the same port as
// the API. They are described in docs/control-api.md, which go generate writes: the text
// comes from manual.tmpl, and the tables of parameters and types come from the routes.
//
// The files form three layers, from the highest to the lowest:
//
//   - Routes: this file lists all routes, and openapi.go generates their OpenAPI document.
//   - Groups of routes: each group has a file with a method such as faultRoutes. Other files
//     serve single routes, for example wait.go POST /_mock/wait.
//   - Common parts: list.go, param.go, route.go, body.go, schema.go, untrusted.go and access.go.
package control

import (
	"net/http"
	"slices"
	"strings"
	"time"

	"example.com/emailplatform/mockserver/internal/apierror"
	"example.com/emailplatform/mockserver/internal/engine"
	"example.com/emailplatform/mockserver/internal/httpapi"
	"example.com/emailplatform/mockserver/internal/inprocess"
	"example.com/emailplatform/mockserver/internal/suggest"
)

// Prefix is the path prefix of the routes.
const Prefix = "/_mock/"

// Options configures the control routes.
type Options struct {
	Console       http.Handler // serves GET requests that match no route, if set
	RetrySchedule []time.Duration
	NeedsToken    func(*http.Request) bool
	DefaultToken  string // not a secret
	Quirks        []string
}

// Control serves the control routes of an engine.
type Control struct {
	*engine.Engine

	options Options
}

func (c *Control) routes() []route {
	return slices.Concat(c.serverRoutes(), c.messageRoutes(), c.contactRoutes(), c.resourceRoutes(), c.logRoutes(), c.faultRoutes(), c.stateRoutes())
}

// New returns the handler for the control routes of an engine.
func New(e *engine.Engine, o Options) http.Handler {
	c := &Control{e, o}
	mux := http.NewServeMux()
	for _, rt := range c.routes() {
		mux.Handle(strings.TrimPrefix(rt.name(), "* "), rt)
	}
	mux.HandleFunc(Prefix, func(w http.ResponseWriter, r *http.Request) { c.unrouted(mux, w, r) })
	return c.checkAccess(mux)
}

// unrouted handles requests that match no route. It responds with a file of the console,
// redirects a browser to the console, or responds with an error.
func (c *Control) unrouted(mux *http.ServeMux, w http.ResponseWriter, r *http.Request) {
	browser := strings.Contains(r.Header.Get("Accept"), "text/html")
	methods := httpapi.Allowed(mux, Prefix, r)
	if c.options.Console != nil && reads(r) && (browser || len(methods) == 0) {
		page := inprocess.NewRecording(w.Header())
		c.options.Console.ServeHTTP(page, r)
		switch {
		case page.Status != http.StatusNotFound:
			page.Send(w)
			return
		case browser:
			depth := strings.Count(r.URL.EscapedPath(), "/") - strings.Count(Prefix, "/")
			httpapi.Redirect(w, http.StatusSeeOther, "./"+strings.Repeat("../", depth), "")
			return
		}
	}
	if len(methods) > 0 {
		httpapi.WriteNotAllowed(methods, w, r)
		return
	}
	httpapi.WriteProblem(w, apierror.New(http.StatusNotFound, "not_found", c.noRoute(r), "path"))
}

// noRoute returns an error message that suggests the most similar route.
func (c *Control) noRoute(r *http.Request) string {
	path := strings.TrimPrefix(r.URL.Path, Prefix)
	var patterns []string
	for _, rt := range c.routes() {
		patterns = append(patterns, strings.TrimPrefix(rt.path, Prefix))
	}
	if i := suggest.ClosestPath(path, patterns); i >= 0 {
		return "unknown route: did you mean " + Prefix + suggest.Fill(patterns[i], path) + "?"
	}
	return "unknown route: see " + Prefix + "openapi.json"
}
