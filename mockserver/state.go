package mockserver

import (
	"io"
)

// Revision returns a number that grows after each change to the state that [Server.Snapshot]
// writes. There is one exception: the first request of an account adds the empty account to the
// state, but if this request only reads, the number does not change. A [Server.Restore] adds 1,
// and the work that it resumes adds more.
func (s *Server) Revision() uint64 { return s.engine.Changes.Revision() }

// Snapshot writes the whole state as one JSON object: all records of all accounts, the logs of events and
// deliveries, and the clock. It does not write fault rules, access tokens or the request log. Protect the
// snapshot, because it contains the secrets of webhooks.
//
// If an attempt is in progress, Snapshot writes its delivery as pending, so a restore repeats the attempt.
// Pending deliveries from [Server.SendEventTo] fail after a restore, because the snapshot does not contain
// their secrets.
//
// The snapshot is consistent, and a slow writer does not delay changes to the state. For this, the server
// keeps the old versions of changed records in memory until Snapshot returns.
func (s *Server) Snapshot(w io.Writer) error {
	return prefixed("snapshot", s.engine.Snapshot(w))
}

// Restore replaces the whole state with the state in a snapshot, and resumes its pending deliveries and
// campaigns. Tokens, fault rules and the request log do not change, because a snapshot does not contain
// them. If the snapshot is invalid, Restore changes nothing and returns an error with the position of
// the problem.
//
// The snapshot also determines the clock. If the clock in the snapshot was running, the server's
// clock gets the same offset from time.Now. If the clock in the snapshot was frozen, the server's
// clock gets the time in the snapshot. If the snapshot contains no clock, the clock restarts with
// the settings in [Config].
func (s *Server) Restore(r io.Reader) error {
	return prefixed("restore", s.engine.Restore(r))
}

// SetBaseline makes the current state the baseline. [Server.Reset] restores the baseline, for example between
// tests. The baseline also contains the tokens that [Server.Seed] added.
func (s *Server) SetBaseline() error {
	return prefixed("set the baseline", s.engine.SetBaseline())
}

// Reset restores the baseline, which is the state at the last [Server.SetBaseline], or
// the empty state of a new server:
//
//   - Records keep their ids, secrets and times, and new ids continue after the ids in
//     the baseline.
//   - If the clock was frozen in the baseline, it is frozen at the same time again.
//     Otherwise, it runs with the same offset from time.Now as in the baseline. However,
//     if [Config.Now] is set, a running clock restarts at the time of the baseline.
//   - The tokens in [Config.Tokens] and the tokens seeded before the baseline are valid,
//     and their lifetimes restart. All other tokens become invalid.
//   - The fault rules and the request log are empty, and the lookup rate limit is
//     [Config.LookupLimit].
//   - The seed for random faults and the targets set with [Server.SetTarget] do not
//     change.
func (s *Server) Reset() { s.engine.Reset() }

// Clear deletes everything except the baseline. It restarts the sequence of ids, and the clock with the
// settings in [Config].
func (s *Server) Clear() { s.engine.Clear() }

// ResetAccount resets one account, for parallel tests with separate accounts. The account's
// resources and tokens return to the baseline, with their ids and secrets. Its fault rules,
// messages, events, deliveries and requests are deleted, even if the baseline contains them.
// ResetAccount does not change what accounts share: the clock, the fault rules without an account,
// the lookup rate limit and the sequence of ids.
//
// If the account does not exist, ResetAccount returns an error. After [Server.Clear] or [Server.Restore],
// another account may use an id that the baseline of this account contains. This is an error too.
func (s *Server) ResetAccount(accountID int64) error {
	return prefixed("reset", s.engine.ResetAccount(accountID))
}

// ClearAccount deletes all data of one account, including its fault rules, and the account's resources and
// tokens in the baseline. If the account does not exist, it returns an error.
func (s *Server) ClearAccount(accountID int64) error {
	return prefixed("clear", s.engine.ClearAccount(accountID))
}

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
// All fields are optional. The default account_id is the account of the first token in [Config.Tokens]. Each
// item has the format of a request body of the API and is validated like one. There are two differences: an
// item can refer to a list or template in the same object by name, and a contact can have any status that an
// import accepts. A seed fires no events.
//
// Unlike a request, a seed can set ids, secrets and tokens:
//
//   - Ids are from 1 to 10^15 and unique across resources. If one contact in a list has an id, all
//     contacts in the list must have ids, in ascending order. Ids that the server assigns later are
//     greater than all ids in the seed.
//   - A webhook can have a secret and a hash function. The secret must not begin or end with white space.
//   - Tokens are valid for the account whose account_id is in the same object. If this account does not
//     exist, Seed creates it. Omitted fields of a token have the defaults that [Token] documents.
//
// Seed stops at the first error, which contains the position of the failed record. Records that were added
// before remain.
func (s *Server) Seed(r io.Reader) error {
	return prefixed("seed", s.engine.Seed(r))
}
