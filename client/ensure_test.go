package client_test

import (
	"errors"
	"strings"
	"testing"
	"testing/synctest"

	"example.com/emailplatform/client"
	"example.com/emailplatform/mockserver"
)

func subscription(events ...client.EventName) client.WebhookCreate {
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
				t.Fatalf("got %v with hash function %q, %v", hook.WebhookID, hook.HashFunction, err)
			}
			return hook
		}
		count := func() int { return size(p, c.Webhooks.All(ctx, client.ListWebhooksParams{})) }

		first := ensure(subscription(client.EventNameEmailBounced, client.EventNameEmailClicked))
		turned := subscription(client.EventNameEmailClicked, client.EventNameEmailBounced)
		turned.URL = "HTTP://Hooks.test/ensured"
		if again := ensure(turned); again.WebhookID != first.WebhookID || count() != 1 {
			t.Errorf("the same in other words: got %v, want %v", again.WebhookID, first.WebhookID)
		}
		if other := ensure(subscription(client.EventNameCampaignSent)); other.WebhookID == first.WebhookID || count() != 2 {
			t.Error("one without a common event is in the way")
		}
		for name, w := range map[string]client.WebhookCreate{
			"one event more": subscription(client.EventNameEmailBounced, client.EventNameEmailClicked, client.EventNameEmailOpened),
			"one event less": subscription(client.EventNameEmailBounced),
			"a rate limit": {
				URL: first.URL, Events: turned.Events, RateLimit: 5, RateLimitPeriod: client.RateLimitPeriodMinute,
			},
		} {
			_, err := c.Webhooks.Ensure(ctx, w)
			if !errors.Is(err, client.ErrConflict) || !strings.Contains(err.Error(), first.WebhookID) || count() != 2 {
				t.Errorf("%s: got %v", name, err)
			}
		}
		if err := c.Webhooks.Archive(ctx, first.WebhookID); err != nil {
			t.Fatal(err)
		}
		if next := ensure(turned); next.WebhookID == first.WebhookID || count() != 3 {
			t.Error("an archived one came back")
		}
		limited := client.WebhookCreate{URL: "http://hooks.test/", Events: turned.Events, RateLimit: 5}
		if a, b := ensure(limited), ensure(limited); a.WebhookID != b.WebhookID {
			t.Error("a rate limit without a period: created twice")
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
		want := subscription(client.EventNameEmailBounced)
		if _, err := c.Webhooks.Ensure(ctx, want); !errors.Is(err, client.ErrOutcomeUnknown) {
			t.Fatalf("got %v", err)
		}
		hook, err := c.Webhooks.Ensure(ctx, want)
		if n := size(p, c.Webhooks.All(ctx, client.ListWebhooksParams{})); err != nil || hook.Secret.Reveal() == "" || n != 1 {
			t.Errorf("got %v, %v and %d webhooks", hook.WebhookID, err, n)
		}
	})
}
