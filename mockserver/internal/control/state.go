package control

import (
	"errors"
	"io"
	"net/http"
	"reflect"

	"example.com/emailplatform/mockserver/internal/activity"
	"example.com/emailplatform/mockserver/internal/environment"
	"example.com/emailplatform/mockserver/internal/platform"
	"example.com/emailplatform/mockserver/internal/problem"
	"example.com/emailplatform/mockserver/internal/schema"
)

// maxState is the maximum size of a snapshot or a seed in bytes.
const maxState = 1 << 30

func (c *Control) stateRoutes() []route {
	account := ofAccount("the account; the default is all accounts")
	return []route{
		handle("GET state", handler{request: reflect.TypeFor[nothing](), response: platform.StateType(), serve: c.serveState}),
		handle("PUT state", rawBody(stateSchema, upload(c.Restore, "mockserver: restore: "))),
		handle("DELETE state", noInput(oneOrAll(c.ClearAccount, c.Clear)), account),
		handle("POST reset", noInput(oneOrAll(c.ResetAccount, c.Reset)), account),
		handle("PUT baseline", noInput(func(*request) (nothing, error) { return nothing{}, c.SetBaseline() })),
		handle("POST seed", rawBody(environment.SeedSchema, upload(c.seed, "mockserver: seed: "))),
	}
}

// serveState streams a snapshot of any size. After an error, it closes the connection,
// so the client detects that the snapshot is incomplete.
func (c *Control) serveState(w http.ResponseWriter, _ *request) error {
	w.Header().Set("Content-Type", "application/json")
	if err := c.Snapshot(w); err != nil {
		panic(http.ErrAbortHandler)
	}
	return nil
}

func (c *Control) seed(body io.Reader) error {
	err := c.Seed(body)
	if err == nil {
		c.Changes.Publish(activity.Records, nil)
	}
	return err
}

// upload returns a function that passes a request body of up to 1 GiB to read(), and
// removes the prefix from its error messages.
func upload(read func(io.Reader) error, prefix string) func(*request) error {
	return func(r *request) error {
		body, err := limited(r.Request, maxState)
		if err != nil {
			return err
		}
		if err := read(body); err != nil {
			return bodyProblem(err, prefix)
		}
		return nil
	}
}

// oneOrAll returns a handler that calls forAccount() with the account from the
// request. If the parameter account_id is omitted, the handler calls forAll().
func oneOrAll(forAccount func(account int64) error, forAll func()) func(*request) (nothing, error) {
	return func(r *request) (nothing, error) {
		account := r.query.id("account_id")
		if account == 0 {
			forAll()
			return nothing{}, nil
		}
		switch err := forAccount(account); {
		case errors.Is(err, environment.ErrNoAccount):
			return nothing{}, problem.NotFound("account", account, "query", "account_id")
		case err != nil:
			return nothing{}, conflict(err, "query", "account_id")
		}
		return nothing{}, nil
	}
}

func stateSchema() *schema.Schema { return requestOf(platform.StateType()) }
