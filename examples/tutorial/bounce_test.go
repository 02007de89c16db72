package main

import (
	"errors"
	"testing"
	"testing/synctest"

	"example.com/emailplatform/mockserver"
)

// connect registers the shop's webhook.
func connect(t *testing.T, platform *mockserver.Server, s *shop) {
	t.Helper()
	hook, err := s.subscribe(t.Context(), "http://shop.test/hook")
	check(t, err)
	platform.SetTarget("shop.test", hook)
}

func TestNoEmailAfterHardBounce(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		platform, s := start(t)
		connect(t, platform, s)
		check(t, s.confirm(t.Context(), "A-17", "gone@example.org"))
		check(t, platform.Bounce(platform.Outbox()[0].ID, mockserver.HardBounce))
		check(t, platform.Wait(t.Context()))
		if err := s.confirm(t.Context(), "A-18", "Gone@Example.org"); !errors.Is(err, errUndeliverable) {
			t.Errorf("got %v, want errUndeliverable", err)
		}
	})
}

// TestBounceAfterOutage: lookups fail, so the handler fails, and the platform
// retries the delivery until the handler succeeds.
func TestBounceAfterOutage(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		platform, s := start(t)
		connect(t, platform, s)
		check(t, s.confirm(t.Context(), "A-17", "gone@example.org"))
		_, err := platform.Inject(mockserver.Fault{Operation: "getEmail", Action: mockserver.FaultStatus, Status: 500, Times: 6})
		check(t, err)
		check(t, platform.Bounce(platform.Outbox()[0].ID, mockserver.HardBounce))
		check(t, platform.Drain(t.Context()))
		if n := len(platform.Deliveries()[0].Attempts); n < 2 {
			t.Errorf("%d attempts, want more than one", n)
		}
		if err := s.confirm(t.Context(), "A-18", "gone@example.org"); !errors.Is(err, errUndeliverable) {
			t.Errorf("got %v, want errUndeliverable", err)
		}
	})
}
