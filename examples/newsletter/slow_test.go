package main

import (
	"context"
	"log/slog"
	"net"
	"testing"
	"time"

	"example.com/emailplatform/client"
	"example.com/emailplatform/internal/tests/slowpeers"
	"example.com/emailplatform/mailroom"
	"example.com/emailplatform/mockserver"
)

// idle is a listener without connections.
type idle chan struct{}

func (l idle) Accept() (net.Conn, error) {
	<-l
	return nil, net.ErrClosed
}

func (l idle) Close() error {
	close(l)
	return nil
}

func (idle) Addr() net.Addr { return nil }

// TestSlowPeers: slow subscribers, senders of events and operators do not prevent the requests of others.
func TestSlowPeers(t *testing.T) {
	slog.SetDefault(slog.New(slog.DiscardHandler))
	for name, tt := range map[string]struct {
		within   time.Duration
		run      func(s *service, ctx context.Context, slow, other net.Listener) error
		requests []string
	}{
		"public": {2 * time.Minute, (*service).run, []string{
			slowpeers.Post("/hook", "", `{"event":"Email.Bounced"}`), slowpeers.Post("/signup", "", "email=ada@example.org"),
		}},
		"internal": {62 * time.Minute, func(s *service, ctx context.Context, slow, other net.Listener) error { return s.run(ctx, other, slow) }, []string{
			slowpeers.Get("/metrics"), slowpeers.Get("/contacts.csv"), slowpeers.Post("/contacts.csv", "", "email\nada@example.org\n"),
		}},
	} {
		t.Run(name, func(t *testing.T) {
			slowpeers.Survive(t, tt.within, func(ctx context.Context, l net.Listener) error {
				platform := mockserver.New(mockserver.Config{})
				defer platform.Close()
				cfg := client.Config{BaseURL: platform.URL(), Token: platform.Token(), HTTPClient: platform.HTTPClient()}
				s, err := open(ctx, cfg, "http://shop.test/hook", mailroom.NewMemoryStore())
				if err != nil {
					return err
				}
				check(t, s.confirm(ctx, "A-1", "ada@example.org"))
				check(t, platform.WaitFor(ctx, func() bool { return len(platform.Outbox()) > 0 })) // the Room has connected
				return tt.run(s, ctx, l, idle(make(chan struct{})))
			}, tt.requests...)
		})
	}
}
