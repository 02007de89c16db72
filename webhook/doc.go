// Package webhook receives webhook deliveries. It verifies signatures, decodes
// events, and detects duplicates.
//
//	secret, err := webhook.ParseSecret(os.Getenv("WEBHOOK_SECRET"), "sha256")
//	if err != nil {
//		return err
//	}
//	verifier, err := webhook.NewVerifier(secret)
//	if err != nil {
//		return err
//	}
//	http.Handle("/hook", webhook.NewHandler(verifier, func(ctx context.Context, event *events.Event) error {
//		switch data := event.Data.(type) {
//		case *events.CampaignBounce:
//			log.Printf("%q bounced: %q", data.Contact.Email, data.Bounce.Category)
//		case *events.Unknown:
//			return data.Err // nil for an unknown event
//		}
//		return nil // after an error, the platform retries the delivery
//	}, webhook.Options{}))
//	server := http.Server{Addr: "127.0.0.1:8080", ReadTimeout: 10 * time.Second, WriteTimeout: time.Minute}
//	return server.ListenAndServe()
//
// [NewHandler] returns an [http.Handler] for any router, and calls your function for each event. If
// you have your own handler, wrap it with [Middleware]. Outside of net/http, use a [Verifier].
//
// # Signature verification
//
// Every delivery has the header X-Service-Signature with the base64-encoded HMAC of its body, keyed
// with the secret of the webhook (specification, "Authentication"). The handler verifies the exact
// bytes before it parses them. The hash function (SHA-256 or SHA-512; see [ParseSecret]) is part of
// the [Secret], so a request cannot choose it.
//
// Each webhook has its own secret. If several webhooks use one URL, pass all secrets to
// [NewVerifier]. If secrets change while the program runs, use [NewVerifierFunc].
//
// # Responses
//
// If the response is not 2xx, the platform retries the delivery for more than 7 hours. The handler
// responds with these statuses:
//
//	204  the function returned nil, for this or an earlier delivery of the event
//	400  the body is truncated, or signed but not an event, or the event is older than Options.MaxAge
//	401  the signature is missing, duplicated or invalid
//	405  the method is not POST
//	413  the body exceeds Options.MaxBodyBytes, 1 MiB by default
//	500  the function or the deduplication store failed or panicked
//	503  another delivery of the event is being handled
//	503  the client disconnected before the function was called
//	503  there are no secrets yet (see SourceOptions.Lazy)
//	503  the signature is invalid, because another handler has read or changed the body, or because the
//	     body is compressed or in base64
//
// A response with the status 503 has the header Retry-After.
//
// A signed body that contains an event name is an event, even if other fields have unexpected
// types. Your function can detect this with [events.Event.Mismatch] and [events.Unknown].
//
// The handler reports failures to the log and to [Options].Observe, never to the sender. If your function
// panics with [http.ErrAbortHandler], net/http closes the connection without a response. However, if a
// framework recovers from this panic, the response is 500.
//
// # Duplicate deliveries
//
// The platform delivers each event at least once. In addition, anyone who recorded a delivery can repeat
// it, because the signature does not include a timestamp. Therefore the handler deduplicates with a [Once],
// a store of the ids of handled events.
//
// Events in the general envelope (see package events) have no id. The handler identifies such an event by
// the SHA-256 of its body, so two of these events with identical bodies count as one.
//
// The handler calls your function for each delivery of an event until a call succeeds, and skips later
// duplicates. It never calls the function concurrently for the same event.
//
// The default store, [MemoryOnce], works within one process. To share handled events between processes,
// or to keep them after a restart, use an external store, such as a database. If a process crashes after
// a call to the function and before the store has recorded the event, the event is handled again. This
// cannot happen with a store that records the event in the database transaction of the function.
//
// The function has 10 seconds to return. Use a queue for work that takes longer. After 10 seconds, the
// platform closes the connection, and retries the delivery later. If the retry arrives while the function
// still runs, the response to the retry is 503.
//
// Most servers cancel the context of the function when the connection is closed. For other servers, set
// [Options].Timeout.
//
// # Maximum age
//
// [Options].MaxAge rejects old events. By default, there is no limit, because a legitimate delivery
// can be hours late. For example, the platform retries it, delays it to keep the webhook's rate
// limit, or keeps it while the webhook is archived. A deduplication store protects against replays
// without rejecting such deliveries.
//
// The limit does not apply to an event without a readable time. If the handler rejected such an
// event, the platform would retry the delivery without success until the event is lost.
//
// # Limits
//
// The handler stops reading a body at [Options].MaxBodyBytes, and allocates memory only as the body
// arrives. To limit the time for reading a request, set [http.Server.ReadTimeout].
//
// # Concurrency
//
// A [Verifier], a [MemoryOnce], and the handlers from [NewHandler] and [Middleware] are
// safe for concurrent use. The package starts a goroutine only for each call to the
// function that you pass to [NewVerifierFunc].
package webhook
