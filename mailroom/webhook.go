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
	archiveAfterMinutes = 8 * 60             // because the platform retries deliveries for more than 7 hours
	eventRetention      = 7 * 24 * time.Hour // how long the store keeps the keys of handled events
)

// hookValue is the value of an item of the kind "hook", which represents a webhook. The Room
// archives a webhook that no process has used for archiveAfterMinutes. MinutesLeft is the time
// that remains until then. Every minute, each process that uses the webhook sets MinutesLeft to
// archiveAfterMinutes again. If none uses it, another process subtracts 1 every minute, and
// archives the webhook at 0. If no process runs at all, MinutesLeft does not change. Therefore,
// the webhook remains, and the platform can later retry the deliveries that failed while no
// process ran.
type hookValue struct {
	ID          string `json:"id"`
	URL         string `json:"url"`
	MinutesLeft int    `json:"minutes_left"`
}

const hookRef = "hook" // the Ref of all webhooks

// ServeHTTP receives deliveries. Until the Room has connected, the response is 503, so
// the platform retries.
func (r *Room) ServeHTTP(w http.ResponseWriter, req *http.Request) {
	select {
	case <-r.connected:
		if r.webhookHandler != nil {
			r.webhookHandler.ServeHTTP(w, req)
			return
		}
	default:
	}
	w.Header().Set("Retry-After", "1")
	http.Error(w, http.StatusText(http.StatusServiceUnavailable), http.StatusServiceUnavailable)
}

// ensureWebhook finds or creates the webhook, and loads the secrets. It stores the older
// webhooks with the same URL, because archiveUnusedWebhook must archive them later.
func (r *Room) ensureWebhook(ctx context.Context) error {
	if r.opts.URL == "" {
		return nil
	}
	current, old, err := r.c.Webhooks.Replace(ctx, client.WebhookCreate{URL: r.opts.URL, Events: r.opts.Events})
	if err != nil {
		return err
	}
	err = r.update(ctx, func(s *storeTx) {
		for _, h := range old {
			s.getOrInsert(s.room.hookItem(h.ID))
		}
		s.put(s.room.hookItem(current.ID))
	})
	if r.webhookID = current.ID; err != nil || r.webhookHandler != nil {
		return err
	}
	verifier, err := webhook.NewVerifierFunc(ctx, r.secrets, webhook.SourceOptions{OnError: func(err error) {
		r.opts.Logger.Warn("mailroom: secrets not refreshed", "error", err)
	}})
	if err != nil {
		return err
	}
	opts := r.opts.Webhook
	opts.Once = &once{store: r.store, keep: eventRetention} // cleanUp deletes the expired keys
	r.webhookHandler = webhook.NewHandler(verifier, r.Handle, opts)
	return nil
}

// hookItem returns the item of a webhook that a process uses.
func (r *Room) hookItem(id string) Item {
	return Item{
		Kind: kindHook, Key: storable(id), Ref: hookRef, Due: time.Now().Add(time.Minute), Value: encode(hookValue{id, r.opts.URL, archiveAfterMinutes}),
	}
}

// secrets returns the secrets of the webhooks that are not archived and have the URL of the Room
// or the URL of an earlier release. The application may pass deliveries for an earlier URL to the
// Room too.
func (r *Room) secrets(ctx context.Context) (secrets []webhook.Secret, err error) {
	urls := []string{r.opts.URL}
	err = r.update(ctx, func(s *storeTx) {
		for _, it := range s.byRef(kindHook, hookRef) {
			if url := valueOf[hookValue](s, it).URL; !slices.Contains(urls, url) {
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

// keepWebhook records that this process uses its webhook. Otherwise, another process would
// archive it.
func (r *Room) keepWebhook(ctx context.Context) error {
	if r.webhookID == "" {
		return nil
	}
	found := false
	err := r.update(ctx, func(s *storeTx) {
		if _, found = s.get(kindHook, storable(r.webhookID)); found {
			s.put(r.hookItem(r.webhookID))
		}
	})
	if err == nil && !found { // a process of another release archived it just before this process began to use it
		err = r.ensureWebhook(ctx)
	}
	return err
}

// archiveUnusedWebhook reduces MinutesLeft of a webhook that no process has used for a minute. At
// 0, it archives the webhook; see hookValue.
func (r *Room) archiveUnusedWebhook(ctx context.Context) (wait time.Duration, err error) {
	unused := ""
	wait, err = withDueItem(ctx, r, kindHook, "", func(s *storeTx, it Item, h hookValue) time.Duration {
		if h.MinutesLeft--; h.MinutesLeft <= 0 {
			unused = h.ID
		}
		it.Due, it.Value = time.Now().Add(time.Minute), encode(h)
		s.put(it)
		return 0
	})
	if err == nil && unused != "" {
		err = r.archiveWebhook(ctx, unused)
	}
	return wait, err
}

func (r *Room) archiveWebhook(ctx context.Context, id string) error {
	if err := r.c.Webhooks.Archive(ctx, id); err != nil && !errors.Is(err, client.ErrNotFound) {
		r.opts.Logger.WarnContext(ctx, "mailroom: old webhook not archived yet", "webhook", id, "error", err)
		return nil
	}
	return r.update(ctx, func(s *storeTx) { s.delete(kindHook, storable(id)) })
}
