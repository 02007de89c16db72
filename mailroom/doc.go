// Package mailroom sends emails at most once, and reports what happens to them to one
// function of the application. Applications otherwise write the necessary parts around
// packages client and webhook themselves: an outbox, a queue of lookups, the resolution
// of unknown outcomes, a suppression list, the webhook with its secrets, and a shutdown
// that waits.
//
// The state of a [Room] is in a [Store]. Package contrib/sqlstore implements Store for
// PostgreSQL and SQLite with database/sql, and several processes can share it. It is meant
// for up to 10 emails per second (measured in docs/performance.md). To distribute more emails
// to several machines, module contrib/riverjobs runs a Room with the
// job queue River. [MemoryStore] is for tests and for the following example, a complete shop:
//
//	package main
//
//	import (
//		"context"
//		"log"
//		"net/http"
//		"os"
//		"time"
//
//		"example.com/emailplatform/client"
//		"example.com/emailplatform/mailroom"
//	)
//
//	func main() {
//		c, err := client.New(client.Config{BaseURL: os.Getenv("EMAILPLATFORM_BASE_URL"), Token: os.Getenv("EMAILPLATFORM_TOKEN")})
//		if err != nil {
//			log.Fatal(err)
//		}
//		room, err := mailroom.New(c, mailroom.NewMemoryStore(), mailroom.Options{
//			URL:  os.Getenv("PUBLIC_URL") + "/hook",
//			List: "Orders",
//			OnNotice: func(_ context.Context, n mailroom.Notice) error {
//				log.Printf("order %q to %q: %s %q", n.Key, n.Address, n.Reason, n.Detail)
//				return nil
//			},
//		})
//		if err != nil {
//			log.Fatal(err)
//		}
//		room.Start()
//		defer room.Close()
//		http.Handle("/hook", room)
//		http.HandleFunc("POST /orders/{id}", func(w http.ResponseWriter, r *http.Request) {
//			email := client.EmailSubmission{
//				To:     r.FormValue("email"),
//				Sender: client.Sender{Name: "Shop", Email: "shop@example.com"},
//				Content: client.EmailContent{
//					Type: client.EmailTypeTransactional, Subject: "Your order " + r.PathValue("id"), Text: "Thank you!",
//				},
//			}
//			if err := room.Enqueue(r.Context(), r.PathValue("id"), email); err != nil {
//				http.Error(w, "order not accepted", http.StatusInternalServerError)
//			}
//		})
//		server := http.Server{Addr: ":8080", ReadTimeout: 10 * time.Second, WriteTimeout: time.Minute}
//		log.Print(server.ListenAndServe())
//	}
//
// # Sending
//
// [Room.Enqueue] adds an email with a key to the outbox, in the application's transaction
// if the context carries one. The Room sends the email of a key at most once. If a
// request fails, the next step depends on what the platform did:
//
//   - If the platform certainly did not process the request, the Room sends the email
//     again later, for at most [Options].RetryFor.
//   - If the platform may have processed the request, the outcome is unknown, and the
//     Room does not send the email again. The Room then waits for an event, or looks up
//     an email with the same address and subject, to learn the outcome.
//   - If the outcome stays unknown, [Room.Unknown] returns the email, and an operator
//     decides with [Room.Resolve].
//
// [Room.Send] sends an email immediately, without a key and without an outbox.
//
// While the platform fails, each request could leave another email with an unknown
// outcome. Therefore, after a failed request, no process sends emails of the outbox for
// [Options].Pause, which doubles with each further failure. After the pause, and after 30 s without a success,
// one request is sent alone. If it succeeds, all workers continue. So each pause of an
// outage causes at most one unknown outcome, and the start of the outage one for each
// request in progress.
//
// # Notices
//
// [Options].OnNotice receives the outcome of each email in the outbox, and bounces,
// complaints and unsubscriptions. The Room stores an event in the transaction that
// records the event as handled. If the event does not contain the address, the key or the
// kind of bounce, the Room looks them up, with at most one lookup per second. If the
// platform does not provide them within 4 hours, the notice does not contain them.
//
// OnNotice runs in the transaction that deletes the notice. Therefore its writes in this
// transaction happen exactly once, and other effects at least once.
//
// The outcome of a key precedes all other notices with this key. Other notices have no
// order.
//
// # Start and shutdown
//
// A program can start while the platform is down: [New] sends no request, and
// [Room.Start] returns immediately. The Room connects in the background, and creates the
// list and the webhook unless they exist. Until then, it sends nothing. Until the webhook
// exists, it responds to deliveries with 503, so the platform retries them.
//
// [Room.Close] waits for the requests in progress. If a process ends without Close, the
// outcomes of these requests are unknown.
//
// If a release has another [Options].URL or other [Options].Events, its processes create
// their own webhook beside the old one. After a rollback, the processes of the earlier
// release therefore use the old webhook again. The Room archives a webhook that no
// process has used for 8 hours. In the meantime both webhooks deliver, and the Room
// deduplicates. If the URL changed, pass deliveries to the old URL to the Room for 8
// hours, too.
package mailroom
