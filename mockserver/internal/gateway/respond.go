package gateway

import (
	"encoding/json"
	"errors"
	"net/http"
	"slices"
	"strings"

	"example.com/emailplatform/mockserver/internal/api"
	"example.com/emailplatform/mockserver/internal/problem"
)

// WriteProblem is the one place where an error becomes a response.
func WriteProblem(w http.ResponseWriter, p *problem.Error) {
	body, err := json.Marshal(api.Problem{Detail: p.Details})
	if err != nil { // a loc holds only strings and integers
		panic(err)
	}
	h := w.Header()
	h.Set("Content-Type", "application/json")
	if p.RetryAfter != "" {
		h.Set("Retry-After", p.RetryAfter)
	}
	if p.Status == http.StatusUnauthorized {
		h.Set("WWW-Authenticate", "Bearer")
	}
	w.WriteHeader(p.Status)
	_, _ = w.Write(append(body, '\n'))
}

// AnswerError answers with what a handler returned as its error.
func AnswerError(w http.ResponseWriter, _ *http.Request, err error) {
	if c, ok := w.(*call); ok && c.Status != 0 {
		return // the client left while it was being answered
	}
	var p *problem.Error
	if !errors.As(err, &p) {
		p = problem.New(http.StatusInternalServerError, "internal", err.Error())
	}
	WriteProblem(w, p)
}

// answerDecodeError answers a body that is JSON but does not fit; with
// validation on, that has been found before.
func answerDecodeError(w http.ResponseWriter, _ *http.Request, err error) {
	WriteProblem(w, problem.OfJSON(w.(*call).Body, err))
}

// answerParameterError answers a parameter that cannot be read; with
// validation on, that has been found before.
func answerParameterError(w http.ResponseWriter, r *http.Request, err error) {
	var wrong *api.InvalidParamFormatError
	if !errors.As(err, &wrong) {
		WriteProblem(w, problem.Invalid(err.Error(), "query"))
		return
	}
	in := "query"
	if r.PathValue(wrong.ParamName) != "" {
		in = "path"
	}
	WriteProblem(w, problem.Invalid("malformed value", in, wrong.ParamName))
}

// AnswerUnrouted answers what no operation takes: a path that does not exist,
// or one that takes other methods.
func AnswerUnrouted(routes *http.ServeMux, fallback string, w http.ResponseWriter, r *http.Request) {
	methods := Allowed(routes, fallback, r)
	if len(methods) == 0 {
		WriteProblem(w, problem.NotFound("path", r.URL.Path, "path"))
		return
	}
	AnswerNotAllowed(methods, w, r)
}

// AnswerNotAllowed answers a request to a path that takes other methods.
func AnswerNotAllowed(methods []string, w http.ResponseWriter, r *http.Request) {
	w.Header().Set("Allow", strings.Join(methods, ", "))
	WriteProblem(w, problem.New(http.StatusMethodNotAllowed, "method_not_allowed", r.Method+" is not allowed here", "path"))
}

// Allowed lists the methods that a path takes, for the header Allow; fallback
// is the pattern of what nothing takes.
func Allowed(routes *http.ServeMux, fallback string, r *http.Request) []string {
	var methods []string
	for _, method := range []string{
		http.MethodDelete, http.MethodGet, http.MethodHead, http.MethodPatch, http.MethodPost, http.MethodPut,
	} {
		probe := &http.Request{Method: method, URL: r.URL, Host: r.Host}
		if _, pattern := routes.Handler(probe); pattern != "" && pattern != fallback {
			methods = append(methods, method)
		}
	}
	slices.Sort(methods)
	return methods
}
