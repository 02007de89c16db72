package main

import (
	"context"
	"log/slog"
	"net"
	"os"
	"path/filepath"
	"testing"
	"time"

	"example.com/emailplatform/internal/tests/slowpeers"
)

// TestSlowPeers: slow peers without the secret do not prevent the deliveries of the platform.
func TestSlowPeers(t *testing.T) {
	slog.SetDefault(slog.New(slog.DiscardHandler))
	v, err := verifierOf([]string{"secret"})
	check(t, err)
	file, err := os.Create(filepath.Join(t.TempDir(), "deliveries.jsonl"))
	check(t, err)
	defer file.Close()
	slowpeers.Survive(t, 2*time.Minute, func(ctx context.Context, l net.Listener) error {
		return serve(ctx, l, store(v, file))
	}, slowpeers.Post("/hook", "", `{"event":"Email.Bounced"}`), slowpeers.Get("/elsewhere"))
}
