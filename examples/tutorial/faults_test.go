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
