// Package emailotel tells OpenTelemetry what the client and the receiver of
// webhooks do: spans and metrics of calls and of events. Requests and answers on
// the wire are the business of otelhttp, which goes around the transport and
// around the handler.
//
//	telemetry, err := emailotel.New(emailotel.Options{})
//	…
//	c, err := client.New(client.Config{
//		Observe: telemetry.Observe,
//		HTTPClient: &http.Client{Transport: emailotel.Transport(nil, func(rt http.RoundTripper) http.RoundTripper {
//			return otelhttp.NewTransport(rt)
//		})},
//		…
//	})
//	h := otelhttp.NewHandler(webhook.NewHandler(verifier, telemetry.Handle(handle), webhook.Options{
//		Observe: telemetry.Outcome,
//	}), "webhook")
//
// # Spans
//
//	POST (server, otelhttp)              emailplatform.webhook.outcome, emailplatform.event.name
//	  process Email.Opened (consumer)    messaging.*, error.type
//	    emailplatform getEmail           emailplatform.operation, .attempts, .request_id, .lookup.queued,
//	                                     http.response.status_code, error.type; an event for each retry
//	      HTTP GET (client, otelhttp)    one for each attempt
//
// Each page of an iterator and each batch of an import is a span below that of
// the caller's context.
//
// # Metrics
//
//	emailplatform.client.call.duration         s          operation, error.type
//	emailplatform.client.lookup.queue.duration s          how long lookups waited for their turn
//	emailplatform.client.requests              {request}  operation, error.type: retries included
//	emailplatform.webhook.delivery.duration    s          outcome, status, event
//	messaging.process.duration                 s          event, error.type
//
// The outcome of a delivery is handled, duplicate, in_flight, unverified, refused
// or failed. An error.type is an HTTP status, timeout, canceled, panic or _OTHER.
// Events whose name this version does not know are called _OTHER, so that the
// number of series is bounded.
//
// The names follow the semantic conventions 1.43.0, whose messaging part is in
// development: they may change with a minor version of this module.
//
// # No addresses
//
// No attribute holds an address of a recipient, a token or a secret, nor does a
// status: errors are told by their type, never by their text. otelhttp writes the
// URL of each request, and some of the platform's paths hold an address:
// [Transport] keeps it from that.
package emailotel
