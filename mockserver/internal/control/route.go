package control

import (
	"io"
	"maps"
	"math"
	"net/http"
	"net/url"
	"reflect"
	"slices"
	"strconv"
	"strings"
	"sync"

	"example.com/emailplatform/mockserver/internal/api"
	"example.com/emailplatform/mockserver/internal/apierror"
	"example.com/emailplatform/mockserver/internal/contract"
	"example.com/emailplatform/mockserver/internal/httpapi"
	"example.com/emailplatform/mockserver/internal/schema"
	"example.com/emailplatform/mockserver/internal/suggest"
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
		delete(given, "token") // guard.go handles it
	}
	return check(rt.query, given, rt.handler.proxy, "query", "parameter")
}

type param struct {
	name, doc string
	schema    *contract.Schema // of a string or an integer
	preset    string           // the default, if any
}

// text returns a parameter that accepts any value except "".
func text(name, doc string) param {
	return param{name: name, doc: doc, schema: &contract.Schema{Kind: contract.String, Min: 1}}
}

// choice returns a parameter that accepts one of several values, ignoring case.
func choice(name, doc string, values ...string) param {
	return param{name: name, doc: doc, schema: &contract.Schema{Kind: contract.String, Enum: values}}
}

func number(name, doc string, least, most int64, preset string) param {
	return param{name, doc, &contract.Schema{Kind: contract.Integer, Min: least, Max: most}, preset}
}

func idOf(name, doc string) param { return number(name, doc, 1, math.MaxInt64, "") }

func ofAccount(doc string) param { return idOf("account_id", doc) }

func eventName(doc string) param { return choice("event", doc, schema.Texts(api.EventNames())...) }

// parse returns the normalized value, or a message if the value is invalid.
func (p param) parse(given string) (value, wrong string) {
	if given == "" {
		return "", "must not be empty: omit the parameter to match any value"
	}
	if i := slices.IndexFunc(p.schema.Enum, func(v string) bool { return strings.EqualFold(v, given) }); i >= 0 {
		given = p.schema.Enum[i]
	}
	if n, err := strconv.ParseInt(given, 10, 64); err == nil && p.schema.Kind == contract.Integer {
		given = strconv.FormatInt(n, 10)
	}
	return given, p.schema.TextError(given)
}

// query contains the parameters of a request, with defaults for omitted parameters.
type query map[string]string

func (q query) number(name string) int { return int(q.id(name)) }

// id returns the value of an integer parameter, or 0 if it is omitted.
func (q query) id(name string) int64 {
	n, _ := strconv.ParseInt(q[name], 10, 64) // parse has checked the value
	return n
}

// check validates the parameters of a query, or the filters in a body. If the parameter
// others is true, unknown names are allowed.
func check(params []param, given url.Values, others bool, where, what string) (query, error) {
	q := query{}
	wrong := &apierror.Error{Status: http.StatusUnprocessableEntity}
	reject := func(name, msg string) {
		wrong.Details = append(wrong.Details, apierror.At("value_error", msg, where, name))
	}
	var names []string
	for _, p := range params {
		names = append(names, p.name)
		values, ok := given[p.name]
		delete(given, p.name)
		value, msg := p.preset, ""
		switch {
		case len(values) > 1:
			msg = "given more than once"
		case ok:
			value, msg = p.parse(values[0])
		}
		if msg != "" {
			reject(p.name, msg)
		} else if value != "" {
			q[p.name] = value
		}
	}
	for _, name := range slices.Sorted(maps.Keys(given)) {
		if !others && len(wrong.Details) < apierror.MaxDetails {
			reject(name, suggest.Unknown(what, name, names))
		}
	}
	if len(wrong.Details) > 0 {
		return nil, wrong
	}
	return q, nil
}
