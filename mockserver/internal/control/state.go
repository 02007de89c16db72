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

// stateRoutes are about everything at once.
func (c *Control) stateRoutes() section {
	return section{
		title: "The whole state",
		routes: []route{
			{
				pattern: "GET state",
				does: "A snapshot: every record, the messages and the journals, with the secrets of webhooks. Rules of faults and " +
					"the log of requests are no part of it.",
				handler: answering(c.snapshot),
			},
			{
				pattern: "PUT state",
				does:    "Restores a snapshot. One with a mistake changes nothing.",
				handler: reading(c.restore),
				example: example{body: "@snapshot.json"},
			},
			{
				pattern: "DELETE state",
				does:    "Forgets everything, of all accounts: state, journals, faults.",
				handler: answering(c.reset),
			},
			{
				pattern: "POST seed",
				does: "Adds what one or more objects describe, as the [documentation of `Server.Seed`](../mockserver/state.go) has " +
					"them. The first mistake ends it: what was added before it stays.",
				handler: reading(c.seed),
				example: example{body: `{"lists":[{"name":"News","policy_accepted":true,"contacts":[{"email":"ada@example.org"}]}]}`},
			},
		},
	}
}

func (c *Control) snapshot(*request) (json.RawMessage, error) {
	return c.Platform.Snapshot()
}

func (c *Control) restore(r *request) (nothing, error) {
	if err := c.Restore(http.MaxBytesReader(nil, r.Body, maxState)); err != nil {
		return nothing{}, documentProblem(err, "mockserver: restore: ")
	}
	return nothing{}, nil
}

func (c *Control) reset(*request) (nothing, error) {
	c.Reset()
	return nothing{}, nil
}

func (c *Control) seed(r *request) (nothing, error) {
	if err := c.Seed(http.MaxBytesReader(nil, r.Body, maxState)); err != nil {
		return nothing{}, documentProblem(err, "mockserver: seed: ")
	}
	c.Changes.Tell(feed.Records, nil)
	return nothing{}, nil
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
