package main

import (
	"context"
	"log/slog"
	"net"
	"testing"
	"time"

	"example.com/emailplatform/examples/integrations/jetstream/inbox"
	"example.com/emailplatform/internal/tests/slowpeers"
	"example.com/emailplatform/webhook"
)

// TestSlowPeers: slow peers without the secret do not prevent the deliveries of the platform.
func TestSlowPeers(t *testing.T) {
	secret, err := webhook.ParseSecret("whsec_jetstream_example", "")
	if err != nil {
		t.Fatal(err)
	}
	verifier, err := webhook.NewVerifier(secret)
	if err != nil {
		t.Fatal(err)
	}
	h := inbox.NewReceiver(nil, verifier, webhook.Options{Logger: slog.New(slog.DiscardHandler)})
	slowpeers.Survive(t, 2*time.Minute, func(ctx context.Context, l net.Listener) error {
		return serve(ctx, l, h)
	}, slowpeers.Post("/", "", `{"event":"Email.Bounced"}`), slowpeers.Get("/"))
}
