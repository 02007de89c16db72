package shop_test

import (
	"errors"
	"net/http"
	"testing"
	"testing/synctest"
	"time"

	"example.com/emailplatform/client"
	"example.com/emailplatform/events"
	shop "example.com/emailplatform/examples/mock-in-your-tests"
	"example.com/emailplatform/internal/tests/recipes"
	"example.com/emailplatform/mockserver"
	"example.com/emailplatform/webhook"
)

const hookHost = "shop.test"

// setup returns a mock server for this test and a shop that uses it. Requests and
// deliveries are function calls without sockets, so the test can run on the
// virtual clock of testing/synctest.
func setup(t *testing.T) (*mockserver.Server, *shop.Shop) {
	t.Helper()
	platform := mockserver.New(mockserver.Config{})
	t.Cleanup(platform.Close)
	return platform, setupOn(t, platform)
}

func setupOn(t *testing.T, platform *mockserver.Server) *shop.Shop {
	t.Helper()
	c, err := client.New(client.Config{
		BaseURL:    platform.URL(),
		Token:      platform.Token(),
		HTTPClient: &http.Client{Transport: platform.Transport()},
	})
	check(t, err)
	template, err := c.Templates.Create(t.Context(), client.TemplateCreate{
		Name:    "confirmation",
		Content: client.TemplateContent{Text: "Thank you for order {{order}}."},
	})
	check(t, err)
	hook, err := c.Webhooks.Create(t.Context(), client.WebhookCreate{
		URL:    "http://" + hookHost + "/hook",
		Events: []events.Name{events.NameEmailBounced},
		// The shop looks up each bounce, and the platform allows one lookup per second. Without this limit, the handler
		// would exceed the platform's timeout during a burst.
		RateLimit:       1,
		RateLimitPeriod: client.RateLimitPeriodSecond,
	})
	check(t, err)
	secret, err := webhook.ParseSecret(hook.Secret.Reveal(), hook.HashFunction)
	check(t, err)
	verifier, err := webhook.NewVerifier(secret)
	check(t, err)
	s := shop.New(c, template.ID)
	platform.SetTarget(hookHost, s.Webhook(verifier))
	return s
}

func TestConfirmationIsSent(t *testing.T) {
	platform, s := setup(t)
	check(t, s.Confirm(t.Context(), "A-17", "ada@example.org"))
	mail := platform.Outbox()[0]
	if mail.To != "ada@example.org" || mail.Subject != "Your order A-17" || mail.Text != "Thank you for order A-17." {
		t.Errorf("sent %+v", mail)
	}
}

func TestNoEmailAfterHardBounce(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		platform, s := setup(t)
		check(t, s.Confirm(t.Context(), "A-17", "gone@example.org"))
		check(t, platform.Bounce(platform.Outbox()[0].ID, mockserver.HardBounce))
		check(t, platform.Wait(t.Context()))
		if err := s.Confirm(t.Context(), "A-18", "Gone@Example.org"); !errors.Is(err, shop.ErrUndeliverable) {
			t.Errorf("got %v, want ErrUndeliverable", err)
		}
	})
}

func TestBounceIsHandledAfterAnOutage(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		platform, s := setup(t)
		check(t, s.Confirm(t.Context(), "A-17", "gone@example.org"))
		// Lookups fail for a while, so the shop cannot get the reason for the bounce and the platform retries the
		// delivery.
		_, err := platform.Inject(mockserver.Fault{Operation: "getEmail", Action: mockserver.FaultStatus, Status: 500, Times: 6})
		check(t, err)
		check(t, platform.Bounce(platform.Outbox()[0].ID, mockserver.HardBounce))
		before := time.Now()
		check(t, platform.Drain(t.Context()))
		attempts := platform.Deliveries()[0].Attempts
		if len(attempts) < 2 || !attempts[len(attempts)-1].Time.After(before) {
			t.Errorf("want more than one attempt, got %d", len(attempts))
		}
		if err := s.Confirm(t.Context(), "A-18", "gone@example.org"); !errors.Is(err, shop.ErrUndeliverable) {
			t.Errorf("got %v, want ErrUndeliverable", err)
		}
	})
}

func TestConfirmationIsSentOnce(t *testing.T) {
	platform, s := setup(t)
	// The platform sends the email, but its response is lost.
	_, err := platform.Inject(mockserver.Fault{Operation: "submitEmail", Action: mockserver.FaultReset, AfterProcessing: true, Nth: 1})
	check(t, err)
	for i, want := range []error{client.ErrOutcomeUnknown, nil} {
		if err := s.Confirm(t.Context(), "A-17", "ada@example.org"); !errors.Is(err, want) {
			t.Errorf("call %d: got %v, want %v", i+1, err, want)
		}
	}
	if sent := len(platform.Outbox()); sent != 1 {
		t.Errorf("%d emails were sent, want 1", sent)
	}
	if orders := s.ToCheck(); len(orders) != 1 || orders[0] != "A-17" {
		t.Errorf("orders to check: %v, want A-17", orders)
	}
}

var check = recipes.Check

// TestConfirmUnderFaults: Confirm, repeated until it succeeds, sends one email, or at
// most one if a person must check the order.
func TestConfirmUnderFaults(t *testing.T) {
	recipes.UnderFaults(t, []string{"submitEmail"}, func(t *testing.T, p *mockserver.Server) func() {
		s := setupOn(t, p)
		return func() {
			errs := recipes.Repeat(t, func() error { return s.Confirm(t.Context(), "A-17", "ada@example.org") })
			unknown := errors.Is(errors.Join(errs...), client.ErrOutcomeUnknown)
			if n := len(p.Outbox()); n > 1 || n == 0 && !unknown || unknown != (len(s.ToCheck()) == 1) {
				t.Errorf("%d emails after %v, to check: %v", n, errs, s.ToCheck())
			}
		}
	})
}

// TestBounceUnderFaults: an address that bounced hard gets no more email, even if
// lookups or deliveries fail.
func TestBounceUnderFaults(t *testing.T) {
	bounce := func(t *testing.T, p *mockserver.Server) func() {
		s := setupOn(t, p)
		return func() {
			check(t, s.Confirm(t.Context(), "A-17", "bounce+hb@mock.test"))
			check(t, p.Drain(t.Context()))
			if err := s.Confirm(t.Context(), "A-18", "bounce+hb@mock.test"); err == nil {
				t.Error("the second email was sent")
			}
		}
	}
	recipes.UnderFaults(t, []string{"getEmail"}, bounce)
	recipes.UnderDeliveryFaults(t, bounce)
}
