package mockserver

import (
	"context"
	"io"
)

// Wait waits until all due work is done. Then every due campaign has been sent, and every
// event has had a delivery attempt, unless its webhook is archived or has exhausted its
// rate limit. Wait does not wait for work that is scheduled for later, such as retries.
// To complete such work, use [Server.Advance] or [Server.Drain], or sleep in a
// testing/synctest bubble. Wait returns an error if ctx is canceled or expires.
func (s *Server) Wait(ctx context.Context) error { return s.engine.Wait(ctx, 0) }

// WaitAccount is [Server.Wait] for one account, so parallel tests do not wait for each
// other. It ignores deliveries from [Server.SendEventTo], because these have no account.
// It returns an error if the account does not exist.
func (s *Server) WaitAccount(ctx context.Context, accountID int64) error {
	return s.engine.Wait(ctx, accountID)
}

// Drain waits until every delivery has succeeded or failed permanently, including retries
// and rate limits. It ignores deliveries to archived webhooks. It returns an error if ctx
// is canceled or expires, if the server is closed, or if the clock is frozen. The error
// lists the remaining deliveries.
func (s *Server) Drain(ctx context.Context) error { return s.engine.Drain(ctx, 0) }

// DrainAccount waits until every delivery of one account has succeeded or failed
// permanently; see [Server.Drain]. It returns an error if the account does not exist.
func (s *Server) DrainAccount(ctx context.Context, accountID int64) error {
	return s.engine.Drain(ctx, accountID)
}

// WaitFor calls f on the caller's goroutine, immediately and after every change, until f
// returns true. A change affects a message, a delivery, an event, a request, a fault, the
// clock or the whole state. The function f can call the server's methods, such as
// [Server.OutboxTo]. It must not send requests to the API, because each request is a
// change and causes another call to f. WaitFor returns an error if ctx is canceled or
// expires in real time, or if the server is shut down or closed.
//
// The function f can also read the application's own state, because the end of a delivery
// is a change. For example, f can be the method Load of an atomic.Bool that the webhook
// handler sets before it responds. WaitFor does not notice a change that the application
// makes after its response, for example in a queue. Run such a test in a testing/synctest
// bubble, where time.Sleep(time.Minute) takes no real time.
func (s *Server) WaitFor(ctx context.Context, f func() bool) error { return s.engine.WaitFor(ctx, f) }

// Revision returns a number that grows after each change to the state that
// [Server.Snapshot] writes. A request that only reads does not increase the number, even
// if it is the first request of an account and adds the empty account. A [Server.Restore]
// adds 1, and the work that it resumes adds more.
func (s *Server) Revision() uint64 { return s.engine.Changes.Revision() }

// Snapshot writes the whole state as one JSON object: all records of all accounts, the
// logs of events and deliveries, and the clock. Protect the snapshot, because it contains
// the secrets of webhooks. Fault rules, access tokens and the request log are not part of
// the state.
//
// Snapshot stores a delivery with an attempt in progress as pending, so the attempt is
// repeated after a restore. Pending deliveries from [Server.SendEventTo] fail after a
// restore, because the snapshot does not contain their secrets.
//
// The snapshot is consistent, and a slow writer does not delay changes to the
// state. Until Snapshot returns, the server keeps the old versions of changed
// records in memory.
func (s *Server) Snapshot(w io.Writer) error { return s.engine.Snapshot(w) }

// Restore replaces the whole state with the state in a snapshot, and resumes the pending
// deliveries and campaigns in the snapshot. A running clock keeps its offset from
// time.Now, and a frozen clock keeps its time. If the snapshot contains no clock, the
// clock restarts with the settings in [Config]. Tokens, fault rules and the request log
// do not change. If the snapshot is invalid, Restore changes nothing and returns an error
// with the position of the problem.
func (s *Server) Restore(r io.Reader) error { return s.engine.Restore(r) }

// SetBaseline makes the current state the baseline that [Server.Reset] restores, for
// example between tests. The baseline consists of a compressed snapshot and the
// tokens added by [Server.Seed].
func (s *Server) SetBaseline() error { return s.engine.SetBaseline() }

// Reset restores the baseline, which is the state at the last [Server.SetBaseline], or
// the empty state of a new server:
//
//   - Records keep their ids, secrets and times, and new ids continue after the ids in
//     the baseline.
//   - The clock is restored as described for [Server.Restore], except that a running
//     clock returns to the time of the baseline if [Config.Now] is set.
//   - The tokens in [Config.Tokens] and the tokens seeded before the baseline are valid,
//     and their lifetimes restart. All other tokens become invalid.
//   - The fault rules and the request log are empty, and the lookup rate limit is
//     [Config.Lookups].
//   - The seed for random faults and the targets set with [Server.SetTarget] do not
//     change.
func (s *Server) Reset() { s.engine.Reset() }

// Clear deletes everything except the baseline. The sequence of ids restarts, and
// the clock restarts with the settings in [Config].
func (s *Server) Clear() { s.engine.Clear() }

// ResetAccount restores one account, for parallel tests with separate accounts. The
// account's resources and tokens return to the baseline, with their ids and secrets. The
// account's fault rules, messages, events, deliveries and requests are deleted, even if
// the baseline contains them. Everything that accounts share remains as it is: the clock,
// other fault rules, the lookup rate limit and the sequence of ids.
//
// ResetAccount returns an error if the account does not exist. It also returns an error
// if an id in the account's baseline belongs to another account, which is possible after
// [Server.Clear] or [Server.Restore].
func (s *Server) ResetAccount(accountID int64) error { return s.engine.ResetAccount(accountID) }

// ClearAccount deletes all data of one account, including its fault rules. It also
// deletes the account's resources and tokens from the baseline. It returns an error
// if the account does not exist.
func (s *Server) ClearAccount(accountID int64) error { return s.engine.ClearAccount(accountID) }

// Seed adds records from one or more JSON objects, each for one account:
//
//	{
//	  "account_id": 1,
//	  "tokens": [{"token": "reader", "user_id": 2, "user_email": "ada@example.com", "read_only": true, "expires_in_ms": 3600000}],
//	  "templates": [{"template_id": 11, "name": "Welcome", "content": {"html": "<p>Hello {{name}}</p>"}}],
//	  "lists": [{"list_id": 12, "name": "News", "policy_accepted": true, "contacts": [
//	    {"id": 101, "email": "ada@example.com", "tags": ["vip"], "status": "active"}]}],
//	  "suppressed_emails": ["*@example.net"],
//	  "workflows": [{"workflow_id": 13, "name": "Greeting", "list": "News", "trigger": "subscribed", "active": true,
//	    "sender": {"email": "shop@example.com"}, "content": {"subject": "Hello", "template": "Welcome"}}],
//	  "campaigns": [{"campaign_id": 14, "name": "May", "list": "News", "sender": {"email": "shop@example.com"},
//	    "content": {"subject": "May", "template": "Welcome"}}],
//	  "webhooks": [{"webhook_id": "15", "url": "http://127.0.0.1:9000/hook", "events": ["Email.Bounced"],
//	    "secret": "known to the receiver", "hash_function": "sha512"}]
//	}
//
// All fields are optional. The default account_id is the account of the first token in
// [Config.Tokens]. Each item has the format of a request body of the API and is validated
// in the same way, with two differences. An item can refer to a list or template in the
// same object by name, and a contact can have any status that an import accepts. A seed
// fires no events.
//
// A seed can set ids, secrets and tokens:
//
//   - Ids are from 1 to 10^15 and unique across resources. If one contact in a list has
//     an id, all contacts in the list must have ids, in ascending order. Later ids are
//     greater than all ids in the seed.
//   - A webhook can have a secret and a hash function. The secret must not begin or end
//     with white space.
//   - Tokens are valid for the account of their object, which Seed creates if necessary.
//     Omitted fields of a token have the defaults that [Token] documents.
//
// Seed stops at the first error, which contains the position of the failed record.
// Records added before the error remain.
func (s *Server) Seed(r io.Reader) error { return s.engine.Seed(r) }
