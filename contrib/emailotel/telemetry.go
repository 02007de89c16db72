package emailotel

import (
	"errors"

	"go.opentelemetry.io/otel"
	"go.opentelemetry.io/otel/metric"
	semconv "go.opentelemetry.io/otel/semconv/v1.43.0"
	"go.opentelemetry.io/otel/trace"
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

// The semantic conventions require the value "_OTHER" for unknown names.
const other = "_OTHER"
