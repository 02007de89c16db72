package httpapi

import (
	"encoding/json"
	"errors"
	"net/http"
	"net/url"
	"strings"

	"example.com/emailplatform/mockserver/internal/api"
	"example.com/emailplatform/mockserver/internal/apierror"
)

// WriteProblem writes an error response.
func WriteProblem(w http.ResponseWriter, p *apierror.Error) {
	body, err := json.Marshal(api.Problem{Detail: p.Details})
	if err != nil { // encoding never fails, because an error contains only strings and integers
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

// WriteError writes the error that a handler returned. If w has a method Begun that returns true, WriteError writes nothing.
func WriteError(w http.ResponseWriter, _ *http.Request, err error) {
	if response, ok := w.(interface{ Begun() bool }); ok && response.Begun() {
		return // the response has begun, and the client has closed the connection
	}
	var p *apierror.Error
	if !errors.As(err, &p) {
		p = apierror.New(http.StatusInternalServerError, "internal", err.Error())
	}
	WriteProblem(w, p)
}

// WriteNotAllowed responds with 405 to a request whose path does not support its method.
func WriteNotAllowed(methods []string, w http.ResponseWriter, r *http.Request) {
	w.Header().Set("Allow", strings.Join(methods, ", "))
	WriteProblem(w, apierror.New(http.StatusMethodNotAllowed, "method_not_allowed", r.Method+" is not allowed for this path", "path"))
}

// Allowed returns the methods of a path, sorted, for the Allow header. It ignores the
// pattern fallback, because this pattern also matches unknown paths.
func Allowed(routes *http.ServeMux, fallback string, r *http.Request) (methods []string) {
	for _, method := range []string{
		http.MethodDelete, http.MethodGet, http.MethodHead, http.MethodPatch, http.MethodPost, http.MethodPut,
	} {
		probe := &http.Request{Method: method, URL: r.URL, Host: r.Host}
		if _, pattern := routes.Handler(probe); pattern != "" && pattern != fallback {
			methods = append(methods, method)
		}
	}
	return methods
}

// Redirect redirects to a relative path. [http.Redirect] would write an absolute path,
// but a proxy may have removed the beginning of the request's path.
func Redirect(w http.ResponseWriter, status int, path, query string) {
	w.Header().Set("Location", (&url.URL{Path: path, RawQuery: query}).String())
	w.WriteHeader(status)
}
