package control

import (
	"maps"
	"net/http"
	"strings"

	"example.com/emailplatform/mockserver/internal/environment"
	"example.com/emailplatform/mockserver/internal/gateway"
	"example.com/emailplatform/mockserver/internal/problem"
	"example.com/emailplatform/mockserver/internal/suggest"
)

// sections are all routes there are, each beside its kin in the file that answers
// it, in the order of the manual.
func (c *Control) sections() []section {
	return []section{
		c.serverRoutes(),
		c.documentRoutes(),
		c.clockRoutes(),
		c.overviewRoutes(),
		c.messageRoutes(),
		c.contactRoutes(),
		c.resourceRoutes(),
		c.eventRoutes(),
		c.deliveryRoutes(),
		c.requestRoutes(),
		c.faultRoutes(),
		c.stateRoutes(),
		c.streamRoutes(),
	}
}

// New returns the handler of the control routes of a world.
func New(w *environment.Environment, o Options) http.Handler {
	c := &Control{w, o}
	mux := http.NewServeMux()
	for _, s := range c.sections() {
		for _, rt := range s.routes {
			mux.Handle(strings.TrimPrefix(rt.method()+" "+rt.path(), "* "), rt)
		}
	}
	mux.HandleFunc(Prefix, func(w http.ResponseWriter, r *http.Request) { c.unrouted(mux, w, r) })
	return c.guarded(mux)
}

// unrouted answers what no route takes: by the console if that has such a file
// or page, or else by what is wrong with the request. A person who typed an
// address that is none gets the console.
func (c *Control) unrouted(mux *http.ServeMux, w http.ResponseWriter, r *http.Request) {
	browser := strings.Contains(r.Header.Get("Accept"), "text/html")
	methods := gateway.Allowed(mux, Prefix, r)
	if c.options.Console != nil && reads(r) && (browser || len(methods) == 0) {
		page := &unlessMissing{ResponseWriter: w, header: w.Header().Clone()}
		c.options.Console.ServeHTTP(page, r)
		switch {
		case !page.missing:
			return
		case browser:
			http.Redirect(w, r, Prefix, http.StatusSeeOther)
			return
		}
	}
	if len(methods) > 0 {
		gateway.WriteNotAllowed(methods, w, r)
		return
	}
	gateway.WriteProblem(w, problem.New(http.StatusNotFound, "not_found", c.noRoute(r), "path"))
}

// noRoute says that there is no such route, and which one was probably meant.
func (c *Control) noRoute(r *http.Request) string {
	path := strings.TrimPrefix(r.URL.Path, Prefix)
	var known []string
	for _, s := range c.sections() {
		for _, rt := range s.routes {
			known = append(known, suggest.Fill(strings.TrimPrefix(rt.path(), Prefix), path))
		}
	}
	if right := suggest.Closest(path, known); right != "" && right != path {
		return "no such route: did you mean " + Prefix + right + "?"
	}
	return "no such route: " + Prefix + "openapi.json lists them"
}

// unlessMissing is an answer that is sent unless it is 404.
type unlessMissing struct {
	http.ResponseWriter

	header  http.Header // until it is known
	missing bool
	begun   bool
}

// Header implements [http.ResponseWriter].
func (u *unlessMissing) Header() http.Header { return u.header }

// WriteHeader implements [http.ResponseWriter].
func (u *unlessMissing) WriteHeader(status int) {
	if u.begun {
		return
	}
	u.begun, u.missing = true, status == http.StatusNotFound
	if !u.missing {
		maps.Copy(u.ResponseWriter.Header(), u.header)
		u.ResponseWriter.WriteHeader(status)
	}
}

// Write implements [http.ResponseWriter].
func (u *unlessMissing) Write(b []byte) (int, error) {
	u.WriteHeader(http.StatusOK)
	if u.missing {
		return len(b), nil
	}
	return u.ResponseWriter.Write(b)
}

// Unwrap serves [http.ResponseController].
func (u *unlessMissing) Unwrap() http.ResponseWriter { return u.ResponseWriter }
