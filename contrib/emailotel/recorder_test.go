package emailotel_test

import (
	"encoding/json"
	"fmt"
	"net/http"
	"slices"
	"testing"

	"github.com/stretchr/testify/require"
	"go.opentelemetry.io/contrib/instrumentation/net/http/otelhttp"
	"go.opentelemetry.io/otel/attribute"
	"go.opentelemetry.io/otel/sdk/metric"
	"go.opentelemetry.io/otel/sdk/metric/metricdata"
	"go.opentelemetry.io/otel/sdk/trace"
	"go.opentelemetry.io/otel/sdk/trace/tracetest"

	"example.com/emailplatform/client"
	"example.com/emailplatform/contrib/emailotel"
	"example.com/emailplatform/mockserver"
)

// recorder keeps all spans and metrics in memory.
type recorder struct {
	*emailotel.Telemetry
	t      testing.TB
	spans  *tracetest.InMemoryExporter
	tracer *trace.TracerProvider
	meter  *metric.MeterProvider
	reader *metric.ManualReader
}

func record(t testing.TB) *recorder {
	t.Helper()
	r := &recorder{t: t, spans: tracetest.NewInMemoryExporter(), reader: metric.NewManualReader()}
	r.tracer = trace.NewTracerProvider(trace.WithSyncer(r.spans))
	r.meter = metric.NewMeterProvider(metric.WithReader(r.reader))
	tel, err := emailotel.New(emailotel.Options{TracerProvider: r.tracer, MeterProvider: r.meter})
	require.NoError(t, err)
	r.Telemetry = tel
	return r
}

// startServer starts a mock server that ends with the test.
func startServer(t testing.TB) *mockserver.Server {
	srv := mockserver.Start(mockserver.Config{})
	t.Cleanup(srv.Close)
	return srv
}

func email(to string) client.EmailSubmission {
	return client.EmailSubmission{
		To: to, Sender: client.Sender{Email: "shop@example.com"}, Content: client.EmailContent{Subject: "S", Text: "T"},
	}
}

func (r *recorder) wire(rt http.RoundTripper) http.RoundTripper {
	return otelhttp.NewTransport(rt, otelhttp.WithTracerProvider(r.tracer), otelhttp.WithMeterProvider(r.meter))
}

// client returns an observed client of srv.
func (r *recorder) client(srv *mockserver.Server, base http.RoundTripper) *client.Client {
	r.t.Helper()
	c, err := client.New(client.Config{
		BaseURL: srv.URL(), Token: srv.Token(), Observe: r.ObserveCall, LookupLimiter: client.NoLookupLimit{},
		HTTPClient: &http.Client{Transport: emailotel.Transport(base, r.wire)},
	})
	require.NoError(r.t, err)
	return c
}

// span returns the only span with the name.
func (r *recorder) span(name string) tracetest.SpanStub {
	r.t.Helper()
	var found []tracetest.SpanStub
	for _, s := range r.spans.GetSpans() {
		if s.Name == name {
			found = append(found, s)
		}
	}
	require.Len(r.t, found, 1, "spans %q, want 1; all spans: %q", name, r.names())
	return found[0]
}

func (r *recorder) names() (names []string) {
	for _, s := range r.spans.GetSpans() {
		names = append(names, s.Name)
	}
	return names
}

func attributes(set []attribute.KeyValue) map[string]string {
	m := map[string]string{}
	for _, a := range set {
		m[string(a.Key)] = a.Value.String()
	}
	return m
}

// series calls f for each time series of this package. The argument n of f is the count or sum of the series.
func (r *recorder) series(f func(m metricdata.Metrics, attributes attribute.Set, n uint64)) {
	r.t.Helper()
	var all metricdata.ResourceMetrics
	require.NoError(r.t, r.reader.Collect(r.t.Context(), &all))
	for _, s := range all.ScopeMetrics {
		if s.Scope.Name != "example.com/emailplatform/contrib/emailotel" {
			continue
		}
		for _, m := range s.Metrics {
			switch d := m.Data.(type) {
			case metricdata.Histogram[float64]:
				for _, p := range d.DataPoints {
					f(m, p.Attributes, p.Count)
				}
			case metricdata.Sum[int64]:
				for _, p := range d.DataPoints {
					f(m, p.Attributes, uint64(p.Value))
				}
			case metricdata.Gauge[int64]:
				for _, p := range d.DataPoints {
					f(m, p.Attributes, uint64(p.Value))
				}
			case metricdata.Gauge[float64]:
				for _, p := range d.DataPoints {
					f(m, p.Attributes, uint64(p.Value))
				}
			default:
				r.t.Errorf("metric %s is a %T", m.Name, d)
			}
		}
	}
}

// metrics returns the count or sum of each time series of this package. A key of the map has the form
// "name{attributes}".
func (r *recorder) metrics() map[string]uint64 {
	r.t.Helper()
	series := map[string]uint64{}
	r.series(func(m metricdata.Metrics, attributes attribute.Set, n uint64) {
		series[m.Name+"{"+attributes.Encoded(attribute.DefaultEncoder())+"}"] = n
	})
	return series
}

// everything returns all recorded data as text.
func (r *recorder) everything() string {
	r.t.Helper()
	var all metricdata.ResourceMetrics
	require.NoError(r.t, r.reader.Collect(r.t.Context(), &all))
	metrics, err := json.Marshal(all)
	require.NoError(r.t, err)
	text := string(metrics)
	for _, s := range r.spans.GetSpans() {
		text += fmt.Sprintf("\n%s %s %s", s.Name, s.Status.Description, s.Status.Code)
		for _, a := range slices.Concat(s.Attributes, s.Resource.Attributes()) {
			text += fmt.Sprintf(" %s=%s", a.Key, a.Value.String())
		}
		for _, e := range s.Events {
			text += fmt.Sprintf(" %s %v", e.Name, attributes(e.Attributes))
		}
	}
	return text
}
