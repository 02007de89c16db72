package control

import (
	"net/http"
	"strings"

	"example.com/emailplatform/mockserver/internal/gateway"
	"example.com/emailplatform/mockserver/internal/world"
)

// New returns the handler of the control routes of a world.
func New(w *world.World, o Options) http.Handler {
	c := &Control{w, o}
	mux := http.NewServeMux()
	for pattern, answer := range c.answers() {
		mux.HandleFunc(under(pattern), func(w http.ResponseWriter, r *http.Request) {
			out, err := answer(r)
			writeAnswer(w, r, out, err)
		})
	}
	for pattern, serve := range c.pages() {
		mux.HandleFunc(under(pattern), serve)
	}
	mux.HandleFunc(Prefix, func(w http.ResponseWriter, r *http.Request) {
		if o.Console != nil && reads(r) {
			o.Console.ServeHTTP(w, r)
			return
		}
		gateway.AnswerUnrouted(mux, Prefix, w, r)
	})
	return c.guarded(mux)
}

// under puts the prefix before the path of a pattern.
func under(pattern string) string {
	method, path, _ := strings.Cut(pattern, " ")
	return strings.TrimPrefix(method+" "+Prefix+path, "* ")
}

// answers are the routes that answer with JSON; nil is 204.
func (c *Control) answers() map[string]func(*http.Request) (any, error) {
	return map[string]func(*http.Request) (any, error){
		"GET health": health,
		"GET info":   c.info,
		"POST wait":  c.wait,

		"GET clock":          c.showClock,
		"PUT clock":          c.setClock,
		"POST clock/advance": c.advance,

		"GET outbox":                          c.outbox,
		"GET outbox/{id}":                     c.message,
		"POST outbox/{id}/bounce":             asRecipient(c, c.bounce),
		"POST outbox/{id}/complain":           asRecipient(c, c.complain),
		"POST outbox/{id}/open":               asRecipient(c, simply(c.Platform.Open)),
		"POST outbox/{id}/click":              asRecipient(c, c.click),
		"POST outbox/{id}/unsubscribe":        asRecipient(c, simply(c.Platform.Unsubscribe)),
		"POST outbox/{id}/global-unsubscribe": asRecipient(c, simply(c.Platform.GlobalUnsubscribe)),
		"POST outbox/{id}/confirm":            asRecipient(c, simply(c.Platform.Confirm)),

		"GET events":      c.events,
		"GET events/{id}": c.event,
		"POST events":     c.sendEvent,
		"GET samples":     listSamples,
		"POST verify":     verify,

		"GET deliveries":                 c.deliveries,
		"GET deliveries/{id}":            c.delivery,
		"POST deliveries/{id}/redeliver": c.redeliver,

		"GET requests":      c.requests,
		"GET requests/{id}": c.request,

		"GET faults":         c.faults,
		"POST faults":        c.inject,
		"DELETE faults":      c.clearFaults,
		"PATCH faults/{id}":  c.switchFault,
		"DELETE faults/{id}": c.removeFault,
		"PUT faults/seed":    c.seedFaults,
		"PUT lookup-limit":   c.lookupLimit,

		"GET state":    c.snapshot,
		"PUT state":    c.restore,
		"DELETE state": c.reset,
		"POST seed":    c.seed,
	}
}

// pages are the routes that answer with something else.
func (c *Control) pages() map[string]http.HandlerFunc {
	return map[string]http.HandlerFunc{
		"GET stream":                            c.serveStream,
		"GET outbox/{id}/html":                  c.serveMailHTML,
		"GET outbox/{id}/source":                c.serveMailSource,
		"GET deliveries/{id}/body":              c.serveDeliveryBody,
		"* accounts/{account_id}/api/{path...}": c.serveAsAccount,
	}
}

func health(*http.Request) (any, error) { return map[string]string{"status": "ok"}, nil }
