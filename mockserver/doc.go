// Package mockserver implements an in-memory mock of the email platform, for
// testing applications that use the platform.
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
//		if err := srv.Bounce(email.ID, mockserver.HardBounce); err != nil {
//			t.Fatal(err)
//		}
//	}
//
// The server implements every operation of the API and validates every request
// against the OpenAPI document. It stores contacts, messages and webhooks, and
// delivers signed events. [Server.Outbox], [Server.Deliveries] and [Server.Requests]
// return the messages, deliveries and requests. Command mockserver runs the server
// as a separate process.
//
// In this documentation, "Specification" refers to the file docs/specification.md in
// the repository. If the specification does not define a behavior,
// docs/decisions.md applies.
//
// # Accounts
//
// Every request needs an access token from [Config.Tokens] or [Server.Seed]. A
// token belongs to a user and an account. Accounts are isolated, so a request
// with an id from another account fails with 404. All ids come from one
// sequence, so each id identifies one resource.
//
// # Messages
//
// The server sends no real email. When the response to a submission arrives, the
// outbox already contains the message. [Server.Bounce], [Server.Complain],
// [Server.Open], [Server.Click], [Server.Unsubscribe], [Server.GlobalUnsubscribe] and
// [Server.Confirm] simulate recipient actions. Recipients in the domain [MagicDomain]
// react to messages automatically.
//
// The server serves the links in messages under /_mail/: the confirmation link, the
// merge tags {{unsubscribe_url}} and {{global_unsubscribe_url}}, and the
// List-Unsubscribe link (RFC 8058). A GET request for a link simulates a click in a
// browser. The links need no token, because they contain the message's random id.
//
// # Deliveries
//
// Each webhook has its own queue. If there is no 2xx response within
// [Config.AttemptTimeout], the server retries the delivery according to
// [Config.RetrySchedule], with the same bytes and signature. The webhook's rate
// limit is a sliding window that counts attempts. The queue of an archived
// webhook is paused. By default, the server delivers only to loopback addresses
// and to handlers in [Config.Targets]; see [Config.AllowTargets].
//
// # Time
//
// [Server.Wait] waits until all due work is done, and [Server.Drain] also for
// retries and rate limits. [Server.Advance] advances the virtual clock, so hours
// of retries take milliseconds. In a testing/synctest bubble, a server that is
// created by [New] and used through [Server.Transport] uses the bubble's clock.
// Create, use and close such a server in the same bubble.
//
// # Fault injection
//
// [Server.Inject] adds a fault rule, which can reject a request or delivery
// before it is processed, or discard its response afterwards. The same
// [Server.FaultSeed], rules and order of requests produce the same faults.
//
// # State
//
// [Server.Seed] adds records from JSON. [Server.Reset] restores the baseline,
// which [Server.SetBaseline] sets. [Server.Snapshot] writes the whole state as
// JSON, and [Server.Restore] restores it.
//
// # Control API
//
// Tests in other languages can control the server over HTTP, with the routes
// under /_mock/. docs/control-api.md describes the routes and their access
// control.
//
// # Concurrency
//
// All methods are safe for concurrent use and return copies. A server that does
// not listen runs goroutines only while it processes requests or other work.
package mockserver
