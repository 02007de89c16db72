package emailotel_test

import (
	"context"
	"fmt"
	"log"
	"net/http"

	"go.opentelemetry.io/contrib/instrumentation/net/http/otelhttp"
	"go.opentelemetry.io/otel/sdk/trace"
	"go.opentelemetry.io/otel/sdk/trace/tracetest"

	"example.com/emailplatform/client"
	"example.com/emailplatform/contrib/emailotel"
	"example.com/emailplatform/mockserver"
)

// This client records a span for each call and each request, and no span contains an address.
func Example() {
	srv := mockserver.Start(mockserver.Config{})
	defer srv.Close()
	spans := tracetest.NewInMemoryExporter() // a program has an exporter of OTLP here
	provider := trace.NewTracerProvider(trace.WithSyncer(spans))

	telemetry, err := emailotel.New(emailotel.Options{TracerProvider: provider})
	if err != nil {
		log.Fatal(err)
	}
	c, err := client.New(client.Config{
		BaseURL: srv.URL(),
		Token:   srv.Token(),
		Observe: telemetry.ObserveCall,
		HTTPClient: &http.Client{Transport: emailotel.Transport(nil, func(rt http.RoundTripper) http.RoundTripper {
			return otelhttp.NewTransport(rt, otelhttp.WithTracerProvider(provider))
		})},
	})
	if err != nil {
		log.Fatal(err)
	}
	if _, err := c.SuppressedEmails.Add(context.Background(), "ada@example.org"); err != nil {
		log.Fatal(err)
	}
	if err := c.SuppressedEmails.Remove(context.Background(), "ada@example.org"); err != nil {
		log.Fatal(err)
	}
	for _, s := range spans.GetSpans() {
		fmt.Println(s.Name)
	}
	// Output:
	// HTTP POST
	// emailplatform addSuppressedEmail
	// HTTP DELETE
	// emailplatform removeSuppressedEmail
}
