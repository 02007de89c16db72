package main

import (
	"slices"
	"testing"
	"time"

	"example.com/emailplatform/internal/tests/recipes"
	"example.com/emailplatform/mockserver"
)

// TestOutboxUnderFaults: each order has at most one email. If it was sent, its order
// is known to be sent once the recipient has opened it; otherwise a person is asked.
func TestOutboxUnderFaults(t *testing.T) {
	recipe := func(t *testing.T, p *mockserver.Server) func() {
		s, err := open(t.Context(), p)
		check(t, err)
		return func() {
			orders := []string{"A-1", "A-2", "A-3"}
			for _, order := range orders {
				recipes.Repeat(t, func() error { return s.confirm(t.Context(), order, "ada@example.org") })
			}
			var missing []string
			for _, order := range orders {
				sent := 0
				for _, m := range p.Outbox() {
					if m.Subject == subject(order) {
						sent++
						check(t, p.Open(m.ID))
					}
				}
				if sent == 0 {
					missing = append(missing, order)
				}
				if sent > 1 {
					t.Errorf("%d emails of the order %s", sent, order)
				}
			}
			check(t, p.Drain(t.Context()))
			time.Sleep(time.Hour)
			if ask := s.toAsk(time.Hour); !slices.Equal(ask, missing) {
				t.Errorf("asks for %v, not sent were %v", ask, missing)
			}
		}
	}
	recipes.UnderFaults(t, []string{"submitEmail"}, recipe)
	recipes.UnderDeliveryFaults(t, recipe)
}
