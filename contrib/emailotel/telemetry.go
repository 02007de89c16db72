package emailotel

import (
	"context"
	"errors"
	"strconv"

	"go.opentelemetry.io/otel"
	"go.opentelemetry.io/otel/attribute"
	"go.opentelemetry.io/otel/codes"
	"go.opentelemetry.io/otel/metric"
	semconv "go.opentelemetry.io/otel/semconv/v1.43.0"
	"go.opentelemetry.io/otel/trace"

	"example.com/emailplatform/client"
)

const scope = "example.com/emailplatform/contrib/emailotel"

// Options configures [New]. The zero value uses the global providers.
type Options struct {
	// TracerProvider creates spans. The default is otel.GetTracerProvider().
	TracerProvider trace.TracerProvider
	// MeterProvider creates instruments. The default is otel.GetMeterProvider().
	MeterProvider metric.MeterProvider
}

// Telemetry records spans and metrics. It is safe for concurrent use.
type Telemetry struct {
	tracer     trace.Tracer
	calls      metric.Float64Histogram
	queued     metric.Float64Histogram
	requests   metric.Int64Counter
	deliveries metric.Float64Histogram
	processed  metric.Float64Histogram
	notices    metric.Float64Histogram
	meter      metric.Meter
}

// New creates a Telemetry and its instruments. New returns an error only if the
// meter provider rejects an instrument.
func New(o Options) (*Telemetry, error) {
	if o.TracerProvider == nil {
		o.TracerProvider = otel.GetTracerProvider()
	}
	if o.MeterProvider == nil {
		o.MeterProvider = otel.GetMeterProvider()
	}
	t := &Telemetry{tracer: o.TracerProvider.Tracer(scope, trace.WithSchemaURL(semconv.SchemaURL))}
	m := o.MeterProvider.Meter(scope, metric.WithSchemaURL(semconv.SchemaURL))
	var errs []error
	seconds := func(name, what string) metric.Float64Histogram {
		h, err := m.Float64Histogram(name, metric.WithUnit("s"), metric.WithDescription(what),
			metric.WithExplicitBucketBoundaries(0.005, 0.01, 0.025, 0.05, 0.1, 0.25, 0.5, 1, 2.5, 5, 10, 30, 60))
		errs = append(errs, err)
		return h
	}
	t.calls = seconds("emailplatform.client.call.duration", "Duration of calls, including retries and delays.")
	t.queued = seconds("emailplatform.client.lookup.queue.duration", "Time that lookups waited for the rate limiter.")
	t.deliveries = seconds("emailplatform.webhook.delivery.duration", "Duration of deliveries, by outcome.")
	t.processed = seconds("messaging.process.duration", "Duration of handler calls.") // a name from the conventions
	t.notices = seconds("emailplatform.mailroom.notice.duration", "Duration of calls to OnNotice, by reason.")
	t.meter = m
	requests, err := m.Int64Counter("emailplatform.client.requests", metric.WithUnit("{request}"),
		metric.WithDescription("Number of requests, including retries."))
	t.requests = requests
	return t, errors.Join(append(errs, err)...)
}

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

// The semantic conventions require the value "_OTHER" for unknown names.
const other = "_OTHER"
