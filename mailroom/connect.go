package mailroom

import (
	"context"
	"errors"
	"net/http"
	"slices"
	"time"

	"example.com/emailplatform/client"
	"example.com/emailplatform/webhook"
)

const (
	retries    = 8 * time.Hour      // how long the platform retries a delivery
	keepEvents = 7 * 24 * time.Hour // how long the store keeps the keys of handled events
	maxExpired = 500                // keys that a transaction deletes
)

// ServeHTTP receives deliveries. Until the webhook exists, the response is 503, so
// the platform retries.
func (r *Room) ServeHTTP(w http.ResponseWriter, req *http.Request) {
	if hook := r.hook.Load(); hook != nil {
		(*hook).ServeHTTP(w, req)
		return
	}
	w.Header().Set("Retry-After", "1")
	http.Error(w, http.StatusText(http.StatusServiceUnavailable), http.StatusServiceUnavailable)
}

// connect finds or creates the list and the webhook, until it succeeds.
func (r *Room) connect(ctx context.Context) {
	for n := 1; ; n++ {
		err := errors.Join(r.findList(ctx), r.subscribe(ctx))
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

func (r *Room) findList(ctx context.Context) error {
	if r.opts.List == "" {
		return nil
	}
	list, err := r.c.Lists.Ensure(ctx, client.ListCreate{Name: r.opts.List})
	if err == nil {
		err = r.c.Lists.AcceptPolicy(ctx, list.ID)
	}
	if err == nil {
		r.listID.Store(list.ID)
	}
	return err
}

// subscribe finds or creates the webhook, and loads the secrets. If the Room has no URL,
// it has no webhook, but still archives the webhooks of earlier releases.
func (r *Room) subscribe(ctx context.Context) error {
	var old []client.WebhookSummary
	var current client.Webhook
	if r.opts.URL != "" {
		var err error
		current, old, err = r.c.Webhooks.Replace(ctx, client.WebhookCreate{URL: r.opts.URL, Events: r.opts.Events})
		if err != nil {
			return err
		}
	}
	err := r.store.Update(ctx, func(ctx context.Context, tx Tx) error { return r.keepHooks(ctx, tx, current.ID, old) })
	if err != nil {
		return err
	}
	r.hookID.Store(current.ID)
	return r.receive(ctx)
}

// keepHooks records when to archive old webhooks, which are the webhooks that the store knows,
// and older webhooks with the same URL.
func (r *Room) keepHooks(ctx context.Context, tx Tx, current string, old []client.WebhookSummary) error {
	known, err := tx.ByRef(ctx, kindHook, hookRef)
	if err != nil {
		return err
	}
	recent := slices.ContainsFunc(known, func(it Item) bool { // the process was only restarted, or another one runs
		return it.Key == storable(current) && time.Until(it.Due) > retries-5*time.Minute
	})
	for _, hook := range old {
		known = append(known, hookItem(hook.ID, r.opts.URL))
	}
	if current != "" {
		known = append(known, hookItem(current, r.opts.URL))
	}
	for _, it := range known {
		it.Due = time.Now().Add(retries)
		if recent && it.Key != storable(current) {
			_, err = tx.Insert(ctx, it)
		} else {
			err = tx.Put(ctx, it)
		}
		if err != nil {
			return err
		}
	}
	return nil
}

// hookRef is the Ref of all webhooks.
const hookRef = "hook"

// hookItem returns the item of a webhook. Its Due is the time at which to archive the
// webhook.
func hookItem(id, url string) Item {
	return Item{Kind: kindHook, Key: storable(id), Ref: hookRef, Value: encode(url)}
}

// receive starts to accept deliveries.
func (r *Room) receive(ctx context.Context) error {
	if r.opts.URL == "" || r.hook.Load() != nil {
		return nil
	}
	verifier, err := webhook.NewVerifierFunc(ctx, r.secrets, webhook.SourceOptions{OnError: func(err error) {
		r.opts.Logger.Warn("mailroom: secrets not refreshed", "error", err)
	}})
	if err != nil {
		return err
	}
	opts := r.opts.Webhook
	opts.Once = NewOnce(r.store, keepEvents)
	hook := webhook.NewHandler(verifier, r.Handle, opts)
	r.hook.Store(&hook)
	return nil
}

// secrets returns the secrets of the webhooks with the URL of the Room, and with the URLs of
// earlier releases, whose deliveries the application may pass to the Room, too.
func (r *Room) secrets(ctx context.Context) (secrets []webhook.Secret, err error) {
	urls, err := r.urls(ctx)
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

// urls returns the URL of the Room and the URLs of earlier releases.
func (r *Room) urls(ctx context.Context) (urls []string, err error) {
	urls = []string{r.opts.URL}
	return urls, r.store.Update(ctx, func(ctx context.Context, tx Tx) error {
		known, err := tx.ByRef(ctx, kindHook, hookRef)
		if err != nil {
			return err
		}
		for _, it := range known {
			url, err := decode[string](it)
			if err != nil {
				return err
			}
			if !slices.Contains(urls, url) {
				urls = append(urls, url)
			}
		}
		return nil
	})
}

// tidy deletes expired keys of events, keeps the webhook of this process, and archives a
// webhook that no process uses.
func (r *Room) tidy(ctx context.Context, _ string) (wait time.Duration, err error) {
	wait = nothing
	err = r.store.Update(ctx, func(ctx context.Context, tx Tx) error {
		expired, err := tx.Due(ctx, kindEvent, time.Now(), maxExpired)
		if len(expired) == maxExpired {
			wait = 0
		}
		for _, it := range expired {
			if err := tx.Delete(ctx, kindEvent, it.Key); err != nil {
				return err
			}
		}
		return err
	})
	if own, ok := r.hookID.Load().(string); ok && err == nil {
		err = r.tidyHooks(ctx, own)
	}
	return wait, err
}

func (r *Room) tidyHooks(ctx context.Context, own string) error {
	gone, old := false, ""
	err := r.store.Update(ctx, func(ctx context.Context, tx Tx) error {
		it, found, err := tx.Get(ctx, kindHook, storable(own))
		if err != nil {
			return err
		}
		if gone = own != "" && !found; found {
			it.Due = time.Now().Add(retries)
			if err := tx.Put(ctx, it); err != nil {
				return err
			}
		}
		due, wait, err := take(ctx, tx, kindHook, "")
		if err != nil || wait != 0 {
			return err
		}
		old = due.Key
		due.Due = time.Now().Add(time.Minute) // another process does not archive it at the same time
		return tx.Put(ctx, due)
	})
	switch {
	case err != nil:
		return err
	case gone: // a process of another release archived it just before this process began to use it
		return r.subscribe(ctx)
	case old != "":
		return r.archive(ctx, old)
	}
	return nil
}

func (r *Room) archive(ctx context.Context, hook string) error {
	if err := r.c.Webhooks.Archive(ctx, hook); err != nil && !errors.Is(err, client.ErrNotFound) {
		r.opts.Logger.WarnContext(ctx, "mailroom: old webhook not archived yet", "webhook", hook, "error", err)
		return nil
	}
	return r.store.Update(ctx, func(ctx context.Context, tx Tx) error { return tx.Delete(ctx, kindHook, hook) })
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
	return nothing, r.store.Update(ctx, func(ctx context.Context, tx Tx) error {
		p, err := peekPause(ctx, tx)
		if err != nil {
			return err
		}
		for _, kind := range []string{kindSend, kindLookup, kindNotice} {
			limit := maxRescheduled
			if kind == kindSend && p.Failures > 0 {
				limit = 1
			}
			due, err := tx.Due(ctx, kind, time.Now().Add(-overdue), limit)
			if err != nil {
				return err
			}
			for _, it := range due {
				if err := tx.Put(ctx, it); err != nil {
					return err
				}
			}
		}
		return nil
	})
}
