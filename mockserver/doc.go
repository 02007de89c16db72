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
// The server implements every operation of the API, and validates every request against the
// OpenAPI document. It stores contacts, messages and webhooks, and delivers signed events.
// Your test can check what the application did: [Server.Outbox] returns the messages,
// [Server.Deliveries] the deliveries of events, and [Server.Requests] the requests. To run
// the server as a separate process, use command mockserver.
//
// In this documentation, "Specification" refers to the file docs/specification.md in
// the repository. If the specification does not define a behavior,
// docs/decisions.md applies.
//
// # Accounts
//
// Every request needs an access token, which [Config.Tokens] or [Server.Seed] defines.
// [Server.Token] returns the first token. A token belongs to a user and an account, and
// gives access only to this account, so the response to a request with an id from another
// account is 404. Ids are unique even across accounts and kinds of resources.
//
// # Messages
//
// The server sends no real email, but puts each message into the outbox before it
// responds to the submission. Your test then plays the recipient: [Server.Bounce],
// [Server.Complain], [Server.Open], [Server.Click], [Server.Unsubscribe],
// [Server.GlobalUnsubscribe] and [Server.Confirm] simulate recipient actions. Recipients
// in the domain [TestDomain] react to messages automatically.
//
// Recipients can also follow links: the confirmation link, the links of the merge tags
// {{unsubscribe_url}} and {{global_unsubscribe_url}}, and the List-Unsubscribe link (RFC
// 8058). The server serves these links under /_mail/. A GET request for a link simulates a
// click in a browser. The request needs no token, because each link contains the message's
// random id.
//
// # Deliveries
//
// The server delivers events to webhooks by these rules:
//
//   - By default, the server delivers only to loopback addresses and to handlers in
//     [Config.Targets]; see [Config.AllowTargets].
//   - Each webhook has its own queue, which is paused while the webhook is archived.
//   - If there is no 2xx response within [Config.AttemptTimeout], the server retries the
//     delivery according to [Config.RetrySchedule], with the same bytes and signature.
//   - The webhook's rate limit is a sliding window. It counts attempts, so retries count too.
//
// # Time
//
// The server works in the background, so wait before you check a result: [Server.Wait]
// waits until all due work is done. Retries can take hours, so the server has a virtual
// clock. [Server.Advance] advances the clock, and runs the retries and other work that
// become due. [Server.Drain] waits for this work in real time instead.
//
// In a testing/synctest bubble, the server uses the bubble's clock if you create it with
// [New] and send requests through [Server.Transport]. Create, use and close such a server
// in one bubble.
//
// # Fault injection
//
// [Server.Inject] adds a fault rule, which can reject a request or delivery before it is
// processed, or discard the response afterwards. Faults can also be random. To repeat them,
// use the same [Server.FaultSeed], rules and order of requests.
//
// # State
//
// [Server.Seed] adds records from JSON. To return to these records after each test, call
// [Server.SetBaseline] after the seed, and [Server.Reset] after each test.
// [Server.Snapshot] writes the whole state as JSON, and [Server.Restore] restores it.
//
// # Control API
//
// Tests in other languages can control the server over HTTP, with the routes
// under /_mock/. docs/control-api.md describes the routes and their access
// control.
//
// # Concurrency
//
// All methods are safe for concurrent use and return copies. A server that does not listen
// runs goroutines only while it has work.
package mockserver
