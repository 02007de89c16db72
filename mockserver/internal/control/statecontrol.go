package control

import (
	"encoding/json"
	"errors"
	"io"
	"net/http"
	"strings"

	"example.com/emailplatform/mockserver/internal/feed"
	"example.com/emailplatform/mockserver/internal/problem"
)

// The control routes of the whole state.

// maxState is how many bytes of a snapshot are taken.
const maxState = 1 << 30

func (s *Control) stateRoutes(route func(string, func(*http.Request) (any, error))) {
	route("GET state", func(*http.Request) (any, error) {
		body, err := s.Platform.Snapshot()
		return json.RawMessage(body), err
	})
	route("PUT state", func(r *http.Request) (any, error) {
		if err := s.Restore(http.MaxBytesReader(nil, r.Body, maxState)); err != nil {
			return nil, documentProblem(err, "mockserver: restore: ")
		}
		return nil, nil
	})
	route("DELETE state", func(*http.Request) (any, error) {
		s.Reset()
		return nil, nil
	})
	route("POST seed", func(r *http.Request) (any, error) {
		if err := s.Seed(http.MaxBytesReader(nil, r.Body, maxState)); err != nil {
			return nil, documentProblem(err, "mockserver: seed: ")
		}
		s.Changes.Tell(feed.Records, nil)
		return nil, nil
	})
}

// documentProblem answers a state or a seed with a mistake, one that is no JSON
// as everywhere else.
func documentProblem(err error, prefix string) *problem.Error {
	msg := strings.TrimPrefix(err.Error(), prefix)
	var syntax *json.SyntaxError
	if errors.As(err, &syntax) || errors.Is(err, io.EOF) || errors.Is(err, io.ErrUnexpectedEOF) {
		return problem.New(http.StatusBadRequest, "json_invalid", msg, "body")
	}
	return problem.Invalid(msg, "body")
}
