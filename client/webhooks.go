package client

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"log/slog"
	"net/url"
	"slices"
	"strings"
	"unicode/utf8"

	"example.com/emailplatform/events"
)

// WebhookStatus is the status of a webhook. The platform may add new statuses.
type WebhookStatus string

// The known values of [WebhookStatus].
const (
	WebhookStatusActive   WebhookStatus = "active"
	WebhookStatusArchived WebhookStatus = "archived"
)

// Format implements [fmt.Formatter]. Without it, verbs such as %s would print the secret
// if the argument is a pointer to a Webhook.
func (w Webhook) Format(f fmt.State, verb rune) {
	type plain Webhook
	_, _ = fmt.Fprintf(f, fmt.FormatString(f, verb), plain(w))
}

// Webhooks manages webhooks, which deliver events to a URL. You can archive a
// webhook, but not delete it. (Specification: Webhooks.)
type Webhooks struct {
	handler handler
	logger  *slog.Logger
}

// Ensure subscribes a URL to events, and returns a webhook with its secret. If no existing
// webhook matches, Ensure creates a webhook with the given settings:
//
//	hook, err := c.Webhooks.Ensure(ctx, client.WebhookCreate{URL: url, Events: names})
//
// An existing webhook matches if it is not archived and has the same URL, events and
// rate limit. Ensure ignores the order of the events. If RateLimitPeriod is empty,
// any rate limit period matches. If several webhooks match, Ensure returns the first
// in the list.
//
// Several processes can call Ensure at the same time. After Ensure has created a webhook,
// it lists the webhooks again. If another process created a matching webhook earlier,
// Ensure archives its own webhook and returns the earlier one. All processes therefore
// get the same webhook, provided that the platform lists webhooks in creation order.
//
// The API cannot change a webhook. If a release of your program changes the events or the
// rate limit, Ensure therefore creates a new webhook. Ensure keeps the old webhook, because
// processes of the old release still use it, and need it again after a rollback.
//
// Until you archive the old webhook, both webhooks deliver each event that both subscribe
// to, signed with different secrets. So the receiver must accept the secrets of all webhooks
// that [Webhooks.Active] returns, and must deduplicate the events.
//
// When the last process of the old release has ended, wait 8 hours, and then archive the
// old webhook. The wait is necessary because the platform retries deliveries for more than
// 7 hours (see "Webhook retry schedule" in docs/production.md). To remind you, each call to
// Ensure logs the old webhooks. To get the old webhooks as a result, call
// [Webhooks.Replace] instead of Ensure.
//
// If a request fails, even with [ErrOutcomeUnknown], call Ensure again. This is safe,
// because the second call finds the webhook if the first call has created it.
//
// The error is [ErrInvalidResponse] in two cases:
//
//   - The platform returns the webhook without its secret, so the receiver could not verify
//     the deliveries.
//   - Ensure has created a webhook, but in the platform's list this webhook has another URL,
//     other events or another rate limit than Ensure requested. The receiver would get other
//     deliveries than you expect, and the next call would create another webhook.
//
// With any error, the returned webhook can contain the fields that are already known, for
// example the id. A missing hash function is not an error: [Webhook.HashFunction] is then
// empty.
func (s *Webhooks) Ensure(ctx context.Context, webhook WebhookCreate) (Webhook, error) {
	current, old, err := s.Replace(ctx, webhook)
	for _, hook := range old {
		cmp.Or(s.logger, slog.Default()).WarnContext(ctx, "webhook replaced: archive it 8 hours after the last process of the old release has ended",
			"webhook", hook.ID, "successor", current.ID)
	}
	return current, err
}

// Replace is like [Webhooks.Ensure], but returns the old webhooks instead of logging them,
// so your program can archive them. A webhook is old if it is not archived, has the same
// URL and at least one of the events, and precedes the current webhook in the list. If the
// platform lists webhooks in creation order, the old webhooks therefore come from earlier
// releases of your program.
//
// Do not archive an old webhook while a process of its release runs. Otherwise, this
// process creates the webhook again when it next calls Replace. The recreated webhook is
// the last in the list, so this process then treats the webhooks of later releases as old.
func (s *Webhooks) Replace(ctx context.Context, webhook WebhookCreate) (current Webhook, old []WebhookSummary, err error) {
	return s.ensure(ctx, webhook, "")
}

// Rotate creates a successor to a webhook, with the same URL, events and rate limit
// but a new secret. Rotate returns both webhooks with their secrets.
//
// Before you call Rotate, configure the receiver to accept the secrets of all webhooks
// that [Webhooks.Active] returns. It then also accepts the secret of the new webhook.
// Until you archive the old webhook, both webhooks deliver each event, so the receiver
// must deduplicate. Wait 8 hours after Rotate before you call [Webhooks.Archive], because
// the old webhook retries deliveries for more than 7 hours (see "Webhook retry schedule"
// in docs/production.md).
//
// If the webhook already has a successor, Rotate returns this successor. So you can call
// Rotate again after an error, or from several processes. If the webhook is archived, the
// error is [ErrConflict].
func (s *Webhooks) Rotate(ctx context.Context, webhookID string) (old, successor Webhook, err error) {
	if old, err = s.withSecret(ctx, Webhook{ID: webhookID}); err != nil {
		return old, Webhook{}, err
	}
	if old.Status == WebhookStatusArchived {
		return old, Webhook{}, newErrorAfterSuccess(getWebhookRequest(webhookID), fmt.Errorf("the webhook is archived: %w", ErrConflict))
	}
	successor, _, err = s.ensure(ctx, WebhookCreate{
		URL: old.URL, Events: old.Events, RateLimit: old.RateLimit, RateLimitPeriod: old.RateLimitPeriod,
	}, old.ID)
	return old, successor, err
}

// Active returns the webhooks that have the given URL and are not archived, with their
// secrets and in list order. Usually there is one webhook. During a rotation or after a
// change of the events, there are several such webhooks, because [Webhooks.Rotate] and
// [Webhooks.Ensure] keep the old webhook when they create a new one. If there is no
// webhook, the error is [ErrNotFound].
func (s *Webhooks) Active(ctx context.Context, url string) (active []Webhook, err error) {
	if !utf8.ValidString(url) {
		return nil, newBadRequest(listWebhooksRequest(ListWebhooksParams{}), errors.New("url must be valid UTF-8"))
	}
	for hook, err := range s.All(ctx, ListWebhooksParams{}) {
		if err != nil {
			return nil, err
		}
		if hook.Status == WebhookStatusArchived || !sameURL(hook.URL, url) {
			continue
		}
		shown, err := s.withSecret(ctx, Webhook{ID: hook.ID})
		if err != nil {
			return nil, err
		}
		active = append(active, shown)
	}
	if active == nil {
		noneActive := fmt.Errorf("no active webhook has this URL: %w", ErrNotFound)
		return nil, newErrorAfterSuccess(listWebhooksRequest(ListWebhooksParams{}), noneActive)
	}
	return active, nil
}

// ensure implements Replace. If the parameter after is not "", ensure ignores the webhook
// with this id and all webhooks before it.
func (s *Webhooks) ensure(ctx context.Context, want WebhookCreate, after string) (Webhook, []WebhookSummary, error) {
	id, old, err := s.find(ctx, want, after, "")
	if err != nil {
		return Webhook{}, nil, err
	}
	own := Webhook{ID: id}
	if id == "" {
		if own, err = s.Create(ctx, want); err != nil {
			return own, nil, err
		}
		if id, old, err = s.find(ctx, want, after, own.ID); err != nil {
			return own, nil, err
		}
		if id != own.ID && id != "" {
			if err := s.Archive(ctx, own.ID); err != nil {
				return own, nil, err
			}
			own = Webhook{ID: id}
		}
	}
	own, err = s.withSecret(ctx, own)
	return own, old, err
}

// withSecret may return a webhook together with an error.
func (s *Webhooks) withSecret(ctx context.Context, hook Webhook) (Webhook, error) {
	shown, err := s.Get(ctx, hook.ID)
	if err != nil {
		return hook, err
	}
	if shown.Secret == (Secret{}) {
		e := newErrorAfterSuccess(getWebhookRequest(hook.ID), errors.New("missing secret"))
		e.result = unreadable
		return shown, e
	}
	return shown, nil
}

// find searches the platform's list for webhooks with the URL of want that are not archived. It
// returns the id of the first webhook that also has the events and the rate limit of want, or ""
// if there is none. It also returns the old webhooks, which deliver at least one of the events.
// They precede the returned webhook in the list, or, if there is none, can be anywhere in the
// list.
//
// During a rotation, the parameter after is the id of the webhook to replace. Its successor follows it in the
// list, so find returns the id of neither this webhook nor an earlier one.
//
// If the caller has already created a webhook, the parameter own is the id of this webhook. If another process
// created a webhook with the same values earlier, find returns that webhook, because it precedes the caller's
// webhook in the list. If the platform has changed the URL, the events or the rate limit of the caller's
// webhook, find returns an error.
func (s *Webhooks) find(ctx context.Context, want WebhookCreate, after, own string) (id string, old []WebhookSummary, err error) {
	for hook, err := range s.All(ctx, ListWebhooksParams{}) {
		switch {
		case err != nil:
			return "", nil, err
		case hook.Status == WebhookStatusArchived || hook.ID != own && !sameURL(hook.URL, want.URL):
		case want.isSetUpAs(hook) && sameURL(hook.URL, want.URL) && (after == "" || hook.ID == own):
			return hook.ID, old, nil
		case hook.ID == own:
			e := newErrorAfterSuccess(listWebhooksRequest(ListWebhooksParams{}),
				fmt.Errorf("webhook %.100q has another URL, other events or another rate limit than requested", hook.ID))
			e.result = unreadable
			return "", nil, e
		case slices.ContainsFunc(want.Events, hook.has):
			old = append(old, hook)
		}
		if hook.ID == after {
			after = ""
		}
	}
	return "", old, nil
}

func (w WebhookCreate) isSetUpAs(hook WebhookSummary) bool {
	return w.RateLimit == hook.RateLimit &&
		(w.RateLimit == 0 || w.RateLimitPeriod == "" || w.RateLimitPeriod == hook.RateLimitPeriod) &&
		!slices.ContainsFunc(w.Events, func(e events.Name) bool { return !hook.has(e) }) &&
		!slices.ContainsFunc(hook.Events, func(e events.Name) bool { return !slices.Contains(w.Events, e) })
}

func (w WebhookSummary) has(event events.Name) bool { return slices.Contains(w.Events, event) }

// sameURL reports whether two URLs are equivalent. A platform may normalize URLs, so
// sameURL ignores the letter case of the host and the default port, and treats an empty
// path as "/".
func sameURL(a, b string) bool { return plainURL(a) == plainURL(b) }

func plainURL(s string) string {
	u, err := url.Parse(s)
	if err != nil {
		return s
	}
	u.Scheme = strings.ToLower(u.Scheme)
	port := map[string]string{"http": ":80", "https": ":443"}[u.Scheme]
	u.Host = strings.TrimSuffix(strings.ToLower(u.Host), port)
	if u.Path == "" {
		u.Path = "/"
	}
	return u.String()
}
