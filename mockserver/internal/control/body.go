package control

import (
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"net/http"
	"strings"

	"example.com/emailplatform/mockserver/internal/gateway"
	"example.com/emailplatform/mockserver/internal/problem"
)

// bodyOf reads the JSON object that a route takes; no body is an empty
// object. A member that the route does not know is a mistake worth telling.
func bodyOf[T any](r *http.Request) (T, error) {
	var in T
	body, err := readLimited(r, gateway.MaxBody)
	if err != nil || len(body) == 0 {
		return in, err
	}
	media, _, _ := strings.Cut(r.Header.Get("Content-Type"), ";")
	if !strings.EqualFold(strings.TrimSpace(media), "application/json") {
		return in, problem.New(http.StatusUnsupportedMediaType, "unsupported_media_type", "want application/json", "header", "content-type")
	}
	decoder := json.NewDecoder(strings.NewReader(string(body)))
	decoder.DisallowUnknownFields()
	if err := decoder.Decode(&in); err != nil {
		return in, problem.OfJSON(body, err)
	}
	if _, err := decoder.Token(); err != io.EOF {
		return in, problem.New(http.StatusBadRequest, "json_invalid", "want one value", "body")
	}
	return in, nil
}

func readLimited(r *http.Request, limit int64) ([]byte, error) {
	body, err := io.ReadAll(io.LimitReader(r.Body, limit+1))
	if err != nil {
		return nil, problem.New(http.StatusBadRequest, "json_invalid", "the body could not be read", "body")
	}
	if int64(len(body)) > limit {
		return nil, problem.New(http.StatusRequestEntityTooLarge, "too_large", fmt.Sprintf("the body is larger than %d bytes", limit), "body")
	}
	return body, nil
}

// writeAnswer answers with JSON; nothing at all is 204.
func writeAnswer(w http.ResponseWriter, r *http.Request, out any, err error) {
	if err != nil {
		gateway.AnswerError(w, r, err)
		return
	}
	if out == nil {
		w.WriteHeader(http.StatusNoContent)
		return
	}
	body, err := json.Marshal(out)
	if err != nil {
		gateway.AnswerError(w, r, err)
		return
	}
	w.Header().Set("Content-Type", "application/json")
	w.WriteHeader(http.StatusOK)
	_, _ = w.Write(append(body, '\n'))
}

// writePlain answers with bytes of somebody else, as what no browser runs.
func writePlain(w http.ResponseWriter, body []byte) {
	w.Header().Set("Content-Type", "text/plain; charset=utf-8")
	w.Header().Set("Content-Security-Policy", inertPolicy)
	_, _ = w.Write(body)
}

// refused is what a method did not do because of the state of things.
func refused(err error, loc ...any) error {
	if p, ok := errors.AsType[*problem.Error](err); ok {
		return p
	}
	return problem.Conflict("invalid_state", strings.TrimPrefix(err.Error(), "mockserver: "), loc...)
}
