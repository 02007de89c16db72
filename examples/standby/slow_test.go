package main

import (
	"context"
	"log/slog"
	"net"
	"net/http"
	"os"
	"path/filepath"
	"testing"
	"time"

	"example.com/emailplatform/internal/tests/slowpeers"
	"example.com/emailplatform/webhook"
)

// TestSlowPeers: slow peers without the secret do not prevent the deliveries of the platform.
func TestSlowPeers(t *testing.T) {
	slog.SetDefault(slog.New(slog.DiscardHandler))
	v, err := verifierOf([]string{"secret"})
	check(t, err)
	file, err := os.Create(filepath.Join(t.TempDir(), "deliveries.jsonl"))
	check(t, err)
	defer file.Close()
	for name, hook := range map[string]http.Handler{"receiver": webhook.NewHandler(v, handle, webhook.Options{}), "standby": store(v, file)} {
		t.Run(name, func(t *testing.T) {
			slowpeers.Survive(t, 2*time.Minute, func(ctx context.Context, l net.Listener) error {
				return serve(ctx, l, hook)
			}, slowpeers.Post("/hook", "", `{"event":"Email.Bounced"}`), slowpeers.Get("/elsewhere"))
		})
	}
}
