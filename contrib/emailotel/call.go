package emailotel

import (
	"context"
	"errors"
	"strconv"

	"go.opentelemetry.io/otel/attribute"
	"go.opentelemetry.io/otel/codes"
	"go.opentelemetry.io/otel/metric"
	semconv "go.opentelemetry.io/otel/semconv/v1.43.0"
	"go.opentelemetry.io/otel/trace"

	"example.com/emailplatform/client"
)

// ObserveCall records a span for each call, with an event for each retry.
// ObserveCall also records the metrics for calls. Assign ObserveCall to
// [client.Config.Observe].
func (t *Telemetry) ObserveCall(ctx context.Context, call client.Call) (context.Context, client.Observer) {
	operation := attribute.String("emailplatform.operation", call.Op)
	// The span has the default kind, internal, because otelhttp creates the
	// client spans.
	ctx, span := t.tracer.Start(ctx, "emailplatform "+call.Op, trace.WithAttributes(operation))
	return ctx, client.Observer{
		Retry: func(o client.Observation) {
			span.AddEvent("emailplatform.retry", trace.WithAttributes(append(result(o),
				attribute.Int("emailplatform.attempts", o.Attempts),
				attribute.Float64("emailplatform.delay", o.Pause.Seconds()))...))
		},
		End: func(o client.Observation) {
			defer span.End()
			outcome := attribute.String("emailplatform.outcome", string(o.Outcome()))
			series := []attribute.KeyValue{operation, outcome}
			span.SetAttributes(append(result(o), outcome, attribute.Int("emailplatform.attempts", o.Attempts))...)
			if o.Err != nil {
				series = append(series, semconv.ErrorTypeKey.String(errorType(o.Err)))
				span.SetStatus(codes.Error, errorType(o.Err)) // not the text, which may contain an address
			}
			t.calls.Record(ctx, o.Duration.Seconds(), metric.WithAttributes(series...))
			t.requests.Add(ctx, int64(o.Attempts), metric.WithAttributes(series...))
			if call.Op == "getEmail" { // the only operation with a rate limit
				span.SetAttributes(attribute.Float64("emailplatform.lookup.queued", o.Queued.Seconds()))
				t.queued.Record(ctx, o.Queued.Seconds())
			}
		},
	}
}

func result(o client.Observation) (set []attribute.KeyValue) {
	if o.StatusCode != 0 {
		set = append(set, semconv.HTTPResponseStatusCode(o.StatusCode))
	}
	if o.RequestID != "" {
		set = append(set, attribute.String("emailplatform.request_id", o.RequestID))
	}
	if o.Err != nil {
		set = append(set, semconv.ErrorTypeKey.String(errorType(o.Err)))
	}
	return set
}

// errorType returns one of a few values, never the text of the error.
func errorType(err error) string {
	var e *client.Error
	switch {
	case errors.Is(err, context.Canceled):
		return "canceled"
	case errors.Is(err, context.DeadlineExceeded):
		return "timeout"
	case errors.Is(err, client.ErrNotQueued):
		return string(client.OutcomeNotQueued)
	case errors.As(err, &e) && e.StatusCode != 0:
		return strconv.Itoa(e.StatusCode)
	}
	return other
}
