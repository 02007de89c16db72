package emailotel

import (
	"context"
	"errors"
	"net/http"
	"slices"
	"time"

	"go.opentelemetry.io/otel/attribute"
	"go.opentelemetry.io/otel/codes"
	"go.opentelemetry.io/otel/metric"
	semconv "go.opentelemetry.io/otel/semconv/v1.43.0"
	"go.opentelemetry.io/otel/trace"

	"example.com/emailplatform/events"
	"example.com/emailplatform/webhook"
)

// Wrap wraps the function fn for [webhook.NewHandler]. For each call to fn, Wrap
// records a consumer span and the call's duration. The parent of the consumer span
// is the request's span. Wrap panics if fn is nil.
func (t *Telemetry) Wrap(fn func(context.Context, *events.Event) error) func(context.Context, *events.Event) error {
	if fn == nil {
		panic("emailotel: Wrap needs a function")
	}
	return func(ctx context.Context, e *events.Event) error { return t.process(ctx, e, fn) }
}

// HandleAsync is the form of [Telemetry.Wrap] for a worker that reads events from a queue.
// The span of the worker begins a new trace, which has a link to the span of the webhook
// request. For this link, the webhook handler stores its span context,
// trace.SpanContextFromContext(ctx), in the queue together with the event. The worker then
// passes this span context as the argument receipt. HandleAsync panics if fn is nil.
func (t *Telemetry) HandleAsync(
	receipt trace.SpanContext, fn func(context.Context, *events.Event) error,
) func(context.Context, *events.Event) error {
	if fn == nil {
		panic("emailotel: HandleAsync needs a function")
	}
	return func(ctx context.Context, e *events.Event) error {
		return t.process(ctx, e, fn, trace.WithNewRoot(), trace.WithLinks(trace.Link{SpanContext: receipt}))
	}
}

func (t *Telemetry) process(
	ctx context.Context, e *events.Event, fn func(context.Context, *events.Event) error, opts ...trace.SpanStartOption,
) (err error) {
	name := eventName(e.Name)
	set := []attribute.KeyValue{
		semconv.MessagingSystemKey.String("emailplatform"),
		semconv.MessagingOperationName("process"),
		semconv.MessagingDestinationName(name),
	}
	opts = append(opts, trace.WithSpanKind(trace.SpanKindConsumer), trace.WithAttributes(set...),
		trace.WithAttributes(semconv.MessagingOperationTypeProcess))
	if e.ID != "" && len(e.ID) <= maxID {
		opts = append(opts, trace.WithAttributes(semconv.MessagingMessageID(e.ID)))
	}
	ctx, span := t.tracer.Start(ctx, "process "+name, opts...)
	start := time.Now()
	failure := "panic" // unless fn returns
	defer func() {
		if failure != "" {
			set = append(set, semconv.ErrorTypeKey.String(failure))
			span.SetAttributes(semconv.ErrorTypeKey.String(failure))
			span.SetStatus(codes.Error, failure)
		}
		t.processed.Record(ctx, time.Since(start).Seconds(), metric.WithAttributes(set...))
		span.End()
	}()
	err = fn(ctx, e)
	failure = ""
	if err != nil {
		failure = errorType(err)
	}
	return err
}

// maxID is the maximum length of a recorded id. It is enough for the platform's ids,
// which are UUIDs with 36 characters.
const maxID = 64

// eventName returns _OTHER for unknown names, to limit the number of time
// series.
func eventName(name events.Name) string {
	if slices.Contains(events.Names(), name) {
		return string(name)
	}
	return other
}

// ObserveDelivery records the duration of each delivery by outcome. Assign
// ObserveDelivery to [webhook.Options.Observe]. If otelhttp created a span for the
// request, ObserveDelivery sets the outcome on that span.
func (t *Telemetry) ObserveDelivery(ctx context.Context, o webhook.Outcome) {
	set := []attribute.KeyValue{
		attribute.String("emailplatform.webhook.outcome", outcome(o)), semconv.HTTPResponseStatusCode(o.Status),
	}
	if o.Event != nil {
		set = append(set, attribute.String("emailplatform.event.name", eventName(o.Event.Name)))
	}
	trace.SpanFromContext(ctx).SetAttributes(set...)
	t.deliveries.Record(ctx, o.Duration.Seconds(), metric.WithAttributes(set...))
}

func outcome(o webhook.Outcome) string {
	switch {
	case o.Duplicate:
		return "duplicate"
	case o.Err == nil:
		return "handled"
	case errors.Is(o.Err, webhook.ErrInFlight):
		return "in_flight"
	case errors.Is(o.Err, webhook.ErrInvalidSignature), errors.Is(o.Err, webhook.ErrMissingSignature):
		return "unverified"
	case o.Status >= http.StatusInternalServerError || o.Status == 0:
		return "failed"
	}
	return "rejected"
}
