package webhook

import (
	"bytes"
	"io"
	"log/slog"
	"net/http"
	"time"
)

// Middleware verifies deliveries for your own handler. It rejects the same requests as
// [NewHandler], and does not call your handler for these. In Gin, you need additional code
// to prevent the call, because Gin calls the next handler itself; see docs/how-do-i.md.
//
// Your handler gets the [Delivery] with [FromContext], and can read the body again. It must
// respond, and must deduplicate with a [Once] and Delivery.Key.
//
// If your handler panics, the panic continues, so net/http closes the connection without a
// response. If a framework recovers from the panic, and your handler had not responded, the
// response is 500.
//
// [Options].Observe and [Options].Logger receive the rejected requests. Logger also
// receives deliveries with fields of an unexpected type. Middleware panics if
// [Options].Once is set or v is nil. The returned function panics if your handler is nil.
func Middleware(v *Verifier, opts Options) func(http.Handler) http.Handler {
	if opts.Once != nil {
		panic("webhook: Middleware does not support Options.Once")
	}
	rc := newReceiver(v, opts)
	return func(next http.Handler) http.Handler {
		if next == nil {
			panic("webhook: Middleware needs a handler")
		}
		return http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
			orFail(w, func() { rc.pass(w, r, next) })
		})
	}
}

// pass calls next if the delivery is valid.
func (rc *receiver) pass(w http.ResponseWriter, r *http.Request, next http.Handler) {
	start := time.Now()
	d, err := rc.receive(w, r)
	if err == nil {
		err = rc.fresh(d.Event)
	}
	if err != nil {
		o := Outcome{Status: status(false, err), Err: err, Duration: time.Since(start)}
		rc.report(r, o)
		respond(w, o)
		return
	}
	if d.Event.Mismatch() != nil {
		rc.log(r, slog.LevelWarn, "webhook: delivery", describe(d.Event)...)
	}
	ctx, cancel := rc.context(r, d)
	defer cancel()
	r = r.WithContext(ctx)
	r.Body = io.NopCloser(bytes.NewReader(d.Body))
	next.ServeHTTP(w, r)
}
