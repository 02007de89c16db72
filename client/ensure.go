package client

import (
	"context"
	"errors"
	"fmt"
	"net/http"
	"net/url"
	"slices"
	"strings"
)

// Ensure returns the webhook that subscribes a URL to events, with its secret and
// its hash function, which is empty if the platform shows none. If there is none
// yet, it is created:
//
//	hook, err := c.Webhooks.Ensure(ctx, client.WebhookCreate{URL: url, Events: names})
//
// It is the webhook that is not archived and has this URL, these events in any
// order and this rate limit, per any period if it says none; the last in the list
// if several are. Archived ones are left alone: their secret may be known to
// others. A webhook at the URL that is set up otherwise and has one of the events
// is [ErrConflict], and nothing is created, because each such event would come
// twice, signed differently: webhooks cannot be changed, so archive that one
// first. One without a common event does not matter.
//
// A webhook without a secret is [ErrInvalidResponse]. With an error comes what is known
// of the webhook, most often nothing. After [ErrOutcomeUnknown], or if Get fails
// once it is created, Ensure again finds what was created. Callers that ensure the
// same at the same time may create it more than once: let one process do it.
func (s *Webhooks) Ensure(ctx context.Context, webhook WebhookCreate) (Webhook, error) {
	id, err := s.find(ctx, webhook)
	if err != nil {
		return Webhook{}, err
	}
	hook := Webhook{WebhookID: id}
	if id == "" {
		if hook, err = s.Create(ctx, webhook); err != nil {
			return hook, err
		}
	}
	shown, err := s.Get(ctx, hook.WebhookID)
	if err != nil {
		return hook, err
	}
	if shown.Secret == (Secret{}) {
		e := newError(getWebhookRequest(hook.WebhookID), errors.New("secret: is missing"))
		e.StatusCode, e.invalidResponse = http.StatusOK, true
		return shown, e
	}
	return shown, nil
}

// find returns the id of the webhook that is wanted, or "" if there is none.
func (s *Webhooks) find(ctx context.Context, want WebhookCreate) (id string, err error) {
	for hook, err := range s.All(ctx, ListWebhooksParams{PerPage: maxPerPage}) {
		switch {
		case err != nil:
			return "", err
		case hook.Status == WebhookArchived || !sameURL(hook.URL, want.URL):
		case want.isSetUpAs(hook):
			id = hook.WebhookID
		case slices.ContainsFunc(want.Events, hook.has):
			e := newError(listWebhooksRequest(ListWebhooksParams{}), fmt.Errorf(
				"webhook %.100q has this URL and one of these events, but other events or another rate limit: %w",
				hook.WebhookID, ErrConflict))
			e.StatusCode = http.StatusOK
			return "", e
		}
	}
	return id, nil
}

// isSetUpAs reports whether a webhook is what w would create.
func (w WebhookCreate) isSetUpAs(hook WebhookSummary) bool {
	wanted := func(name string) bool { return slices.Contains(w.Events, EventName(name)) }
	return w.RateLimit == hook.RateLimit &&
		(w.RateLimit == 0 || w.RateLimitPeriod == "" || string(w.RateLimitPeriod) == hook.RateLimitPeriod) &&
		!slices.ContainsFunc(w.Events, func(e EventName) bool { return !hook.has(e) }) &&
		!slices.ContainsFunc(hook.Events, func(name string) bool { return !wanted(name) })
}

func (w WebhookSummary) has(event EventName) bool { return slices.Contains(w.Events, string(event)) }

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
