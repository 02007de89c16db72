// Package mockserver is the email platform in memory, for tests of
// applications that use it.
//
// It answers every operation of the API, holds every request against the API's
// document, keeps contacts, messages and webhooks as the specification says,
// and delivers signed events. A test does the rest by methods: [Server.Bounce]
// and its like act for recipients, [Server.Wait] waits until all is done,
// [Server.Outbox], [Server.Deliveries] and [Server.Requests] show what happened.
// The same is there over HTTP under /_mock/, for tests in other languages, and
// command mockserver runs the platform on its own.
//
// "The specification" in this documentation is the platform's interface
// document, docs/specification.md; where it is silent, docs/decisions.md decides.
//
// # Accounts
//
// Every request needs one of [Config.Tokens], or one of a seed. A token belongs to a user and an
// account; nothing of one account is visible to another, whose ids are as
// unknown as ids that do not exist: 404. All ids come from one sequence, so that
// no id means two things.
//
// # Messages
//
// Nothing is really sent: a message has arrived, and is in the outbox, when its
// submission is answered. Campaigns are sent when their time comes, beside the
// requests. What recipients do next, a test decides, or an address of
// [MagicDomain] does it by itself.
//
//	The recipient          Its contact becomes    Fires
//	bounces hard           bounced                Email.Bounced
//	bounces otherwise      (as it was)            Email.Bounced
//	complains              spam                   Email.ReportedAsSpam
//	unsubscribes           unsubscribed           Contact.Removed, Contact.Unsubscribed,
//	                                              from the Email API Email.Unsubscribed too
//	unsubscribes globally  unsubscribed           SuppressedEmail.Added, Contact.Removed, Contact.Unsubscribed
//	  from the Email API   (as it was)            SuppressedEmail.Added, Email.GlobalUnsubscribed
//	confirms               active                 Contact.Added
//	opens, clicks          (as it was)            Email.Opened, Email.Clicked
//
// Complaining and unsubscribing globally put the address on the suppression list.
//
// The links in messages lead to the server itself, under /_mail/: the one that
// confirms, those of the merge tags {{unsubscribe_url}} and
// {{global_unsubscribe_url}}, and that of List-Unsubscribe, to which a mail program
// posts (RFC 8058). A GET does as a click in a browser does. They need no token:
// the message's id, which nobody can guess, is in them.
//
// # Deliveries
//
// Each webhook has a queue, which is worked off in order, up to
// [Config.DeliveryConcurrency] attempts at a time, so that they may arrive in
// another order; no queue waits for that of another webhook. A delivery that is
// not answered with 2xx within [Config.AttemptTimeout] is tried again on
// [Config.RetrySchedule], always with the same bytes and signature.
// Attempts, not events, count against the webhook's rate limit, and never are
// more made in any window of its period. The queue of an archived webhook rests.
//
// Receivers are loopback addresses, or handlers of the test itself by
// [Config.Targets]. [Config.AllowTargets] adds public addresses,
// [Config.AllowTargetHosts] and [Config.AllowTargetNetworks] add neighbours, such
// as other containers. No name and no redirect leads to any other, and nothing to
// the addresses where clouds keep credentials of their machines.
//
// # Waiting
//
// [Server.Wait] returns when nothing happens any more before more time passes:
// every event has been attempted, unless a rate limit or an archived webhook
// holds it. Retries and rate limits take their time; [Server.Drain] waits for
// them too, and [Server.Advance] lets the time pass at once. The platform's time
// is package time, unless it was advanced, set or frozen, [Server.Now] says what
// follows it: a server made by [New] in a bubble of testing/synctest and reached by
// [Server.Transport] runs hours of retries in no time by itself.
//
// # Trouble
//
// A plan of faults, [Server.Inject], makes requests and deliveries fail in the
// ways in which networks and servers do: before a request acts, or after, when
// everything is done and only the answer is lost. It works alike over a socket
// and in process. Everything random in it comes from one seed,
// [Server.FaultSeed]: with the same seed, rules and order of requests the same
// faults happen.
//
// # State
//
// [Server.Seed] adds what a file describes, and [Server.SetBaseline] makes it the
// baseline, which [Server.Reset] restores between tests with the same ids and secrets.
// [Server.Snapshot] writes the whole state as JSON, [Server.Restore] goes back to
// it, and [Server.Clear] forgets everything. [Server.Follow] writes the state and
// then what changes, for a file that is never far behind.
//
// # Control routes
//
// Under /_mock/ is everything that the methods do, and a stream of all changes;
// docs/control-api.md lists the routes. While the server listens on loopback they
// need no token, but no page of another site can use them, and like the API they
// answer 403 to a Host that is no loopback name; elsewhere all but /_mock/health
// need one of the access tokens.
//
// # Concurrency
//
// All methods may be called concurrently, also while the server is used.
// What they return are copies. Between requests and deliveries no goroutine is
// left running.
package mockserver
