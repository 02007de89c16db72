// Package mailroom is an outbox that sends emails at most once. It passes their outcomes, and later
// bounces, complaints and unsubscriptions, to one function of the application.
//
// A [Room] has two parts. The first part is the outbox: [Room.Enqueue] stores an email, in the
// application's transaction if there is one, and the Room sends the email in the background. The
// second part is the receiver of the platform's webhook, [Room.ServeHTTP], which handles the events.
//
// A Room keeps its state in a [Store], which several processes can share. Package contrib/sqlstore
// implements Store for PostgreSQL and SQLite with database/sql. Module contrib/riverjobs implements Store
// with River, a job queue in PostgreSQL. All processes that share a store must run the same application,
// because each of them sends the emails of the others and gets their notices. Therefore, another application
// needs its own database.
//
// This code starts a Room and sends an email:
//
//	room, err := mailroom.New(c, store, mailroom.Options{
//		URL:  "https://shop.example.com/hook",
//		List: "Orders",
//		OnNotice: func(_ context.Context, n mailroom.Notice) error {
//			log.Printf("order %q to %q: %s %q", n.Key, n.Address, n.Reason, n.Detail)
//			return nil
//		},
//	})
//	if err != nil {
//		return err
//	}
//	room.Start()
//	defer room.Close()
//	http.Handle("/hook", room)
//	if err := room.Enqueue(ctx, "order-17", submission); err != nil {
//		return err
//	}
//	server := http.Server{Addr: ":8080", ReadTimeout: 10 * time.Second, WriteTimeout: time.Minute}
//	return server.ListenAndServe()
//
// examples/integrations/shop is a complete program.
//
// # Sending
//
// If the request to the platform fails, the next step depends on what the platform did:
//
//   - If the platform rejected the email, the outcome is [Rejected] or [Failed], and the Room does
//     not send the email again, unless you enqueue its key again. The Room keeps no list of these
//     emails (dead letters), so store the notices that you want to repeat.
//   - If the platform certainly did not send the email for another reason, the Room sends it again
//     later, for at most [Options].RetryFor.
//   - If the platform may have processed the request, the outcome is unknown, and the Room does not
//     send the email again. To learn the outcome, the Room waits for an event of the email. If the
//     Room does not know the id in the event, it looks up the email and compares its address and
//     subject.
//   - If the outcome stays unknown, [Room.Unknown] returns the email, and an operator decides with
//     [Room.Resolve].
//
// While the platform fails, each request could leave another email with an unknown outcome. Therefore, after
// a failed request, all processes stop sending emails of the outbox for [Options].Pause, or for the time in
// a Retry-After header. A failure that concerns only one email, such as a 403, 404 or 409, causes no pause.
//
// After the pause, one worker sends one email as a test, and the other workers wait. If this request
// succeeds, all workers continue. If its failure concerns only this email, a worker sends the next test
// immediately. Otherwise, the next pause begins.
//
// So the number of unknown outcomes stays small. At the start of an outage, each request in progress can
// have an unknown outcome, because the Rooms stop only after the first failure. Later, each pause adds at
// most one unknown outcome.
//
// If no request has succeeded for 30 s, for example because the outbox was empty, an outage may have
// begun in the meantime. Therefore, one worker first sends one email as a test, and the other workers
// wait, as after a pause.
//
// # Notices
//
// A notice reports an outcome or an event, for example a bounce, to the application. When the Room handles
// an event, it stores the notice in the transaction that records the event as handled, so no notice is lost.
// Later, the Room calls [Options].OnNotice in the transaction that deletes the notice. Therefore, writes of
// OnNotice in this transaction happen exactly once.
//
// If the event does not contain the address, the key or the kind of bounce, the Room looks up the email
// before it reports the notice, with at most one lookup per second. If lookups fail, for example in an
// outage, the notice waits. However, the Room gives up after 4 hours if the platform still rejects the
// token, still does not know the email, or still returns the email without these values. The Room then
// reports the notice without these values.
//
// The outcome of a key precedes all other notices with this key. Apart from this, notices have no
// order.
//
// # Clocks
//
// The processes compare the times in the store with their own clocks. A wrong clock causes no
// duplicate email, but it delays work, and an outcome may be unknown for a short time. A difference
// of more than a minute has two further consequences:
//
//   - A process ignores a pause that begins in the future. If the clock of a process is slow, the
//     pauses of other processes seem to begin in the future. In an outage, this process therefore
//     continues to send, and more outcomes are unknown.
//   - To resolve an unknown outcome, the Room also compares the time of the request with the time at
//     which the platform received an email. If the clocks of the process and the platform differ, no
//     email matches, so an operator must resolve the outcome.
//
// # Start and shutdown
//
// A program can start while the platform is down. The Room connects in the background, and creates the list
// and the webhook if they do not exist. Until the Room has connected, it sends no email, and responds to
// deliveries with 503, so the platform retries them.
//
// Before a process ends, call [Room.Close]. Otherwise, the outcomes of its requests in progress are unknown.
//
// If a new release of your program changes [Options].URL or [Options].Events, its processes create
// their own webhook and keep the old one. So after a rollback, the processes of the earlier release
// can use the old webhook again. While both webhooks exist, the platform delivers each event for
// both, and the Room deduplicates the events.
//
// The Room archives the old webhook when no process has used the webhook for 8 hours. These 8
// hours count only while at least one process runs. If no process runs, the deliveries for the
// old webhook fail, so the webhook must remain until the platform has retried them. If the URL
// changed, the application must pass requests for the old URL to the Room too, until the Room
// has archived the old webhook.
package mailroom
