package webhook_test

import (
	"context"
	"errors"
	"fmt"
	"log"
	"net/http"
	"net/http/httptest"
	"strings"

	"example.com/emailplatform/events"
	"example.com/emailplatform/webhook"
)

// The handler calls the function once for an event that is delivered repeatedly.
func Example() {
	secret, err := webhook.ParseSecret("whsec_5f0d41c29a", "sha256") // as the platform returned them
	if err != nil {
		log.Fatal(err)
	}
	verifier, err := webhook.NewVerifier(secret)
	if err != nil {
		log.Fatal(err)
	}
	mux := http.NewServeMux()
	mux.Handle("/hook", webhook.NewHandler(verifier, func(_ context.Context, ev *events.Event) error {
		switch d := ev.Data.(type) {
		case *events.SuppressedEmailAdded:
			fmt.Println("never write to", d.SuppressedEmail.Email)
		case *events.Unknown:
			fmt.Println("not known yet:", ev.Name)
		}
		return nil
	}, webhook.Options{}))

	// The platform delivers the event again because the first response was too
	// late.
	body := []byte(`{
		"id": "5c0b1e6e-3f0e-4a52-9d5a-0e6d3f0f7a11", "event": "SuppressedEmail.Added",
		"created_on": 1700000000, "data": {"suppressedEmail": {"email": "someone@example.com"}}
	}`)
	for range 2 {
		req, err := webhook.NewRequest(context.Background(), "http://127.0.0.1/hook", secret, body)
		if err != nil {
			log.Fatal(err)
		}
		w := httptest.NewRecorder()
		mux.ServeHTTP(w, req)
		fmt.Println(w.Code)
	}
	// Output:
	// never write to someone@example.com
	// 204
	// 204
}

// During a rotation the verifier accepts both secrets, and no others.
func ExampleNewVerifier_rotation() {
	var secrets []webhook.Secret
	for _, text := range []string{"whsec_of_this_year", "whsec_of_last_year", "whsec_of_an_attacker"} {
		secret, err := webhook.ParseSecret(text, "sha512")
		if err != nil {
			log.Fatal(err)
		}
		secrets = append(secrets, secret)
	}
	verifier, err := webhook.NewVerifier(secrets[:2]...)
	if err != nil {
		log.Fatal(err)
	}
	body := []byte(`{"event":"Email.Opened"}`)
	for _, secret := range secrets {
		signature, err := webhook.Sign(secret, body)
		if err != nil {
			log.Fatal(err)
		}
		fmt.Println(verifier.Verify(body, signature))
	}
	// Output:
	// <nil>
	// <nil>
	// webhook: invalid signature
}

// Middleware verifies the deliveries for a handler that deduplicates them itself.
func ExampleMiddleware() {
	secret, err := webhook.ParseSecret("whsec_5f0d41c29a", "sha256")
	if err != nil {
		log.Fatal(err)
	}
	verifier, err := webhook.NewVerifier(secret)
	if err != nil {
		log.Fatal(err)
	}
	once := webhook.NewMemoryOnce(webhook.MemoryOnceOptions{})
	own := http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		d, _ := webhook.FromContext(r.Context())
		ran, err := once.Do(r.Context(), d.Key, func(context.Context) error {
			fmt.Println("store", len(d.Body), "bytes of", d.Event.Name)
			return nil
		})
		switch {
		case errors.Is(err, webhook.ErrInFlight):
			w.WriteHeader(http.StatusServiceUnavailable)
		case err != nil:
			w.WriteHeader(http.StatusInternalServerError)
		case ran:
			w.WriteHeader(http.StatusCreated)
		}
	})
	h := webhook.Middleware(verifier, webhook.Options{})(own)

	body := []byte(`{"id":"e1","event":"Email.Error","data":{"error":"internal error; try again"}}`)
	for range 2 {
		req, err := webhook.NewRequest(context.Background(), "http://127.0.0.1/hook", secret, body)
		if err != nil {
			log.Fatal(err)
		}
		w := httptest.NewRecorder()
		h.ServeHTTP(w, req)
		fmt.Println(w.Code)
	}
	// Output:
	// store 78 bytes of Email.Error
	// 201
	// 200
}

// A Secret is not printed, and ParseSecret rejects a line break at its end.
func ExampleParseSecret() {
	type receiver struct{ secret webhook.Secret } // package fmt prints unexported fields too
	secret, err := webhook.ParseSecret("whsec_5f0d41c29a", "sha512")
	fmt.Println(secret, secret.HashFunction(), err)
	fmt.Println(strings.Contains(fmt.Sprint(receiver{secret}), "whsec"))
	_, err = webhook.ParseSecret("whsec_5f0d41c29a\n", "sha512") // of a file with a line break
	fmt.Println(err)
	// Output:
	// [redacted] sha512 <nil>
	// false
	// webhook: secret must not begin or end with white space
}
