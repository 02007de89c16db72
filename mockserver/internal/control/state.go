package control

import (
	"encoding/json"
	"errors"
	"io"
	"net/http"
	"reflect"
	"strconv"
	"strings"

	"example.com/emailplatform/mockserver/internal/activity"
	"example.com/emailplatform/mockserver/internal/environment"
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
				does: "A snapshot: every record, the messages and the journals, with the secrets of webhooks, and the clock. " +
					"Rules of faults and the log of requests are no part of it. It is the state at one moment, and holds up " +
					"nobody while it is sent.",
				handler: handler{takes: reflect.TypeFor[nothing](), answers: reflect.TypeFor[json.RawMessage](), serve: c.serveState},
			},
			{
				pattern: "PUT state",
				does: "Restores a snapshot, of version 2 or 3, or the file of `-state`, with the changes that follow its " +
					"first object. One with a mistake changes nothing; one larger than 1 GiB is 413 before it is read. Rules of " +
					"faults, tokens and the log of requests stay.",
				handler: reading(c.restore),
				example: example{body: "@snapshot.json"},
			},
			{
				pattern: "DELETE state",
				does: "Forgets everything: state, journals, faults, and the tokens of seeds; the clock is as configured. Of " +
					"one account alone with `account_id`: then what all share stays, which are faults, the clock, and the " +
					"sequence of ids.",
				query:   []param{ofAccount("the account; all if left out")},
				handler: answering(c.clear),
				example: example{query: "account_id=1"},
			},
			{
				pattern: "POST reset",
				does: "Goes back to the start, which is the state after `-seed`, or what `PUT /_mock/start` made it, or " +
					"nothing: the same ids and secrets, no rules of faults, no requests, the clock as it was, and the tokens of " +
					"the configuration and the start. With one account alone with `account_id`, for tests that run side by " +
					"side: its journals are empty then, and what all share stays. 409 if another account has an id of the start " +
					"by now.",
				query:   []param{ofAccount("the account; all if left out")},
				handler: answering(c.reset),
				example: example{query: "account_id=1"},
			},
			{
				pattern: "PUT start",
				does:    "Makes what there is now the start, which a reset goes back to.",
				handler: answering(c.setStart),
			},
			{
				pattern: "POST seed",
				does: "Adds what one or more objects describe, as the [documentation of " +
					"`Server.Seed`](../mockserver/state.go) has them. The first mistake ends it: what was added before it stays.",
				handler: reading(c.seed),
				example: example{body: `{"lists":[{"name":"News","policy_accepted":true,"contacts":[{"email":"ada@example.org"}]}]}`},
			},
		},
	}
}

// serveState sends a snapshot as it is made, however large. One that cannot be
// finished ends the connection, so that nobody takes it for whole.
func (c *Control) serveState(w http.ResponseWriter, _ *request) {
	w.Header().Set("Content-Type", "application/json")
	if err := c.Snapshot(w); err != nil {
		panic(http.ErrAbortHandler)
	}
}

func (c *Control) restore(r *request) (nothing, error) {
	body, err := limited(r.Request, maxState)
	if err != nil {
		return nothing{}, err
	}
	if err := c.Restore(body); err != nil {
		return nothing{}, documentProblem(err, "mockserver: restore: ")
	}
	return nothing{}, nil
}

func (c *Control) clear(r *request) (nothing, error) {
	return nothing{}, ofOneOrAll(r, c.ClearAccount, c.Clear)
}

func (c *Control) reset(r *request) (nothing, error) {
	return nothing{}, ofOneOrAll(r, c.ResetAccount, c.Reset)
}

// ofOneOrAll does something to the account that a request names, or to all.
func ofOneOrAll(r *request, one func(account int64) error, all func()) error {
	id, named := r.query["account_id"]
	if !named {
		all()
		return nil
	}
	account, _ := strconv.ParseInt(id, 10, 64) // it has been read as an integer
	switch err := one(account); {
	case errors.Is(err, environment.ErrNoAccount):
		return problem.NotFound("account", id, "query", "account_id")
	case err != nil:
		return refused(err, "query", "account_id")
	}
	return nil
}

func (c *Control) setStart(*request) (nothing, error) { return nothing{}, c.SetStart() }

func (c *Control) seed(r *request) (nothing, error) {
	body, err := limited(r.Request, maxState)
	if err != nil {
		return nothing{}, err
	}
	if err := c.Seed(body); err != nil {
		return nothing{}, documentProblem(err, "mockserver: seed: ")
	}
	c.Changes.Publish(activity.Records, nil)
	return nothing{}, nil
}

// documentProblem answers a state or a seed with a mistake, one that is no JSON
// as everywhere else.
func documentProblem(err error, prefix string) *problem.Error {
	msg := strings.TrimPrefix(err.Error(), prefix)
	if large, ok := errors.AsType[*http.MaxBytesError](err); ok {
		return tooLarge(large.Limit)
	}
	var syntax *json.SyntaxError
	if errors.As(err, &syntax) || errors.Is(err, io.EOF) || errors.Is(err, io.ErrUnexpectedEOF) {
		return problem.New(http.StatusBadRequest, "json_invalid", msg, "body")
	}
	return problem.Invalid(msg, "body")
}
