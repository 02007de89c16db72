// Package mockserver is an in-memory mock of the email platform, for tests of
// applications that use it.
//
//	package shop_test
//
//	import (
//		"testing"
//
//		"example.com/emailplatform/client"
//		"example.com/emailplatform/mockserver"
//	)
//
//	func TestBounce(t *testing.T) {
//		srv := mockserver.Start(mockserver.Config{})
//		defer srv.Close()
//		c, err := client.New(client.Config{BaseURL: srv.URL(), Token: srv.Token()})
//		if err != nil {
//			t.Fatal(err)
//		}
//		email, err := c.Emails.Send(t.Context(), client.EmailSubmission{
//			To: "ada@example.org", Sender: client.Sender{Email: "shop@example.com"},
//			Content: client.EmailContent{Subject: "Hello", Text: "Hello"},
//		})
//		if err != nil {
//			t.Fatal(err)
//		}
//		if err := srv.Bounce(email.ID, mockserver.HardBounce, ""); err != nil {
//			t.Fatal(err)
//		}
//	}
//
// The server implements every operation of the API and validates every request
// against the OpenAPI document. It stores contacts, messages and webhooks, and
// delivers signed events. [Server.Bounce] and similar methods simulate
// recipient actions. [Server.Wait] waits until all work is done.
// [Server.Outbox], [Server.Deliveries] and [Server.Requests] return the
// messages, deliveries and requests. Tests in other languages can use these
// functions over HTTP, under /_mock/. Command mockserver runs the server as a
// separate process.
//
// "Specification" in this documentation is the file docs/specification.md of
// the repository. If it does not define a behavior, docs/decisions.md applies.
//
// # Accounts
//
// Every request needs an access token of [Config.Tokens] or of a seed. A token
// belongs to a user and an account. Accounts are isolated: a request with an id
// of another account gets 404. All ids come from one sequence, so each id
// identifies one resource.
//
// # Messages
//
// The server sends no real email. When a submission returns, its message has
// been delivered and is in the outbox. Campaigns are sent when they are due.
// Recipient actions are simulated by tests, or automatically for addresses of
// [MagicDomain].
//
//	The recipient          Its contact becomes    Fires
//	bounces hard           bounced                Email.Bounced
//	bounces otherwise      (unchanged)            Email.Bounced
//	complains              spam                   Email.ReportedAsSpam
//	unsubscribes           unsubscribed           Contact.Removed, Contact.Unsubscribed,
//	                                              from the Email API Email.Unsubscribed too
//	unsubscribes globally  unsubscribed           SuppressedEmail.Added, Contact.Removed, Contact.Unsubscribed
//	  from the Email API   (unchanged)            SuppressedEmail.Added, Email.GlobalUnsubscribed
//	confirms               active                 Contact.Added
//	opens, clicks          (unchanged)            Email.Opened, Email.Clicked
//
// Complaints and global unsubscribes add the address to the suppression list.
//
// Links in messages lead to the server, under /_mail/: the confirmation link,
// the merge tags {{unsubscribe_url}} and {{global_unsubscribe_url}}, and the
// List-Unsubscribe link (RFC 8058). A GET simulates a click in a browser. The
// links need no token, because they contain the message's id, which cannot be
// guessed.
//
// # Deliveries
//
// Each webhook has its own queue. Up to [Config.DeliveryConcurrency] attempts
// run concurrently, so deliveries can arrive in another order. A delivery
// without a 2xx response within [Config.AttemptTimeout] is retried on
// [Config.RetrySchedule], with the same bytes and signature. The webhook's rate
// limit counts attempts, not events, in every window of its period. The queue
// of an archived webhook is paused.
//
// By default, receivers have loopback addresses or are handlers in
// [Config.Targets]. [Config.AllowTargets], [Config.AllowTargetHosts] and
// [Config.AllowTargetNetworks] allow other addresses.
//
// # Time
//
// [Server.Wait] returns when all work that is due is done: every due campaign
// has been sent, and every event has had a delivery attempt, unless a rate
// limit or an archived webhook blocks it. [Server.Drain] also waits for retries
// and rate limits. [Server.Advance] advances the virtual clock, so hours of
// retries take milliseconds. In a bubble of testing/synctest, a server made by
// [New] and used through [Server.Transport] runs on the bubble's time.
//
// # Fault injection
//
// [Server.Inject] adds fault rules. They simulate failures of networks and
// servers. A request or delivery can fail before it is processed, or after it
// was processed, so that only the response is lost. Faults work over sockets
// and in process. All random choices come from one seed, [Server.FaultSeed]:
// the same seed, rules and order of requests cause the same faults.
//
// # State
//
// [Server.Seed] adds records from a file. [Server.SetBaseline] makes the
// current state the baseline, which [Server.Reset] restores with the same ids
// and secrets. [Server.Snapshot] writes the whole state as JSON,
// [Server.Restore] restores it, and [Server.Clear] deletes everything.
// [Server.Follow] writes the state and then its changes.
//
// # Control API
//
// The routes under /_mock/ provide the functions of these methods and a stream
// of changes; see docs/control-api.md. If the server listens on a loopback
// address, the routes need no token. They then reject requests from pages of
// other sites and requests whose Host is not a loopback name. Otherwise all
// routes except /_mock/health need an access token.
//
// # Concurrency
//
// All methods are safe for concurrent use and return copies. Between requests
// and deliveries the server has no running goroutines.
package mockserver
