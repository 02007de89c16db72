// Package emailotel records OpenTelemetry spans and metrics for client calls and
// webhook events. To record HTTP requests, wrap the client's transport and the webhook
// handler with otelhttp.
//
//	telemetry, err := emailotel.New(emailotel.Options{})
//	…
//	c, err := client.New(client.Config{
//		Observe: telemetry.ObserveCall,
//		HTTPClient: &http.Client{Transport: emailotel.Transport(nil, func(rt http.RoundTripper) http.RoundTripper {
//			return otelhttp.NewTransport(rt)
//		})},
//		…
//	})
//	h := otelhttp.NewHandler(webhook.NewHandler(verifier, telemetry.Wrap(handle), webhook.Options{
//		Observe: telemetry.ObserveDelivery,
//	}), "webhook")
//	room, err := mailroom.New(c, store, mailroom.Options{Observe: telemetry.ObserveNotice})
//	registration, err := telemetry.ObserveQueues(room)
//
// # Spans
//
//	POST (server, otelhttp)              emailplatform.webhook.outcome, emailplatform.event.name
//	  process Email.Opened (consumer)    messaging.*, error.type
//	    emailplatform getEmail           emailplatform.operation, .outcome, .attempts, .request_id,
//	                                     .lookup.queued, http.response.status_code, error.type; an event
//	                                     for each retry
//	      HTTP GET (client, otelhttp)    one for each attempt
//
// To send the trace context (traceparent) to the platform, call
// otel.SetTextMapPropagator(propagation.TraceContext{}), because otherwise otelhttp adds no header.
//
// Each page of an iterator and each batch of an import has a span. The parent
// of each span is the span in the caller's context.
//
// # Metrics
//
//	emailplatform.client.call.duration         s          operation, outcome, error.type
//	emailplatform.client.lookup.queue.duration s          time that lookups waited for the rate limiter
//	emailplatform.client.requests              {request}  operation, outcome, error.type; includes retries
//	emailplatform.webhook.delivery.duration    s          outcome, status, event
//	messaging.process.duration                 s          event, error.type
//	emailplatform.mailroom.notice.duration     s          reason, error.type
//	emailplatform.mailroom.queue.length        {item}     queue: send, lookup, notice, unknown
//	emailplatform.mailroom.queue.age           s          queue; the age of the oldest item
//
// The outcome of a call is success, not_queued (client.ErrNotQueued), unknown
// (client.ErrOutcomeUnknown) or failed. The outcome of a delivery is handled, duplicate,
// in_flight, unverified, rejected or failed.
//
// To limit the number of time series, the attribute error.type has only these values: an HTTP
// status, not_queued, timeout, canceled, panic and _OTHER. For the same reason, an unknown event
// name is recorded as _OTHER.
//
// The names follow version 1.43.0 of the semantic conventions. The messaging
// conventions are in development, so the names of messaging attributes and metrics
// may change in a minor version of this module.
//
// # Privacy
//
// Attributes and statuses do not contain tokens, secrets or recipient addresses. For an error, they contain
// only the type, because the message could contain an address. However, package otelhttp records the URL of
// each request, and some URLs contain an address. To redact these addresses, use [Transport].
package emailotel
