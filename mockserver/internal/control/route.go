package control

import (
	"io"
	"net/http"
	"net/url"
	"reflect"
	"strings"
	"sync"

	"example.com/emailplatform/mockserver/internal/apierror"
	"example.com/emailplatform/mockserver/internal/contract"
	"example.com/emailplatform/mockserver/internal/httpapi"
)

// route declares a control route. The declaration is used to validate requests, and to
// generate the manual and /_mock/openapi.json.
type route struct {
	method  string // * means any method
	path    string // including Prefix
	handler handler
	query   []param
}

// handle returns a route for a net/http pattern: a method or *, and a path below Prefix.
func handle(pattern string, h handler, query ...param) route {
	method, path, _ := strings.Cut(pattern, " ")
	return route{method, Prefix + path, h, query}
}

func (rt route) name() string { return rt.method + " " + rt.path }

type request struct {
	*http.Request
	query query
}

// handler serves a route. The signature of a handler function determines the types
// of the request and response bodies, so the manual matches the code.
type handler struct {
	body     func() *contract.Schema // schema of the JSON body
	response reflect.Type            // type of the JSON response, if the response is JSON
	media    string                  // media type of any other response
	optional bool                    // the response can also have the status 204
	proxy    bool                    // the API defines the other parameters, the body and the status
	serve    func(http.ResponseWriter, *request) error
}

// noInput returns a handler that takes no request body and responds with JSON.
func noInput[Out any](f func(*request) (Out, error)) handler {
	return jsonBody(func(r *request, _ emptyBody) (Out, error) { return f(r) })
}

// byID returns a handler that takes no request body and calls f() with the
// id from the path.
func byID[Out any](f func(id string) (Out, error)) handler {
	return noInput(func(r *request) (Out, error) { return f(r.PathValue("id")) })
}

// found returns a record, or a 404 error if the record is nil.
func found[T any](kind, id string, record *T) (*T, error) {
	if record == nil {
		return nil, apierror.NotFound(kind, id, "path", "id")
	}
	return record, nil
}

// jsonBody returns a handler that decodes a JSON object from the request body and
// responds with JSON.
func jsonBody[In, Out any](f func(*request, In) (Out, error)) handler {
	h := decoded(func(w http.ResponseWriter, r *request, in In) error {
		out, err := f(r, in)
		if err != nil {
			return err
		}
		return writeJSON(w, out)
	})
	h.response = reflect.TypeFor[Out]()
	return h
}

// rawResponse returns a handler that takes no request body and writes its own response.
func rawResponse(media string, respond func(http.ResponseWriter, *request) error) handler {
	h := decoded(func(w http.ResponseWriter, r *request, _ emptyBody) error { return respond(w, r) })
	h.media = media
	return h
}

// decoded returns a handler that decodes a JSON object from the request body.
func decoded[In any](serve func(http.ResponseWriter, *request, In) error) handler {
	body := sync.OnceValue(func() *contract.Schema { return requestOf(reflect.TypeFor[In]()) })
	return handler{body: body, serve: func(w http.ResponseWriter, r *request) error {
		in, err := decodeBody[In](r.Request, body())
		if err != nil {
			return err
		}
		return serve(w, r, in)
	}}
}

// optional marks a handler that responds with 204 if there is no result.
func optional(h handler) handler {
	h.optional = true
	return h
}

// upload returns a handler that passes a request body of up to 1 GiB of JSON to read(),
// and removes the prefix from its error messages.
func upload(body func() *contract.Schema, read func(io.Reader) error) handler {
	return handler{body: body, response: reflect.TypeFor[emptyBody](), serve: func(w http.ResponseWriter, r *request) error {
		in, err := limited(r.Request, maxState)
		if err != nil {
			return err
		}
		if err := read(in); err != nil {
			return bodyProblem(err)
		}
		return writeJSON(w, emptyBody{})
	}}
}

// ServeHTTP validates the query of a request and calls the route's handler.
func (rt route) ServeHTTP(w http.ResponseWriter, r *http.Request) {
	err := contract.CheckURL(r.URL)
	var q query
	if err == nil {
		q, err = rt.queryOf(r)
	}
	if err == nil {
		err = rt.handler.serve(w, &request{r, q})
	}
	if err != nil {
		httpapi.WriteError(w, r, err)
	}
}

// queryOf rejects unknown parameters, because a request with a misspelled
// filter would select all records.
func (rt route) queryOf(r *http.Request) (query, error) {
	given, err := url.ParseQuery(r.URL.RawQuery)
	if err != nil {
		return nil, apierror.Invalid("malformed: "+err.Error(), "query")
	}
	if r.Method == http.MethodGet {
		delete(given, "token") // access.go handles it
	}
	return check(rt.query, given, rt.handler.proxy, "query", "parameter")
}
