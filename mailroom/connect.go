package mailroom

import (
	"context"
	"errors"
	"fmt"
	"net/http"
	"slices"
	"time"

	"example.com/emailplatform/client"
	"example.com/emailplatform/webhook"
)

const (
	keepHook   = 8 * 60             // minutes, because the platform retries a delivery for 8 hours
	keepEvents = 7 * 24 * time.Hour // how long the store keeps the keys of handled events
	maxExpired = 500                // keys that a transaction deletes
)

// hook is the value of an item of the kind "hook". A process that uses the webhook sets
// Minutes to keepHook, and the other processes reduce it every minute. At 0, they archive
// the webhook. The time without any process does not count, because the platform may still
// have to deliver the events of this time.
type hook struct {
	URL     string `json:"url"`
	Minutes int    `json:"minutes"`
}

const hookRef = "hook" // the Ref of all webhooks

// ServeHTTP receives deliveries. Until the Room has connected, the response is 503, so
// the platform retries.
func (r *Room) ServeHTTP(w http.ResponseWriter, req *http.Request) {
	select {
	case <-r.connected:
		if r.hook != nil {
			r.hook.ServeHTTP(w, req)
			return
		}
	default:
	}
	w.Header().Set("Retry-After", "1")
	http.Error(w, http.StatusText(http.StatusServiceUnavailable), http.StatusServiceUnavailable)
}

// connect finds or creates the list and the webhook, until it succeeds.
func (r *Room) connect(ctx context.Context) {
	for n := 1; ; n++ {
		err := errors.Join(r.checkForm(ctx), r.findList(ctx), r.subscribe(ctx))
		if err == nil {
			close(r.connected)
			return
		}
		if ctx.Err() == nil {
			r.opts.Logger.WarnContext(ctx, "mailroom: not connected yet", "error", err)
		}
		select {
		case <-ctx.Done():
			return
		case <-time.After(doubled(time.Second, n, time.Minute)):
		}
	}
}

// checkForm returns an error if the store contains emails in the old form.
func (r *Room) checkForm(ctx context.Context) error {
	return r.update(ctx, func(s *state) {
		always := time.Now().AddDate(1000, 0, 0)
		old := append(s.due(kindTimer, always, 1), s.byRef(kindTimer, unknownRef)...)
		for _, it := range s.due(kindSend, always, 100) {
			if m, _ := decode[mail](it); m.State != "" {
				old = append(old, it)
			}
		}
		if s.err == nil && len(old) > 0 {
			s.err = fmt.Errorf("%w: key %q", errOldForm, old[0].Key)
		}
	})
}

func (r *Room) findList(ctx context.Context) error {
	if r.opts.List == "" {
		return nil
	}
	list, err := r.c.Lists.Ensure(ctx, client.ListCreate{Name: r.opts.List})
	if err != nil {
		return err
	}
	r.listID = list.ID
	return r.c.Lists.AcceptPolicy(ctx, list.ID)
}

// subscribe finds or creates the webhook, and loads the secrets. It stores the older
// webhooks with the same URL, so that tidy archives them.
func (r *Room) subscribe(ctx context.Context) error {
	if r.opts.URL == "" {
		return nil
	}
	current, old, err := r.c.Webhooks.Replace(ctx, client.WebhookCreate{URL: r.opts.URL, Events: r.opts.Events})
	if err != nil {
		return err
	}
	err = r.update(ctx, func(s *state) {
		for _, h := range old {
			s.getOrInsert(s.hookItem(h.ID))
		}
		s.put(s.hookItem(current.ID))
	})
	if r.hookID = current.ID; err != nil || r.hook != nil {
		return err
	}
	verifier, err := webhook.NewVerifierFunc(ctx, r.secrets, webhook.SourceOptions{OnError: func(err error) {
		r.opts.Logger.Warn("mailroom: secrets not refreshed", "error", err)
	}})
	if err != nil {
		return err
	}
	opts := r.opts.Webhook
	opts.Once = NewOnce(r.store, keepEvents)
	r.hook = webhook.NewHandler(verifier, r.Handle, opts)
	return nil
}

// hookItem returns the item of a webhook that a process uses.
func (r *Room) hookItem(id string) Item {
	return Item{
		Kind: kindHook, Key: storable(id), Ref: hookRef, Due: time.Now().Add(time.Minute), Value: encode(hook{r.opts.URL, keepHook}),
	}
}

// secrets returns the secrets of the webhooks with the URL of the Room, and with the URLs of
// earlier releases, whose deliveries the application may pass to the Room, too.
func (r *Room) secrets(ctx context.Context) (secrets []webhook.Secret, err error) {
	urls := []string{r.opts.URL}
	err = r.update(ctx, func(s *state) {
		for _, it := range s.byRef(kindHook, hookRef) {
			if url := read[hook](s, it).URL; !slices.Contains(urls, url) {
				urls = append(urls, url)
			}
		}
	})
	if err != nil {
		return nil, err
	}
	for _, url := range urls {
		hooks, err := r.c.Webhooks.Active(ctx, url)
		if err != nil && (url == r.opts.URL || !errors.Is(err, client.ErrNotFound)) {
			return nil, err
		}
		for _, h := range hooks {
			secret, err := webhook.ParseSecret(h.Secret.Reveal(), h.HashFunction)
			if err != nil {
				return nil, err
			}
			secrets = append(secrets, secret)
		}
	}
	return secrets, nil
}

// tidy deletes expired keys of events, keeps the webhook of this process, and archives a
// webhook that no process uses.
func (r *Room) tidy(ctx context.Context, _ string) (wait time.Duration, err error) {
	var expired []Item
	gone, unused := false, ""
	err = r.update(ctx, func(s *state) {
		expired = s.due(kindEvent, time.Now(), maxExpired)
		for _, it := range expired {
			s.delete(kindEvent, it.Key)
		}
		if r.hookID == "" {
			return
		}
		if _, found := s.get(kindHook, storable(r.hookID)); found {
			s.put(r.hookItem(r.hookID))
		} else { // a process of another release archived it just before this process began to use it
			gone = true
		}
	})
	if err == nil && gone {
		err = r.subscribe(ctx)
	}
	if err != nil {
		return 0, err
	}
	wait, err = take(ctx, r, kindHook, "", func(s *state, it Item, h hook) time.Duration {
		if h.Minutes--; h.Minutes <= 0 {
			unused = it.Key
		}
		it.Due, it.Value = time.Now().Add(time.Minute), encode(h)
		s.put(it)
		return 0
	})
	if err == nil && unused != "" {
		err = r.archive(ctx, unused)
	}
	if len(expired) == maxExpired {
		wait = 0
	}
	return wait, err
}

func (r *Room) archive(ctx context.Context, hook string) error {
	if err := r.c.Webhooks.Archive(ctx, hook); err != nil && !errors.Is(err, client.ErrNotFound) {
		r.opts.Logger.WarnContext(ctx, "mailroom: old webhook not archived yet", "webhook", hook, "error", err)
		return nil
	}
	return r.update(ctx, func(s *state) { s.delete(kindHook, hook) })
}

const (
	overdue        = 15 * time.Minute
	maxRescheduled = 1000
)

// reschedule stores overdue items again, so that an external queue gets jobs for them. It
// does not change their times, because the order of the items and the alerts depend on
// them. While sending is paused, only one worker can send, so reschedule stores only one
// email.
func (r *Room) reschedule(ctx context.Context, _ string) (wait time.Duration, err error) {
	return nothing, r.update(ctx, func(s *state) {
		for _, kind := range workKinds() {
			limit := maxRescheduled
			if kind == kindSend && s.peekPause().Failures > 0 {
				limit = 1
			}
			for _, it := range s.due(kind, time.Now().Add(-overdue), limit) {
				s.put(it)
			}
		}
	})
}
