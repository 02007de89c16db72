package control

import (
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"net/http"

	"example.com/emailplatform/mockserver/internal/apierror"
	"example.com/emailplatform/mockserver/internal/contract"
	"example.com/emailplatform/mockserver/internal/httpapi"
)

// emptyBody is the type of a request body without fields, or of an empty
// response.
type emptyBody struct{}

// decodeBody decodes the JSON object of a request, and returns an error if the object
// does not match the schema. An empty body counts as an empty object.
func decodeBody[T any](r *http.Request, s *contract.Schema) (in T, err error) {
	if r.ContentLength > httpapi.MaxBody {
		return in, httpapi.TooLarge(r)
	}
	body, err := httpapi.ReadBody(r, false, true)
	if err != nil {
		return in, err
	}
	if body == nil {
		body = []byte("{}")
	}
	if details := s.RequestErrors(body); len(details) > 0 {
		return in, &apierror.Error{Status: http.StatusUnprocessableEntity, Details: details}
	}
	if err := json.Unmarshal(body, &in); err != nil {
		return in, apierror.OfJSON(err)
	}
	return in, nil
}

// limited returns a reader for a request body. If the body exceeds the size limit, the
// reader returns an [http.MaxBytesError]. If the Content-Length already exceeds the
// limit, or if the body is compressed, limited itself returns an error.
func limited(r *http.Request, limit int64) (io.Reader, error) {
	if r.ContentLength > limit {
		return nil, tooLarge(limit)
	}
	if err := httpapi.CheckCompression(r, nil); err != nil {
		return nil, err
	}
	return http.MaxBytesReader(nil, r.Body, limit), nil
}

func tooLarge(limit int64) *apierror.Error {
	return apierror.New(http.StatusRequestEntityTooLarge, "too_large", fmt.Sprintf("the body is larger than %d bytes", limit), "body")
}

func bodyProblem(err error) *apierror.Error {
	if p, ok := errors.AsType[*apierror.Error](err); ok {
		return p
	}
	msg := err.Error()
	if large, ok := errors.AsType[*http.MaxBytesError](err); ok {
		return tooLarge(large.Limit)
	}
	var syntax *json.SyntaxError
	_, notText := errors.AsType[contract.TextError](err)
	if notText || errors.As(err, &syntax) || errors.Is(err, io.EOF) || errors.Is(err, io.ErrUnexpectedEOF) {
		return apierror.New(http.StatusBadRequest, "json_invalid", msg, "body")
	}
	return apierror.Invalid(msg, "body")
}

// writeJSON responds with JSON, or with 204 if out is of type emptyBody or encodes to
// null.
func writeJSON(w http.ResponseWriter, out any) error {
	body, err := json.Marshal(out)
	if err != nil {
		return err
	}
	if _, none := out.(emptyBody); none || string(body) == "null" {
		w.WriteHeader(http.StatusNoContent)
		return nil
	}
	w.Header().Set("Content-Type", "application/json")
	_, _ = w.Write(append(body, '\n'))
	return nil
}

// conflict returns the error for a call that the current state does not allow.
func conflict(err error, loc ...any) error {
	if p, ok := errors.AsType[*apierror.Error](err); ok {
		return p
	}
	return apierror.Conflict("invalid_state", err.Error(), loc...)
}
