package main

import (
	"errors"
	"testing"

	"example.com/emailplatform/client"
	"example.com/emailplatform/examples/faulttest"
	"example.com/emailplatform/mockserver"
)

// TestConfirmUnderFaults: confirm, repeated until it succeeds, sends one email, or at
// most one if a person must check the order.
func TestConfirmUnderFaults(t *testing.T) {
	faulttest.UnderFaults(t, []string{"submitEmail"}, func(t *testing.T, p *mockserver.Server) func() {
		s := &shop{platform: faulttest.Client(t, p)}
		return func() {
			errs := faulttest.Repeat(t, func() error { return s.confirm(t.Context(), "A-17", "ada@example.org") })
			unknown := errors.Is(errors.Join(errs...), client.ErrOutcomeUnknown)
			if n := len(p.Outbox()); n > 1 || n == 0 && !unknown || unknown != (len(s.toCheck()) == 1) {
				t.Errorf("%d emails after %v, to check: %v", n, errs, s.toCheck())
			}
		}
	})
}

// TestBounceUnderFaults: an address that bounced hard gets no more email, even if
// lookups or deliveries fail.
func TestBounceUnderFaults(t *testing.T) {
	bounce := func(t *testing.T, p *mockserver.Server) func() {
		s := &shop{platform: faulttest.Client(t, p)}
		connect(t, p, s)
		return func() {
			check(t, s.confirm(t.Context(), "A-17", "bounce+hb@mock.test"))
			check(t, p.Drain(t.Context()))
			if err := s.confirm(t.Context(), "A-18", "bounce+hb@mock.test"); !errors.Is(err, errUndeliverable) {
				t.Errorf("got %v, want errUndeliverable", err)
			}
		}
	}
	faulttest.UnderFaults(t, []string{"getEmail"}, bounce)
	faulttest.UnderDeliveryFaults(t, bounce)
}
