package client_test

import (
	"errors"
	"slices"
	"strings"
	"testing"
	"testing/synctest"

	"example.com/emailplatform/client"
	"example.com/emailplatform/events"
	"example.com/emailplatform/mockserver"
)

func subscription(events ...events.Name) client.WebhookCreate {
	return client.WebhookCreate{URL: "http://hooks.test/ensured", Events: events}
}

// TestEnsureWebhook names each promise of Webhooks.Ensure.
func TestEnsureWebhook(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		p := newPlatform(t)
		defer p.Close()
		c, ctx := p.clean, t.Context()
		ensure := func(w client.WebhookCreate) client.Webhook {
			t.Helper()
			hook, err := c.Webhooks.Ensure(ctx, w)
			if err != nil || hook.Secret.Reveal() == "" || hook.HashFunction != "sha256" {
				t.Fatalf("got %v with hash function %q, %v", hook.ID, hook.HashFunction, err)
			}
			return hook
		}
		count := func() int { return size(p, c.Webhooks.All(ctx, client.ListWebhooksParams{})) }

		first := ensure(subscription(events.NameEmailBounced, events.NameEmailClicked))
		turned := subscription(events.NameEmailClicked, events.NameEmailBounced)
		turned.URL = "HTTP://Hooks.test/ensured"
		if again := ensure(turned); again.ID != first.ID || count() != 1 {
			t.Errorf("the same in other words: got %v, want %v", again.ID, first.ID)
		}
		if other := ensure(subscription(events.NameCampaignSent)); other.ID == first.ID || count() != 2 {
			t.Error("one without a common event is in the way")
		}
		for name, w := range map[string]client.WebhookCreate{
			"one event more": subscription(events.NameEmailBounced, events.NameEmailClicked, events.NameEmailOpened),
			"one event less": subscription(events.NameEmailBounced),
			"a rate limit": {
				URL: first.URL, Events: turned.Events, RateLimit: 5, RateLimitPeriod: client.RateLimitPeriodMinute,
			},
		} {
			_, err := c.Webhooks.Ensure(ctx, w)
			if !errors.Is(err, client.ErrConflict) || !strings.Contains(err.Error(), first.ID) || count() != 2 {
				t.Errorf("%s: got %v", name, err)
			}
		}
		if err := c.Webhooks.Archive(ctx, first.ID); err != nil {
			t.Fatal(err)
		}
		if next := ensure(turned); next.ID == first.ID || count() != 3 {
			t.Error("an archived one came back")
		}
		limited := client.WebhookCreate{URL: "http://hooks.test/", Events: turned.Events, RateLimit: 5}
		if a, b := ensure(limited), ensure(limited); a.ID != b.ID {
			t.Error("a rate limit without a period: created twice")
		}
	})
}

// TestWebhookRotation: what Get returned can be sent to Create, without conversions.
func TestWebhookRotation(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		p := newPlatform(t)
		defer p.Close()
		c, ctx := p.clean, t.Context()
		created, err := c.Webhooks.Create(ctx, client.WebhookCreate{
			URL: "http://hooks.test/rotated", Events: []events.Name{events.NameEmailBounced, events.NameEmailOpened},
			RateLimit: 5, RateLimitPeriod: client.RateLimitPeriodMinute,
		})
		if err != nil {
			t.Fatal(err)
		}
		old, err := c.Webhooks.Get(ctx, created.ID)
		if err != nil {
			t.Fatal(err)
		}
		next, err := c.Webhooks.Create(ctx, client.WebhookCreate{
			URL: old.URL, Events: old.Events, RateLimit: old.RateLimit, RateLimitPeriod: old.RateLimitPeriod,
		})
		if err != nil || !slices.Equal(next.Events, created.Events) ||
			next.RateLimitPeriod != client.RateLimitPeriodMinute || next.Status != client.WebhookStatusActive {
			t.Errorf("got %+v, %v; want a webhook like %+v", next, err, created)
		}
	})
}

// TestEnsureAfterALostAnswer proves that Ensure again finds what was created.
func TestEnsureAfterALostAnswer(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		p := newPlatform(t)
		defer p.Close()
		c, ctx := p.clean, t.Context()
		lost := mockserver.Fault{Operation: "createWebhook", Times: 1, Action: mockserver.FaultReset, AfterProcessing: true}
		if _, err := p.Inject(lost); err != nil {
			t.Fatal(err)
		}
		want := subscription(events.NameEmailBounced)
		if _, err := c.Webhooks.Ensure(ctx, want); !errors.Is(err, client.ErrOutcomeUnknown) {
			t.Fatalf("got %v", err)
		}
		hook, err := c.Webhooks.Ensure(ctx, want)
		if n := size(p, c.Webhooks.All(ctx, client.ListWebhooksParams{})); err != nil || hook.Secret.Reveal() == "" || n != 1 {
			t.Errorf("got %v, %v and %d webhooks", hook.ID, err, n)
		}
	})
}
