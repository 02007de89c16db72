// Package webhook receives what the platform delivers to a webhook: each event
// verified, decoded and handled once.
//
// [NewHandler] makes an [http.Handler] of a function that gets events, for any
// router. [Middleware] is for those who keep their own handler, [Verifier] for
// those who do not serve net/http.
//
// # Verification
//
// Every delivery carries the HMAC of its raw body in the header
// X-Service-Signature, in base64, keyed with the webhook's secret
// (specification, "Authentication"). The receiver verifies the bytes as they
// came, before it looks at what they mean. The hash function is sha256 or
// sha512, by our own configuration: a request cannot choose it. During a
// rotation of secrets, and when several webhooks deliver to one URL, give
// [NewVerifier] all the secrets. A [Secret] prints and logs without its key,
// with one exception, which is fmt's: it calls no methods on what it finds in
// unexported fields. Give a type that holds a Secret in such a field a Format
// or String method of its own.
//
// # Answers
//
// The platform takes any 2xx for success, and delivers again after anything
// else, for more than 7 hours. The specification is silent about it ("Not
// shown: delivery retries"), so that the receiver relies on none of it.
//
//	204  the function returned nil, now or for an earlier delivery of the same event
//	400  signed, but not an event; a body that breaks off; an event older than Options.MaxAge
//	401  the signature is missing, there more than once, or wrong
//	405  not a POST
//	413  the body is over Options.MaxBodyBytes, 1 MiB by default
//	500  the function failed or panicked, or the store of handled events did
//	503  the same event is being handled at this moment, or the sender hung up before the function was called;
//	     with Retry-After
//
// An event is whatever names one: what else does not fit in its envelope or its
// data costs no event, and the function finds it by [events.Event.Mismatch] and
// [events.Unknown].
//
// What went wrong inside is told to the log and to [Options].Observe, never to
// the sender. A function that panics with [http.ErrAbortHandler] gets what it
// asks for: the connection is cut without an answer, and the event comes again.
// Content type and transfer encoding do not matter.
//
// # Exactly once
//
// The signature covers the body alone, and no time: an old delivery, sent again
// by anyone who has seen it, verifies for ever. What tells it from a new one is
// the event's id, and a [Once] that remembers which were handled. Where there
// is no id, which is so in the general envelope, the SHA-256 of the body
// serves: two real events that are equal byte for byte then count as one.
//
// The function is called for one delivery of an event at a time, and again
// until it succeeds; after that, never. The default store, a [MemoryOnce],
// knows this within one process and for 7 days. Across processes and restarts
// it takes a store that they share, such as a database; the package webhooktest
// proves that one keeps the rules. Even so, a process that dies between the
// function's last effect and the store's record leaves an event that was
// handled and will be handled again, unless the store commits both in one
// transaction: see [Once].
//
// A function that answers late is cut off: the platform waits 10 seconds. Then
// its context is done, and the next attempt is answered with 503 until the
// function has returned. Work that takes longer belongs into a queue.
//
// # Age
//
// [Options].MaxAge refuses events that happened long ago. It is off by default,
// as a delivery that is hours late is legitimate: the platform tries again for
// hours, holds deliveries back at the webhook's rate limit, and keeps those of
// an archived webhook until it is unarchived. Once protects from replays
// without losing them. With it, an event without a time, or with one that
// cannot be read, is too old.
//
// # Limits
//
// A body is read up to its limit and no further; memory for it is set aside as
// it arrives. How long a request may take to arrive is for the server to say:
// set ReadTimeout of [http.Server].
//
// # Concurrency
//
// Everything here is safe for concurrent use and immutable after construction.
// Nothing runs in the background.
package webhook
