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

// opLookup is the only operation with a rate limit.
const opLookup = "getEmail"

// ObserveCall is a function for [client.Config.Observe]. It records a span for each
// call, with an event for each retry. ObserveCall also records the metrics for
// calls.
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
			t.count(ctx, o, operation)
			span.SetAttributes(result(o)...)
			span.SetAttributes(attribute.Int("emailplatform.attempts", o.Attempts), callOutcome(o))
			if call.Op == opLookup {
				span.SetAttributes(attribute.Float64("emailplatform.lookup.queued", o.Queued.Seconds()))
			}
			if o.Err != nil {
				span.SetStatus(codes.Error, errorType(o.Err)) // not the text, which may contain an address
			}
		},
	}
}

// result returns the attributes of the last response.
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

func (t *Telemetry) count(ctx context.Context, o client.Observation, operation attribute.KeyValue) {
	set := []attribute.KeyValue{operation, callOutcome(o)}
	if o.Err != nil {
		set = append(set, semconv.ErrorTypeKey.String(errorType(o.Err)))
	}
	attributes := metric.WithAttributes(set...)
	t.calls.Record(ctx, o.Duration.Seconds(), attributes)
	t.requests.Add(ctx, int64(o.Attempts), attributes)
	if o.Op == opLookup {
		t.queued.Record(ctx, o.Queued.Seconds())
	}
}

func callOutcome(o client.Observation) attribute.KeyValue {
	return attribute.String("emailplatform.outcome", string(o.Outcome()))
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

// other is the value for unknown names, as the semantic conventions require.
const other = "_OTHER"
