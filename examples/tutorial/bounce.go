package main

import (
	"context"
	"net/http"
	"strings"

	"example.com/emailplatform/client"
	"example.com/emailplatform/events"
	"example.com/emailplatform/webhook"
)

// subscribe creates the webhook, unless it exists, and returns its handler.
func (s *shop) subscribe(ctx context.Context, url string) (http.Handler, error) {
	hook, err := s.platform.Webhooks.Ensure(ctx, client.WebhookCreate{
		URL:    url,
		Events: []events.Name{events.NameEmailBounced},
		// The handler looks up each bounce, and the platform allows one lookup per second.
		RateLimit:       1,
		RateLimitPeriod: client.RateLimitPeriodSecond,
	})
	if err != nil {
		return nil, err
	}
	secret, err := webhook.ParseSecret(hook.Secret.Reveal(), hook.HashFunction)
	if err != nil {
		return nil, err
	}
	verifier, err := webhook.NewVerifier(secret)
	if err != nil {
		return nil, err
	}
	return webhook.NewHandler(verifier, s.handle, webhook.Options{}), nil
}

// handle blocks an address after a hard bounce. It looks up the email, because the
// event does not contain the reason of the bounce.
func (s *shop) handle(ctx context.Context, ev *events.Event) error {
	bounce, ok := ev.Data.(*events.EmailAPIBounce)
	if !ok {
		return nil
	}
	email, err := s.platform.Emails.Get(ctx, bounce.Email.ID)
	if err != nil {
		return err // the platform delivers the event again
	}
	if email.Bounce != nil && email.Bounce.Hard() {
		s.bounced.Store(strings.ToLower(email.To), true)
	}
	return nil
}
