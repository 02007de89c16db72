package control

import (
	"net/http"
	"net/url"
	"reflect"
	"strings"
	"sync"

	"example.com/emailplatform/mockserver/internal/gateway"
	"example.com/emailplatform/mockserver/internal/problem"
	"example.com/emailplatform/mockserver/internal/schema"
)

// section is a group of routes with its own section in the manual.
type section struct {
	title  string
	intro  string // Markdown, before the routes
	notes  string // Markdown, after the routes
	routes []route
}

// route declares a control route. The fields determine request validation, the
// manual and /_mock/openapi.json.
type route struct {
	pattern string // net/http pattern: a method or *, and a path below Prefix
	method  string
	path    string // path including Prefix
	summary string // Markdown
	query   []param
	handler handler
	example example
}

func handle(pattern string, h handler, summary string) route {
	method, path, _ := strings.Cut(pattern, " ")
	return route{pattern: pattern, method: method, path: Prefix + path, handler: h, summary: summary}
}

func (rt route) params(query ...param) route {
	rt.query = query
	return rt
}

// try returns the route with the given example.
func (rt route) try(e example) route {
	rt.example = e
	return rt
}

// example is a valid request that the manual shows. A test sends it.
type example struct {
	path  string // overrides the path of the route
	query string
	body  string
}

// request is a request to a route, with its validated query.
type request struct {
	*http.Request
	query query
}

// handler serves a route. The signature of a handler function determines the types
// of the request and response bodies, so the manual matches the code.
type handler struct {
	request  reflect.Type          // type of the JSON body
	body     func() *schema.Schema // schema of a body that the function reads itself
	response reflect.Type          // type of the JSON response, if the response is JSON
	media    string                // media type of any other response
	optional bool                  // the response can also have the status 204
	proxy    bool                  // the API defines the other parameters, the body and the status
	serve    func(http.ResponseWriter, *request) error
}

// noInput returns a handler that takes no request body and responds with JSON.
func noInput[Out any](f func(*request) (Out, error)) handler {
	return jsonBody(func(r *request, _ nothing) (Out, error) { return f(r) })
}

// byID is like [noInput], but calls f() with the id from the path.
func byID[Out any](f func(id string) (Out, error)) handler {
	return noInput(func(r *request) (Out, error) { return f(r.PathValue("id")) })
}

// jsonBody returns a handler that decodes a JSON object from the request body and
// responds with JSON.
func jsonBody[In, Out any](f func(*request, In) (Out, error)) handler {
	body := sync.OnceValue(func() *schema.Schema { return requestOf(reflect.TypeFor[In]()) })
	return handler{
		request:  reflect.TypeFor[In](),
		response: reflect.TypeFor[Out](),
		serve: func(w http.ResponseWriter, r *request) error {
			in, err := decodeBody[In](r.Request, body())
			if err != nil {
				return err
			}
			out, err := f(r, in)
			if err != nil {
				return err
			}
			return writeJSON(w, out)
		},
	}
}

// optional marks a handler that responds with 204 if there is no result.
func optional(h handler) handler {
	h.optional = true
	return h
}

// rawBody returns a handler that reads its request body itself. The body contains up to
// 1 GiB of JSON.
func rawBody(body func() *schema.Schema, f func(*request) error) handler {
	return handler{
		body:     body,
		response: reflect.TypeFor[nothing](),
		serve: func(w http.ResponseWriter, r *request) error {
			if err := f(r); err != nil {
				return err
			}
			return writeJSON(w, nothing{})
		},
	}
}

// rawResponse returns a handler that takes no request body and writes its own response.
func rawResponse(media string, serve func(http.ResponseWriter, *request) error) handler {
	return handler{request: reflect.TypeFor[nothing](), media: media, serve: serve}
}

// ServeHTTP validates the query of a request and calls the route's handler.
func (rt route) ServeHTTP(w http.ResponseWriter, r *http.Request) {
	q, err := rt.queryOf(r)
	if err == nil {
		err = rt.handler.serve(w, &request{r, q})
	}
	if err != nil {
		gateway.WriteError(w, r, err)
	}
}

// queryOf validates the query of a request. It rejects unknown parameters,
// because a request with a misspelled filter would select all records.
func (rt route) queryOf(r *http.Request) (query, error) {
	given, err := url.ParseQuery(r.URL.RawQuery)
	if err != nil {
		return nil, problem.Invalid("malformed: "+err.Error(), "query")
	}
	if r.Method == http.MethodGet {
		delete(given, "token") // guard.go handles it
	}
	return check(rt.query, given, rt.handler.proxy, "query", "parameter")
}
