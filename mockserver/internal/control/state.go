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

// maxState is how many bytes of a snapshot are taken.
const maxState = 1 << 30

func (c *Control) snapshot(*http.Request) (any, error) {
	body, err := c.Platform.Snapshot()
	return json.RawMessage(body), err
}

func (c *Control) restore(r *http.Request) (any, error) {
	if err := c.Restore(http.MaxBytesReader(nil, r.Body, maxState)); err != nil {
		return nil, documentProblem(err, "mockserver: restore: ")
	}
	return nil, nil
}

func (c *Control) reset(*http.Request) (any, error) {
	c.Reset()
	return nil, nil
}

func (c *Control) seed(r *http.Request) (any, error) {
	if err := c.Seed(http.MaxBytesReader(nil, r.Body, maxState)); err != nil {
		return nil, documentProblem(err, "mockserver: seed: ")
	}
	c.Changes.Tell(feed.Records, nil)
	return nil, nil
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
