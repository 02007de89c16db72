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

func (c *Control) stateRoutes() section {
	snapshot := handler{request: reflect.TypeFor[nothing](), response: platform.StateType(), serve: c.serveState}
	return section{
		title: "The whole state",
		routes: []route{
			handle("GET state", snapshot,
				"A snapshot of all records, messages and logs, the secrets of webhooks, and the clock. It does not "+
					"contain fault rules or the request log. The snapshot is consistent, and other requests do not "+
					"wait for it."),
			handle("PUT state", rawBody(stateSchema, upload(c.Restore, "mockserver: restore: ")),
				"Restores a snapshot of version 4 or a file of `-state`, which is a snapshot with changes. An "+
					"invalid snapshot, for example with an unknown field or a wrong checksum, changes nothing. A "+
					"snapshot of more than 1 GiB gets 413 before it is read. Fault rules, tokens and the request log stay.").try(example{body: "@snapshot.json"}),
			handle("DELETE state", noInput(oneOrAll(c.ClearAccount, c.Clear)),
				"Deletes all records, logs, fault rules and seeded tokens, and resets the clock to its configured time. With "+
					"`account_id`, it clears only one account and its fault rules. Other fault rules, the clock and the "+
					"sequence of ids do not change.").params(ofAccount("the account; the default is all accounts")).try(example{query: "account_id=1"}),
			handle("POST reset", noInput(oneOrAll(c.ResetAccount, c.Reset)),
				"Restores the baseline, which is empty, the state after `-seed`, or the state that `PUT /_mock/baseline` stored. "+
					"Ids, secrets, the clock and the tokens are the same as in the baseline. Tokens of the configuration are restored "+
					"too. Fault rules and the request log are cleared. With `account_id`, for tests that run in parallel, it resets only "+
					"one account. It then clears the logs of the account, removes its fault rules, and does not change the data that "+
					"all accounts share. It returns 409 if another account now uses an id from the baseline.").params(ofAccount("the account; the default is all accounts")).try(example{query: "account_id=1"}),
			handle("PUT baseline", noInput(func(*request) (nothing, error) { return nothing{}, c.SetBaseline() }),
				"Makes the current state the baseline that a reset restores."),
			handle("POST seed", rawBody(environment.SeedSchema, upload(c.seed, "mockserver: seed: ")),
				"Adds the records of one or more objects. The items are request bodies of the API. They can also contain values that "+
					"the platform normally chooses, such as ids, statuses and secrets. Ids are unique across resources. A seed creates no events. "+
					"It stops at the first error and keeps the records that it has added.").
				try(example{body: `{"account_id":7,"tokens":[{"token":"shop"}],"templates":[{"name":"Welcome","content":{"html":"<p>Hello {{name}}</p>"}}],` +
					`"lists":[{"name":"News","policy_accepted":true,"contacts":[{"email":"ada@example.org"}]}],` +
					`"campaigns":[{"name":"May","list":"News","sender":{"email":"shop@example.com"},"content":{"subject":"May","template":"Welcome"}}],` +
					`"webhooks":[{"url":"http://127.0.0.1:9000/hook","events":["Email.Bounced"],"secret":"s3cr3t"}]}`}),
		},
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

// upload returns a function that passes a body of up to 1 GiB to read(). The
// function removes the prefix from error messages.
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
