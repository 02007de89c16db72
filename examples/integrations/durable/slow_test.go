package main

import (
	"context"
	"log/slog"
	"net"
	"testing"
	"time"

	"example.com/emailplatform/internal/tests/slowpeers"
)

// TestSlowPeers: slow peers without the secret do not prevent the deliveries of the platform, and cause no
// connection to PostgreSQL.
func TestSlowPeers(t *testing.T) {
	slog.SetDefault(slog.New(slog.DiscardHandler))
	h, err := newReceiver(nil, secret, 0)
	check(t, err)
	slowpeers.Survive(t, 2*time.Minute, func(ctx context.Context, l net.Listener) error {
		return serve(ctx, l, h)
	}, slowpeers.Post("/", "", `{"event":"Email.Bounced"}`), slowpeers.Get("/"))
}
