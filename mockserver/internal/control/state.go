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
				"A consistent snapshot of all records, messages, events, deliveries, webhook secrets and the clock. The "+
					"snapshot does not contain fault rules or the request log. Other requests continue during the snapshot."),
			handle("PUT state", rawBody(stateSchema, upload(c.Restore, "mockserver: restore: ")),
				"Restores a version 4 snapshot, or a `-state` file, which is a snapshot followed by changes. An invalid "+
					"snapshot, for example with an unknown field or a wrong checksum, changes nothing. A snapshot of more "+
					"than 1 GiB is rejected with 413. Restoring does not change fault rules, tokens or the request log.").
				try(example{body: "@snapshot.json"}),
			handle("DELETE state", noInput(oneOrAll(c.ClearAccount, c.Clear)),
				"Deletes all records, logs, fault rules and seeded tokens, and resets the clock to its configured time. The "+
					"baseline does not change. With `account_id`, the route clears only one account and its fault rules, and does "+
					"not change other fault rules, the clock or the sequence of ids.").
				params(ofAccount("the account; the default is all accounts")).try(example{query: "account_id=1"}),
			handle("POST reset", noInput(oneOrAll(c.ResetAccount, c.Reset)),
				"Restores the baseline: an empty server, the state after `-seed`, or the state from `PUT /_mock/baseline`. "+
					"After a reset, the ids, secrets, clock and tokens are the same as in the baseline. A reset also restores tokens from the "+
					"configuration, and clears fault rules and the request log. With `account_id`, a reset applies to one account, "+
					"for tests that run in parallel. A reset of one account clears its logs and fault rules, and does not change "+
					"shared data. The route returns 409 if another account uses an id from this account's baseline.").
				params(ofAccount("the account; the default is all accounts")).try(example{query: "account_id=1"}),
			handle("PUT baseline", noInput(func(*request) (nothing, error) { return nothing{}, c.SetBaseline() }),
				"Makes the current state the baseline that a reset restores."),
			handle("POST seed", rawBody(environment.SeedSchema, upload(c.seed, "mockserver: seed: ")),
				"Adds the records in one or more seed objects. The body contains the objects in sequence, without an array. "+
					"Records in a seed have the format of request bodies in the API. Records can also contain values that the "+
					"platform normally chooses, such as ids, statuses and secrets. Ids must be unique across all resources. A seed creates "+
					"no events. The route stops at the first error, and does not remove the records that it has already added.").
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
