package main

import (
	"errors"
	"slices"
	"testing"
	"testing/synctest"
	"time"

	"example.com/emailplatform/client"
	"example.com/emailplatform/internal/tests/recipes"
	"example.com/emailplatform/mockserver"
)

func opened(t *testing.T) *shop {
	t.Helper()
	platform := mockserver.New(mockserver.Config{})
	t.Cleanup(platform.Close)
	s, err := open(t.Context(), platform)
	check(t, err)
	return s
}

var check = recipes.Check

// TestEventAfterLostResponse: an email with a lost response is sent once. Its state is known after the first event
// of its recipient.
func TestEventAfterLostResponse(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		s := opened(t)
		check(t, s.confirm(t.Context(), "A-16", "ada@example.org")) // same recipient, another order
		check(t, s.loseResponse())
		for i, want := range []error{client.ErrOutcomeUnknown, nil, nil} {
			if err := s.confirm(t.Context(), "A-17", "ada@example.org"); !errors.Is(err, want) {
				t.Errorf("try %d: %v, want %v", i+1, err, want)
			}
		}
		mail := s.platform.Outbox() // oldest first
		if len(mail) != 2 {
			t.Fatalf("%d emails, want 2", len(mail))
		}
		check(t, s.platform.Open(mail[0].ID))
		check(t, s.platform.Drain(t.Context()))
		if e := s.entries["A-17"]; e.state != unknown {
			t.Errorf("got %+v before an event of the email", e)
		}
		check(t, s.platform.Bounce(mail[1].ID, mockserver.HardBounce))
		check(t, s.platform.Drain(t.Context()))
		if e := s.entries["A-17"]; e.state != sent || e.emailID != mail[1].ID {
			t.Errorf("got %+v, want that it was sent as %s", e, mail[1].ID)
		}
	})
}

// TestLostRequestNeedsDecision: the platform did not get the email, so there is no event. It is not sent again until
// a person decides.
func TestLostRequestNeedsDecision(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		s := opened(t)
		recipes.Inject(t, s.platform, mockserver.Fault{Operation: "submitEmail", Action: mockserver.FaultReset, Times: 1})
		if err := s.confirm(t.Context(), "A-17", "ada@example.org"); !errors.Is(err, client.ErrOutcomeUnknown) {
			t.Fatalf("got %v", err)
		}
		if early := s.unconfirmed(24 * time.Hour); early != nil {
			t.Errorf("reported before 24 h: %v", early)
		}
		time.Sleep(24 * time.Hour)
		if got := s.unconfirmed(24 * time.Hour); !slices.Equal(got, []string{"A-17"}) || len(s.platform.Outbox()) != 0 {
			t.Errorf("after a day: %v unconfirmed, %d emails", got, len(s.platform.Outbox()))
		}
		s.release("A-17") // a person decides this after contacting the recipient
		check(t, s.confirm(t.Context(), "A-17", "ada@example.org"))
		if n := len(s.platform.Outbox()); n != 1 || s.entries["A-17"].state != sent {
			t.Errorf("%d emails, %s", n, s.entries["A-17"].state)
		}
	})
}

// TestNotQueued: an order is not recorded as sent if its email was not queued. It can be confirmed again.
func TestNotQueued(t *testing.T) {
	s := opened(t)
	for range 2 {
		if err := s.confirm(t.Context(), "A-17", "error@mock.test"); !errors.Is(err, client.ErrNotQueued) {
			t.Errorf("got %v, want ErrNotQueued", err)
		}
	}
	if len(s.entries) != 0 || len(s.platform.Outbox()) != 0 {
		t.Errorf("recorded %v, %d emails, want none", s.entries, len(s.platform.Outbox()))
	}
}

// TestLostResponseOfRejectedEmail: an event resolves an order if its email was rejected and the response was lost.
func TestLostResponseOfRejectedEmail(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		s := opened(t)
		_, err := s.outbox.platform.SuppressedEmails.Add(t.Context(), "bob@example.org")
		check(t, err)
		for _, address := range []string{"error@mock.test", "bob@example.org"} {
			check(t, s.loseResponse())
			if err := s.confirm(t.Context(), "A-17", address); !errors.Is(err, client.ErrOutcomeUnknown) {
				t.Errorf("%s: got %v, want ErrOutcomeUnknown", address, err)
			}
			check(t, s.platform.Drain(t.Context()))
			if len(s.entries) != 0 {
				t.Errorf("%s: recorded %+v, want none", address, s.entries["A-17"])
			}
		}
	})
}

// TestEventAfterForget: found ignores an order that a person has removed from the outbox.
func TestEventAfterForget(*testing.T) { newOutbox(nil).found("A-17", "id") }

// TestOutboxUnderFaults: each order has at most one email. An order is known to be sent after its email was opened;
// other orders need a decision.
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
			if unconfirmed := s.unconfirmed(time.Hour); !slices.Equal(unconfirmed, missing) {
				t.Errorf("%v unconfirmed, want %v", unconfirmed, missing)
			}
		}
	}
	recipes.UnderFaults(t, []string{"submitEmail"}, recipe)
	recipes.UnderDeliveryFaults(t, recipe)
}
