package mockserver

import (
	"context"
	"io"
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
func (s *Server) Wait(ctx context.Context) error { return s.world.Wait(ctx) }

// Drain returns when every delivery has been delivered or given up, however
// long its retries and rate limits take. Deliveries to archived webhooks do not
// count: nothing happens to them. It fails, saying what is left, if ctx ends
// first or the server is closed.
func (s *Server) Drain(ctx context.Context) error { return s.world.Drain(ctx) }

// WaitFor returns when f returns true, which it is asked at once and then after
// every change of what there is to see: a message, a delivery, an event, a
// request, a fault, or the whole state. Nothing is polled: it serves tests of
// applications that work in the background, and whose work [Server.Wait] knows
// nothing of.
//
// f is called by one goroutine, that of the caller, and looks by methods of the
// server, such as [Server.OutboxTo], [Server.Deliveries] and [Server.Requests]. A
// request to the API is a change itself, after which f would be asked again, and
// so without end: f must make none. WaitFor fails if ctx ends first, or the server
// is shut down or closed.
func (s *Server) WaitFor(ctx context.Context, f func() bool) error { return s.world.WaitFor(ctx, f) }

// Snapshot writes the whole state as one JSON object: every record of every
// account, the messages, the journals of events and deliveries with what is
// still to be delivered, and the secrets of webhooks, so keep it like one. The
// fault plan and the log of requests are not part of it. It may be called at
// any time. What is being attempted counts as still to be delivered, and its
// attempt as made; only what [Server.SendEventTo] has still to deliver has failed
// after a restore, because its secret is not part of the snapshot.
func (s *Server) Snapshot(w io.Writer) error { return s.world.Snapshot(w) }

// Restore replaces the whole state by that of a snapshot. What was to be
// delivered before is forgotten; what the snapshot has left to deliver begins
// to be delivered, and its campaigns go on. Tokens, the fault plan and the log
// of requests stay. A snapshot with a mistake changes nothing, and the error
// says where it is.
func (s *Server) Restore(r io.Reader) error { return s.world.Restore(r) }

// Reset forgets everything: the state, the journals, the log of requests and
// the fault plan. Only tokens and configuration stay, with the limit of lookups
// as it was configured, and the seed of the fault plan. Ids begin anew.
func (s *Server) Reset() { s.world.Reset() }

// Seed adds what one or more JSON objects describe, each for one account:
//
//	{
//	  "account_id": 1,
//	  "templates": [{"name": "Welcome", "content": {"html": "<p>Hello {{name}}</p>"}}],
//	  "lists": [{"name": "News", "policy_accepted": true, "contacts": [
//	    {"email": "ada@example.com", "tags": ["vip"], "status": "active"}]}],
//	  "suppressed_emails": ["*@example.net"],
//	  "workflows": [{"name": "Greeting", "list": "News", "trigger": "subscribed", "active": true,
//	    "sender": {"email": "shop@example.com"}, "content": {"subject": "Hello", "template": "Welcome"}}],
//	  "campaigns": [{"name": "May", "list": "News", "sender": {"email": "shop@example.com"},
//	    "content": {"subject": "May", "template": "Welcome"}}],
//	  "webhooks": [{"url": "http://127.0.0.1:9000/hook", "events": ["Email.Bounced"]}]
//	}
//
// All members may be left out; without account_id it is the account of the first
// token. The items are bodies of the API and are checked like them, with a list
// or template of the same object by its name, and the status of contacts as an
// import takes it. Webhooks come last, so that none hears of the seed itself.
// The first mistake ends it; the error says where it is, and what was added
// before it stays.
func (s *Server) Seed(r io.Reader) error { return s.world.Seed(r) }
