package control

import (
	"encoding/json"
	"net/http"
	"reflect"
	"strings"
	"sync"

	"example.com/emailplatform/mockserver/internal/gateway"
)

// section is what belongs together: a chapter of the manual.
type section struct {
	title  string
	about  string // Markdown, before the routes
	after  string // Markdown, behind them
	routes []route
}

// route is a control route, declared once: what answers it, what it refuses,
// the manual and /_mock/openapi.json all come from this.
type route struct {
	pattern string // a method and a path below Prefix, as net/http has them; * is any method
	does    string // what it does, as Markdown: one sentence or a few
	query   []param
	open    bool // takes parameters of the API beside its own
	handler handler
	example example
}

// method returns the method of the route, or *.
func (rt route) method() string {
	method, _, _ := strings.Cut(rt.pattern, " ")
	return method
}

// path returns the path of the route, from the root.
func (rt route) path() string {
	_, path, _ := strings.Cut(rt.pattern, " ")
	return Prefix + path
}

// example is a request that works: the manual shows it, and a test makes it. The
// names in braces of the path stand in it too.
type example struct {
	path  string // in the place of the route's, if that will not do
	query string
	body  string
}

// request is what a route is asked, once it is found to be as declared.
type request struct {
	*http.Request
	query query
}

// nothing is a body without members, or no answer.
type nothing struct{}

// handler answers a route. The types of bodies are those of the functions that
// it is made of, so that no document can say anything else.
type handler struct {
	takes   reflect.Type // the body, if its members are known
	answers reflect.Type // the answer, if it is JSON
	media   string       // of another answer
	maybe   bool         // answers 204 when there is nothing to answer
	serve   func(http.ResponseWriter, *request)
}

// answering is a route that takes no body and answers with JSON.
func answering[Out any](answer func(*request) (Out, error)) handler {
	return taking(func(r *request, _ nothing) (Out, error) { return answer(r) })
}

// taking is a route that takes a JSON object and answers with JSON.
func taking[In, Out any](answer func(*request, In) (Out, error)) handler {
	declared := sync.OnceValue(func() *schema { return schemaOf(reflect.TypeFor[In]()) })
	return handler{
		takes:   reflect.TypeFor[In](),
		answers: reflect.TypeFor[Out](),
		serve: func(w http.ResponseWriter, r *request) {
			in, err := bodyOf[In](r.Request, declared())
			if err != nil {
				gateway.WriteError(w, r.Request, err)
				return
			}
			out, err := answer(r, in)
			writeAnswer(w, r.Request, out, err)
		},
	}
}

// orNothing is a route that answers nil with 204.
func orNothing(h handler) handler {
	h.maybe = true
	return h
}

// reading is a route that reads its body itself, JSON of whatever length.
func reading[Out any](answer func(*request) (Out, error)) handler {
	return handler{
		takes:   reflect.TypeFor[json.RawMessage](),
		answers: reflect.TypeFor[Out](),
		serve: func(w http.ResponseWriter, r *request) {
			out, err := answer(r)
			writeAnswer(w, r.Request, out, err)
		},
	}
}

// serving is a route that writes its answer itself, which is no JSON.
func serving(media string, serve func(http.ResponseWriter, *request)) handler {
	return handler{takes: reflect.TypeFor[nothing](), media: media, serve: serve}
}

// ServeHTTP lets through to the handler what is as the route declares it.
func (rt route) ServeHTTP(w http.ResponseWriter, r *http.Request) {
	q, err := rt.queryOf(r)
	if err != nil {
		gateway.WriteError(w, r, err)
		return
	}
	rt.handler.serve(w, &request{r, q})
}
