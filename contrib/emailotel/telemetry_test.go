package emailotel_test

import (
	"context"
	"errors"
	"fmt"
	"log/slog"
	"maps"
	"net/http"
	"net/http/httptest"
	"strings"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
	"go.opentelemetry.io/contrib/instrumentation/net/http/otelhttp"
	"go.opentelemetry.io/otel/codes"
	"go.opentelemetry.io/otel/trace"

	"example.com/emailplatform/client"
	"example.com/emailplatform/contrib/emailotel"
	"example.com/emailplatform/events"
	"example.com/emailplatform/mockserver"
	"example.com/emailplatform/webhook"
)

const (
	address = "ada@example.org"
	secret  = "whsec_9f2c71d04b"
	opened  = `{"id":"11111111-2222-4333-8444-555555555555","event":"Email.Opened","timestamp":1767225600,"data":{"email_address":"ada@example.org"}}`
)

// once loses the first request.
type once struct {
	lost bool
	next http.RoundTripper
}

func (o *once) RoundTrip(r *http.Request) (*http.Response, error) {
	if !o.lost {
		o.lost = true
		return nil, errors.New("connection reset")
	}
	return o.next.RoundTrip(r)
}

// TestNil: an argument that is nil causes a failure when the program starts, not for the first event.
func TestNil(t *testing.T) {
	r := record(t)
	for name, misuse := range map[string]func(){
		"Wrap":        func() { r.Wrap(nil) },
		"HandleAsync": func() { r.HandleAsync(trace.SpanContext{}, nil) },
		"Transport":   func() { emailotel.Transport(nil, nil) },
	} {
		assert.PanicsWithValue(t, "emailotel: "+name+" needs a function", misuse)
	}
	_, err := r.ObserveQueues(nil)
	require.ErrorContains(t, err, "must not be nil")
}

// TestCall: a call with a retry is one span with two spans of the transport.
func TestCall(t *testing.T) {
	r := record(t)
	c := r.client(startServer(t), &once{next: http.DefaultTransport})
	ctx, parent := r.tracer.Tracer("app").Start(t.Context(), "nightly")
	_, err := c.Lists.List(ctx, client.ListListsParams{})
	require.NoError(t, err)
	parent.End()
	s := r.span("emailplatform listLists")
	if s.Parent.SpanID() != parent.SpanContext().SpanID() || s.SpanKind != trace.SpanKindInternal {
		t.Errorf("parent %s, kind %s", s.Parent.SpanID(), s.SpanKind)
	}
	got := attributes(s.Attributes)
	if got["emailplatform.operation"] != "listLists" || got["emailplatform.attempts"] != "2" || got["http.response.status_code"] != "200" || got["emailplatform.request_id"] == "" || got["error.type"] != "" {
		t.Errorf("attributes %v", got)
	}
	if len(s.Events) != 1 || s.Events[0].Name != "emailplatform.retry" || attributes(s.Events[0].Attributes)["error.type"] != "_OTHER" {
		t.Errorf("events %v", s.Events)
	}
	below := 0
	for _, w := range r.spans.GetSpans() {
		if w.Parent.SpanID() == s.SpanContext.SpanID() && w.SpanKind == trace.SpanKindClient {
			below++
		}
	}
	assert.Equal(t, 2, below, "spans of attempts, want 2: %q", r.names())
	want := map[string]uint64{
		"emailplatform.client.call.duration{emailplatform.operation=listLists,emailplatform.outcome=success}": 1,
		"emailplatform.client.requests{emailplatform.operation=listLists,emailplatform.outcome=success}":      2,
	}
	if got := r.metrics(); !maps.Equal(got, want) {
		t.Errorf("metrics %v, want %v", got, want)
	}
}

// TestCallOutcomes: spans and metrics distinguish three results: the email was not queued, it may have been
// sent, or it was certainly not sent. For a lookup, the spans and metrics also contain the time that the
// lookup waited in the queue.
func TestCallOutcomes(t *testing.T) {
	send := func(to string) func(context.Context, *client.Client) {
		return func(ctx context.Context, c *client.Client) { _, _ = c.Emails.Send(ctx, email(to)) }
	}
	list := func(ctx context.Context) func(context.Context, *client.Client) {
		return func(_ context.Context, c *client.Client) { _, _ = c.Lists.List(ctx, client.ListListsParams{}) }
	}
	canceled, cancel := context.WithCancel(t.Context())
	cancel()
	late, stop := context.WithTimeout(t.Context(), 0)
	defer stop()
	for _, tt := range []struct {
		operation          string
		call               func(context.Context, *client.Client)
		status             int // of the response instead of the mock server's
		outcome, errorType string
		requests           uint64
	}{
		{"submitEmail", send("ada@example.org"), 0, "success", "", 1},
		{"submitEmail", send("error@mock.test"), 0, "not_queued", "not_queued", 1},
		{"submitEmail", send("ada@example.org"), 503, "unknown", "503", 1},
		{"submitEmail", send("ada@example.org"), 403, "failed", "403", 1},
		{"listLists", list(canceled), 0, "failed", "canceled", 0},
		{"listLists", list(late), 0, "failed", "timeout", 0},
		{"getEmail", func(ctx context.Context, c *client.Client) {
			_, _ = c.Emails.Get(ctx, "00000000-0000-4000-8000-000000000000")
		}, 0, "failed", "404", 1},
	} {
		t.Run(tt.operation+" "+tt.outcome+" "+tt.errorType, func(t *testing.T) {
			srv, r := startServer(t), record(t)
			if tt.status != 0 {
				_, err := srv.Inject(mockserver.Fault{Action: mockserver.FaultStatus, Status: tt.status})
				require.NoError(t, err)
			}
			tt.call(t.Context(), r.client(srv, nil))
			span := r.span("emailplatform " + tt.operation)
			got := attributes(span.Attributes)
			if got["emailplatform.outcome"] != tt.outcome || got["error.type"] != tt.errorType || span.Status.Description != tt.errorType ||
				(span.Status.Code == codes.Error) != (tt.errorType != "") {
				t.Errorf("attributes %v, status %v", got, span.Status)
			}
			set := "{emailplatform.operation=" + tt.operation + ",emailplatform.outcome=" + tt.outcome
			if tt.errorType != "" {
				set += ",error.type=" + tt.errorType
			}
			want := map[string]uint64{"emailplatform.client.call.duration" + set + "}": 1, "emailplatform.client.requests" + set + "}": tt.requests}
			if tt.operation == "getEmail" {
				want["emailplatform.client.lookup.queue.duration{}"] = 1
			}
			if _, queued := got["emailplatform.lookup.queued"]; queued != (tt.operation == "getEmail") {
				t.Errorf("time in the queue: %t", queued)
			}
			if got := r.metrics(); !maps.Equal(got, want) {
				t.Errorf("metrics %v, want %v", got, want)
			}
		})
	}
}

func succeed(context.Context, *events.Event) error { return nil }

func parsed(t testing.TB) webhook.Secret {
	parsed, err := webhook.ParseSecret(secret, "")
	require.NoError(t, err)
	return parsed
}

func verifier(t testing.TB) *webhook.Verifier {
	v, err := webhook.NewVerifier(parsed(t))
	require.NoError(t, err)
	return v
}

// receive delivers body to an observed receiver and returns the status.
func (r *recorder) receive(handle func(context.Context, *events.Event) error, body string, change ...func(*http.Request)) int {
	r.t.Helper()
	return r.serve(webhook.NewHandler(verifier(r.t), r.Wrap(handle), webhook.Options{Observe: r.ObserveDelivery, Logger: slog.New(slog.DiscardHandler)}), body, change...)
}

func (r *recorder) serve(h http.Handler, body string, change ...func(*http.Request)) int {
	r.t.Helper()
	req, err := webhook.NewRequest(r.t.Context(), "http://receiver.test/hook", parsed(r.t), []byte(body))
	require.NoError(r.t, err)
	for _, c := range change {
		c(req)
	}
	w := httptest.NewRecorder()
	otelhttp.NewHandler(h, "webhook", otelhttp.WithTracerProvider(r.tracer), otelhttp.WithMeterProvider(r.meter),
		otelhttp.WithSpanNameFormatter(func(name string, _ *http.Request) string { return name })).ServeHTTP(w, req)
	return w.Code
}

func TestDelivery(t *testing.T) {
	r := record(t)
	require.Equal(t, http.StatusNoContent, r.receive(succeed, opened))
	s := r.span("process Email.Opened")
	server := r.span("webhook")
	if s.SpanKind != trace.SpanKindConsumer || s.Parent.SpanID() != server.SpanContext.SpanID() {
		t.Errorf("kind %s, parent %s", s.SpanKind, s.Parent.SpanID())
	}
	got := attributes(s.Attributes)
	want := map[string]string{
		"messaging.system": "emailplatform", "messaging.operation.name": "process", "messaging.operation.type": "process",
		"messaging.destination.name": "Email.Opened", "messaging.message.id": "11111111-2222-4333-8444-555555555555",
	}
	if !maps.Equal(got, want) {
		t.Errorf("attributes %v, want %v", got, want)
	}
	if got := attributes(server.Attributes); got["emailplatform.webhook.outcome"] != "handled" || got["emailplatform.event.name"] != "Email.Opened" {
		t.Errorf("attributes of the request %v", got)
	}
	series := map[string]uint64{
		"emailplatform.webhook.delivery.duration{emailplatform.event.name=Email.Opened,emailplatform.webhook.outcome=handled,http.response.status_code=204}": 1,
		"messaging.process.duration{messaging.destination.name=Email.Opened,messaging.operation.name=process,messaging.system=emailplatform}":                1,
	}
	if got := r.metrics(); !maps.Equal(got, series) {
		t.Errorf("metrics %v, want %v", got, series)
	}
}

func TestOutcomes(t *testing.T) {
	fail := func(context.Context, *events.Event) error { return errors.New(address) }
	same := func(*http.Request) {}
	for _, tt := range []struct {
		outcome string
		handle  func(context.Context, *events.Event) error
		body    string
		change  func(*http.Request)
		process string // error.type of the handler's span; "-" if there is no span
	}{
		{"handled", succeed, opened, same, ""},
		{"failed", fail, opened, same, "_OTHER"},
		{"failed", func(context.Context, *events.Event) error { panic(address) }, opened, same, "panic"},
		{"unverified", succeed, opened, func(r *http.Request) { r.Header.Set(webhook.DefaultSignatureHeader, "forged") }, "-"},
		{"unverified", succeed, opened, func(r *http.Request) { r.Header.Del(webhook.DefaultSignatureHeader) }, "-"},
		{"rejected", succeed, `{"no":"event"}`, same, "-"},
		{"rejected", succeed, opened, func(r *http.Request) { r.Method = http.MethodGet }, "-"},
	} {
		t.Run(tt.outcome+" "+tt.process, func(t *testing.T) {
			r := record(t)
			r.receive(tt.handle, tt.body, tt.change)
			if tt.process != "-" {
				s := r.span("process Email.Opened")
				if got := attributes(s.Attributes)["error.type"]; got != tt.process || (s.Status.Code == codes.Error) != (got != "") {
					t.Errorf("error.type %q, status %v; want %q", got, s.Status, tt.process)
				}
			}
			assert.Equal(t, tt.outcome, attributes(r.span("webhook").Attributes)["emailplatform.webhook.outcome"], "outcome")
			assert.NotContains(t, r.everything(), address, "an address is recorded")
		})
	}
}

func TestDuplicateAndInFlight(t *testing.T) {
	r := record(t)
	var h http.Handler
	again := true
	h = webhook.NewHandler(verifier(t), r.Wrap(func(context.Context, *events.Event) error {
		if again {
			again = false
			r.serve(h, opened)
		}
		return nil
	}), webhook.Options{Observe: r.ObserveDelivery, Logger: slog.New(slog.DiscardHandler)})
	r.serve(h, opened)
	r.serve(h, opened)
	var outcomes []string
	for _, s := range r.spans.GetSpans() {
		if s.Name == "webhook" {
			outcomes = append(outcomes, attributes(s.Attributes)["emailplatform.webhook.outcome"])
		}
	}
	assert.Equal(t, []string{"in_flight", "handled", "duplicate"}, outcomes, "outcomes")
}

// TestUnknownEvents: the number of event names and the length of ids are limited.
func TestUnknownEvents(t *testing.T) {
	r := record(t)
	for i := range 100 {
		_ = r.Wrap(succeed)(t.Context(), &events.Event{Name: events.Name(fmt.Sprint("Email.New", i)), ID: strings.Repeat("x", 65)})
	}
	for _, s := range r.spans.GetSpans() {
		if got := attributes(s.Attributes); s.Name != "process _OTHER" || got["messaging.destination.name"] != "_OTHER" || got["messaging.message.id"] != "" {
			t.Fatalf("%s %v", s.Name, got)
		}
	}
	assert.Len(t, r.metrics(), 1, "series")
}

func TestKnownEvents(t *testing.T) {
	r := record(t)
	assert.Contains(t, events.Names(), events.NameEmailBounced)
	for _, name := range events.Names() {
		_ = r.Wrap(succeed)(t.Context(), &events.Event{Name: name})
		r.span("process " + string(name))
	}
}

// TestHandleAsync: the span of a worker has its own trace with a link to the receipt.
func TestHandleAsync(t *testing.T) {
	r := record(t)
	_, receipt := r.tracer.Tracer("app").Start(t.Context(), "POST")
	receipt.End()
	ctx, worker := r.tracer.Tracer("app").Start(t.Context(), "job")
	defer worker.End()
	require.NoError(t, r.HandleAsync(receipt.SpanContext(), succeed)(ctx, &events.Event{Name: "Email.Opened"}))
	s := r.span("process Email.Opened")
	if s.Parent.IsValid() || len(s.Links) != 1 || s.Links[0].SpanContext.SpanID() != receipt.SpanContext().SpanID() {
		t.Errorf("parent %v, links %v", s.Parent, s.Links)
	}
}

// TestGlobalProviders: the zero Options use the global providers.
func TestGlobalProviders(t *testing.T) {
	tel, err := emailotel.New(emailotel.Options{})
	require.NoError(t, err)
	_, o := tel.ObserveCall(t.Context(), client.Call{Op: "listLists"})
	o.End(client.Observation{})
}
