package gateway

import (
	"errors"
	"net/http"

	"example.com/emailplatform/mockserver/internal/api"
	"example.com/emailplatform/mockserver/internal/apierror"
	"example.com/emailplatform/mockserver/internal/httpapi"
)

// The generated code calls writeDecodeError only if request validation is off.
func writeDecodeError(w http.ResponseWriter, _ *http.Request, err error) {
	httpapi.WriteProblem(w, apierror.OfJSON(err))
}

func writeParameterError(w http.ResponseWriter, r *http.Request, err error) {
	var wrong *api.InvalidParamFormatError
	if !errors.As(err, &wrong) {
		httpapi.WriteProblem(w, apierror.Invalid(err.Error(), "query"))
		return
	}
	in := "query"
	if r.PathValue(wrong.ParamName) != "" {
		in = "path"
	}
	httpapi.WriteProblem(w, apierror.Invalid("malformed value", in, wrong.ParamName))
}

// writeUnrouted responds to a request that matches no operation. The status is
// 405 if the path allows other methods, and otherwise 404.
func writeUnrouted(routes *http.ServeMux, w http.ResponseWriter, r *http.Request) {
	if methods := httpapi.Allowed(routes, fallback, r); len(methods) > 0 {
		httpapi.WriteNotAllowed(methods, w, r)
		return
	}
	httpapi.WriteProblem(w, apierror.NotFound("path", r.URL.Path, "path"))
}
