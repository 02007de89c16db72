package client

import (
	"context"
	"errors"
	"fmt"
	"net/http"
	"net/url"
	"slices"
	"strings"

	"example.com/emailplatform/events"
)

// Ensure returns the webhook that subscribes a URL to events, with its secret. Its
// hash function is empty if the platform does not return one. If there is no such
// webhook, Ensure creates it:
//
//	hook, err := c.Webhooks.Ensure(ctx, client.WebhookCreate{URL: url, Events: names})
//
// An existing webhook matches if it is not archived and has the same URL, events and
// rate limit. The order of the events is ignored, and so is the period of the rate
// limit if RateLimitPeriod is empty. If several match, Ensure returns the last one in
// the list. Ensure ignores archived webhooks, because their secrets may be known to
// others.
//
// If another active webhook has the same URL and one of the events, the error is
// [ErrConflict], and Ensure does not create a webhook: the URL would receive such an
// event from both, with different signatures. Webhooks cannot be changed, so archive
// the other one first.
//
// If the platform returns no secret, the error is [ErrInvalidResponse]. An error can
// come with the known fields of the webhook. After [ErrOutcomeUnknown], or if Get
// fails after Create, call Ensure again: it finds the new webhook. Concurrent calls
// can create several webhooks, so call Ensure from one process.
func (s *Webhooks) Ensure(ctx context.Context, webhook WebhookCreate) (Webhook, error) {
	id, err := s.find(ctx, webhook)
	if err != nil {
		return Webhook{}, err
	}
	hook := Webhook{ID: id}
	if id == "" {
		if hook, err = s.Create(ctx, webhook); err != nil {
			return hook, err
		}
	}
	shown, err := s.Get(ctx, hook.ID)
	if err != nil {
		return hook, err
	}
	if shown.Secret == (Secret{}) {
		e := newError(getWebhookRequest(hook.ID), errors.New("secret: is missing"))
		e.StatusCode, e.invalidResponse = http.StatusOK, true
		return shown, e
	}
	return shown, nil
}

// find returns the id of the webhook that is wanted, or "" if there is none.
func (s *Webhooks) find(ctx context.Context, want WebhookCreate) (id string, err error) {
	for hook, err := range s.All(ctx, ListWebhooksParams{}) {
		switch {
		case err != nil:
			return "", err
		case hook.Status == WebhookStatusArchived || !sameURL(hook.URL, want.URL):
		case want.isSetUpAs(hook):
			id = hook.ID
		case slices.ContainsFunc(want.Events, hook.has):
			e := newError(listWebhooksRequest(ListWebhooksParams{}), fmt.Errorf(
				"webhook %.100q has this URL and one of these events, but other events or another rate limit: %w",
				hook.ID, ErrConflict))
			e.StatusCode = http.StatusOK
			return "", e
		}
	}
	return id, nil
}

// isSetUpAs reports whether a webhook is what w would create.
func (w WebhookCreate) isSetUpAs(hook WebhookSummary) bool {
	return w.RateLimit == hook.RateLimit &&
		(w.RateLimit == 0 || w.RateLimitPeriod == "" || w.RateLimitPeriod == hook.RateLimitPeriod) &&
		!slices.ContainsFunc(w.Events, func(e events.Name) bool { return !hook.has(e) }) &&
		!slices.ContainsFunc(hook.Events, func(e events.Name) bool { return !slices.Contains(w.Events, e) })
}

func (w WebhookSummary) has(event events.Name) bool { return slices.Contains(w.Events, event) }

// sameURL reports whether two URLs are written differently at most as a platform
// may write them: the case of the host, and a path of "/" or none.
func sameURL(a, b string) bool { return plainURL(a) == plainURL(b) }

func plainURL(s string) string {
	u, err := url.Parse(s)
	if err != nil {
		return s
	}
	u.Scheme, u.Host = strings.ToLower(u.Scheme), strings.ToLower(u.Host)
	if u.Path == "" {
		u.Path = "/"
	}
	return u.String()
}
