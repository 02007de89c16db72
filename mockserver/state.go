package mockserver

import (
	"context"
	"fmt"
	"io"

	"example.com/emailplatform/mockserver/internal/platform"
)

// Wait returns when every queue is idle, which is when nothing happens any more
// before more time passes: every campaign whose time has come is sent, and
// every event that fired has been attempted, unless its webhook is archived or
// its rate limit used up. What has failed and waits to be tried again, what
// waits for its rate limit and campaigns scheduled for later do not keep Wait;
// for those, let time pass (in a bubble of testing/synctest that costs
// nothing) or use [Server.Drain].
//
// It fails if ctx ends first.
func (s *Server) Wait(ctx context.Context) error { return s.env.Wait(ctx) }

// Drain returns when every delivery has been delivered or given up, however
// long its retries and rate limits take. Deliveries to archived webhooks do not
// count: nothing happens to them. It fails, saying what is left, if ctx ends
// first, the server is closed, or the clock is frozen, where waiting is in vain.
func (s *Server) Drain(ctx context.Context) error { return s.env.Drain(ctx) }

// WaitFor returns when f returns true, which it is asked at once and then after
// every change of what there is to see: a message, a delivery, an event, a
// request, a fault, the clock, or the whole state. Nothing is polled: it serves
// tests of applications that work in the background, and whose work [Server.Wait]
// knows nothing of. The clock of the platform does not end it: ctx does.
//
// f is called by one goroutine, that of the caller, and looks by methods of the
// server, such as [Server.OutboxTo], [Server.Deliveries] and [Server.Requests]. A
// request to the API is a change itself, after which f would be asked again, and
// so without end: f must make none. WaitFor fails if ctx ends first, or the server
// is shut down or closed.
func (s *Server) WaitFor(ctx context.Context, f func() bool) error { return s.env.WaitFor(ctx, f) }

// Snapshot writes the whole state as one JSON object: every record of every
// account, the messages, the journals of events and deliveries with what is
// still to be delivered, the clock, and the secrets of webhooks, so keep it like
// one. The fault plan, access tokens and the log of requests are not part of it. It
// may be called at any time. What is being attempted counts as still to be
// delivered, and its attempt as made; only what [Server.SendEventTo] has still to
// deliver has failed after a restore, because its secret is not part of the
// snapshot.
//
// It is the state at one moment, also if everything changes while it is written
// and however slow w is: nobody waits for w. Beside what is written it takes the
// memory of the records that change meanwhile.
func (s *Server) Snapshot(w io.Writer) error { return s.env.Snapshot(w) }

// Restore replaces the whole state by that of a snapshot of this version of
// snapshots (4), or by what a [Follower] wrote. What was to be
// delivered before is forgotten; what the snapshot has left to deliver begins
// to be delivered, and its campaigns go on. A clock that ran is as far ahead of
// package time as it was, one that was frozen shows the time that it showed; a
// snapshot that says nothing of it leaves it as [Config] says. Tokens, the fault
// plan and the log of requests are a test's and stay as they are; [Server.Reset] is
// what leaves nothing of another test. A snapshot with a mistake changes nothing,
// and the error says where it is.
func (s *Server) Restore(r io.Reader) error { return s.env.Restore(r) }

// SetBaseline makes the current state the baseline that [Server.Reset] restores. A
// test seeds the server, sets the baseline, and then resets the server between
// tests. The baseline is a compressed snapshot and the tokens that seeds added.
func (s *Server) SetBaseline() error { return s.env.SetBaseline() }

// Reset restores the baseline, which is the state that [Server.SetBaseline] kept, or
// else the empty state of a new server. Records have their ids, secrets and times
// again, and new ids continue after the ids of the baseline. Reset removes all fault
// rules and keeps the seed of their probabilities. It clears the log of requests. The
// clock is restored as [Server.Restore] does it. The limit of lookups is as
// configured. The tokens are those of [Config.Tokens] and of seeds before the
// baseline, each valid for its whole duration again. Reset keeps what
// [Server.SetTarget] set.
func (s *Server) Reset() { s.env.Reset() }

// Clear deletes everything, so the state is that of a new server: ids begin with the
// first id, and the clock is as [Config] sets it. Clear keeps the baseline, which
// Reset restores.
func (s *Server) Clear() { s.env.Clear() }

// ResetAccount restores the baseline of one account, for tests that run in parallel,
// each with an account of its own. The account's resources and tokens are those of
// the baseline, with their ids and secrets. ResetAccount deletes its messages, events,
// deliveries and requests, including those of the baseline. What all accounts share
// stays: the clock, the fault rules, the limit of lookups, and the sequence of ids.
//
// ResetAccount returns an error if the account does not exist. It also returns an
// error if another account now has an id of the baseline, which can happen only after
// [Server.Clear] or [Server.Restore].
func (s *Server) ResetAccount(accountID int64) error { return s.env.ResetAccount(accountID) }

// ClearAccount deletes everything of one account, including the resources and tokens
// of the baseline. It returns an error if the account does not exist.
func (s *Server) ClearAccount(accountID int64) error { return s.env.ClearAccount(accountID) }

// Seed adds what one or more JSON objects describe, each for one account:
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
// All members may be left out; without account_id it is the account of the first
// token of [Config.Tokens]. The items are bodies of the API and are checked like
// them, with a list or template of the same object by its name, and the status of
// contacts as an import takes it. A seed says what there is, and nothing happens:
// it fires no events.
//
// What the platform chooses by itself elsewhere, a seed may fix, so that a test
// knows it beforehand: ids, from 1 to 10^15, of which no two resources have the
// same one and the contacts of a list either all or none, each greater than the
// one before; the secret of a webhook, which may not be blank; its hash function.
// What is not fixed comes after the greatest id so far. Tokens are those of the
// object's account; they make it an account that there is, and fields left out are
// as [Token] says.
//
// The first mistake ends it; the error says where it is, and what was added
// before it stays.
func (s *Server) Seed(r io.Reader) error { return s.env.Seed(r) }

// Follow returns what writes the state now and then what changes, so that a file
// is never far behind.
func (s *Server) Follow() *Follower { return &Follower{s.env.Platform.Follow()} }

// Follower writes the state of a server and then what changes. Its methods must
// not be called concurrently with one another; the server goes on meanwhile, and
// there may be several followers. Close it when it is no longer needed: it keeps
// the state that it wrote last.
type Follower struct{ follower *platform.Follower }

// Write writes the whole state when it is called first, as [Server.Snapshot] does,
// and then, each time, what has changed since the last time: one line, which ends
// in a newline and is of use behind what was written before it alone; nothing if
// nothing has changed. After a Restore or a Reset it writes the whole state again.
//
// [Server.Restore] reads all that was written, one after the other. What it makes of
// it is the state as it was when Write was called last. A line that was not
// written to its end must be cut off before.
//
// After an error begin anew with another Follower: what should have been written is
// not written again.
func (f *Follower) Write(w io.Writer) error {
	if err := f.follower.Write(w); err != nil {
		return fmt.Errorf("mockserver: follow: %w", err)
	}
	return nil
}

// Close frees the memory that following takes. It may be called more than once.
func (f *Follower) Close() { f.follower.Close() }
