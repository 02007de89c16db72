package webhook

import (
	"context"
	"log/slog"
	"time"
)

// Options configures [NewHandler] and [Middleware]. The zero value is a good
// default.
type Options struct {
	// SignatureHeader is the name of the header with the signature. Letter case
	// is ignored. The default is DefaultSignatureHeader.
	SignatureHeader string

	// MaxBodyBytes is the maximum size of a request body. 0 or a negative value means
	// 1 MiB (1 << 20).
	MaxBodyBytes int64

	// MaxAge is the maximum age of events. The handler rejects older events, unless they
	// have already been handled. It accepts events without a readable time. By default
	// there is no limit; see "Maximum age" in the package documentation.
	MaxAge time.Duration

	// Once deduplicates events. The default is a new MemoryOnce. If several processes
	// receive the deliveries of a webhook, they need a shared store. A faulty store may
	// report an event as handled (Do returns true and nil) although no call to your
	// function succeeded. In that case, the response is 500, so the platform retries the
	// delivery.
	Once Once

	// KeyPrefix is the prefix of all deduplication keys. If different handlers share a
	// store, each handler needs its own prefix. With the same prefix, only one
	// of the handlers would process each event.
	KeyPrefix string

	// Key returns the deduplication key for a delivery. If Key is nil or returns "", the
	// handler uses the default key, which the field d.Key contains.
	//
	// The default key is the id of the event. Some events have no usable id, because the
	// id is missing, contains U+FFFD (the replacement for invalid UTF-8), or has no
	// characters other than zeros, hyphens and spaces. Their default key is "sha256:"
	// followed by the body's SHA-256 in hex, so two of these events count as one if their
	// bodies are identical.
	Key func(d Delivery) string

	// Timeout limits the duration of the function and of Once. Their context expires after
	// Timeout, and if the delivery fails for this reason, the response is 500. Set Timeout
	// if the server does not cancel the context of a request when the client disconnects,
	// as with Fiber. 0 or a negative value means no limit.
	Timeout time.Duration

	// Logger receives one record for each delivery, at one of three levels:
	//
	//   - warn for a rejected delivery, and for a field with an unexpected type (see
	//     [events.Event.Mismatch])
	//   - error for a failure of the function or the store
	//   - debug for all other deliveries.
	//
	// Records never contain a body, a signature or a secret. The default is slog.Default;
	// slog.New(slog.DiscardHandler) disables logging.
	Logger *slog.Logger

	// Observe, if not nil, is called with the outcome of each request before the response
	// is sent. It can record metrics or report panics, and must be safe for concurrent
	// use.
	Observe func(ctx context.Context, o Outcome)
}
