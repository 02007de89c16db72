package mockserver

import (
	"encoding/json"
	"net/http"
	"strings"
)

// The control routes of the whole state.

// maxState is how many bytes of a snapshot are taken.
const maxState = 1 << 30

func (s *Server) stateRoutes(route func(string, func(*http.Request) (any, error))) {
	route("GET state", func(*http.Request) (any, error) {
		body, err := s.platform.snapshot()
		return json.RawMessage(body), err
	})
	route("PUT state", func(r *http.Request) (any, error) {
		if err := s.Restore(http.MaxBytesReader(nil, r.Body, maxState)); err != nil {
			return nil, invalid(strings.TrimPrefix(err.Error(), "mockserver: restore: "), "body")
		}
		return nil, nil
	})
	route("DELETE state", func(*http.Request) (any, error) {
		s.Reset()
		return nil, nil
	})
	route("POST seed", func(r *http.Request) (any, error) {
		if err := s.Seed(http.MaxBytesReader(nil, r.Body, maxState)); err != nil {
			return nil, invalid(strings.TrimPrefix(err.Error(), "mockserver: seed: "), "body")
		}
		s.platform.changes.tell(changeRecords, nil)
		return nil, nil
	})
}
