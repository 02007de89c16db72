package control

import (
	"bytes"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"maps"
	"net/http"
	"slices"
	"strings"

	"example.com/emailplatform/mockserver/internal/api"
	"example.com/emailplatform/mockserver/internal/gateway"
	"example.com/emailplatform/mockserver/internal/problem"
	"example.com/emailplatform/mockserver/internal/suggest"
)

// bodyOf reads the JSON object that a route takes, as it is declared; no body is an empty
// object. A member that the route does not know is a mistake worth telling.
func bodyOf[T any](r *http.Request, declared *schema) (T, error) {
	var in T
	body, err := readLimited(r, gateway.MaxBody)
	if err != nil {
		return in, err
	}
	if len(body) == 0 {
		body = []byte("{}")
	} else if media, _, _ := strings.Cut(r.Header.Get("Content-Type"), ";"); !strings.EqualFold(
		strings.TrimSpace(media), "application/json") {
		return in, problem.New(http.StatusUnsupportedMediaType, "unsupported_media_type", "want application/json",
			"header", "content-type")
	}
	decoder := json.NewDecoder(bytes.NewReader(body))
	decoder.UseNumber()
	var value any
	if err := decoder.Decode(&value); err != nil {
		return in, problem.OfJSON(body, err)
	}
	if _, err := decoder.Token(); err != io.EOF {
		return in, problem.New(http.StatusBadRequest, "json_invalid", "want one value", "body")
	}
	if details := declared.mistakes(value, "body"); len(details) > 0 {
		return in, &problem.Error{Status: http.StatusUnprocessableEntity, Details: details}
	}
	if err := json.Unmarshal(body, &in); err != nil {
		return in, problem.OfJSON(body, err)
	}
	return in, nil
}

// mistakes finds the members that nobody knows, those that are missing, and
// values that are none of the few that there are. A value of another kind is for
// encoding/json to find. Names are compared with case.
func (s *schema) mistakes(value any, loc ...any) (found []api.ProblemDetail) {
	at := func(name any) []any { return append(slices.Clone(loc), name) }
	switch value := value.(type) {
	case string:
		if s.enum != nil && value != "" && !slices.Contains(s.enum, value) {
			return []api.ProblemDetail{problem.At("value_error", suggest.Unknown("value", value, s.enum), loc...)}
		}
	case []any:
		for i, item := range value {
			if s.items != nil {
				found = append(found, s.items.mistakes(item, at(i)...)...)
			}
		}
	case map[string]any:
		if s.kind != "object" {
			return nil
		}
		for _, name := range sortedNames(value) {
			if m := s.memberOf(name); m != nil {
				found = append(found, m.schema.mistakes(value[name], at(name)...)...)
			} else {
				found = append(found, problem.At("value_error", suggest.Unknown("member", name, s.names()), at(name)...))
			}
		}
		for _, m := range s.members {
			if _, there := value[m.name]; m.always && !there {
				found = append(found, problem.At("missing", "required", at(m.name)...))
			}
		}
	}
	return found
}

// sortedNames returns the names of a map in their order.
func sortedNames[T any](m map[string]T) []string { return slices.Sorted(maps.Keys(m)) }

func readLimited(r *http.Request, limit int64) ([]byte, error) {
	body, err := io.ReadAll(io.LimitReader(r.Body, limit+1))
	if err != nil {
		return nil, problem.New(http.StatusBadRequest, "json_invalid", "the body could not be read", "body")
	}
	if int64(len(body)) > limit {
		return nil, tooLarge(limit)
	}
	return body, nil
}

func tooLarge(limit int64) *problem.Error {
	return problem.New(http.StatusRequestEntityTooLarge, "too_large", fmt.Sprintf("the body is larger than %d bytes", limit), "body")
}

// limited returns a body to be read as it comes. One that says that it is larger
// than the limit is refused before any of it is read; one that does not say so
// fails at the limit with a [http.MaxBytesError].
func limited(r *http.Request, limit int64) (io.Reader, error) {
	if r.ContentLength > limit {
		return nil, tooLarge(limit)
	}
	return http.MaxBytesReader(nil, r.Body, limit), nil
}

// writeAnswer answers with JSON; nothing is 204.
func writeAnswer(w http.ResponseWriter, r *http.Request, out any, err error) {
	if err != nil {
		gateway.WriteError(w, r, err)
		return
	}
	body, err := json.Marshal(out)
	if _, none := out.(nothing); none || string(body) == "null" {
		w.WriteHeader(http.StatusNoContent)
		return
	}
	if err != nil {
		gateway.WriteError(w, r, err)
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
