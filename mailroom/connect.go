package mailroom

import (
	"context"
	"errors"
	"net/http"
	"time"

	"example.com/emailplatform/client"
	"example.com/emailplatform/webhook"
)

// retries is how long the platform retries a delivery.
const retries = 8 * time.Hour

// ServeHTTP receives deliveries. Until the Room has connected, the response is 503, so
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

// subscribe finds or creates the webhook, loads the secrets, and schedules the archiving
// of old webhooks.
func (r *Room) subscribe(ctx context.Context) error {
	if r.opts.URL == "" {
		return nil
	}
	current, old, err := r.c.Webhooks.Replace(ctx, client.WebhookCreate{URL: r.opts.URL, Events: r.opts.Events})
	if err != nil {
		return err
	}
	if err := r.receive(ctx); err != nil {
		return err
	}
	return r.store.Update(ctx, func(ctx context.Context, tx Tx) error {
		for _, hook := range old {
			if _, err := tx.Insert(ctx, Item{Kind: kindArchive, Key: hook.ID, Due: time.Now().Add(retries)}); err != nil {
				return err
			}
		}
		return tx.Delete(ctx, kindArchive, current.ID) // after a rollback to an earlier release
	})
}

// receive starts to accept deliveries.
func (r *Room) receive(ctx context.Context) error {
	if r.hook.Load() != nil {
		return nil
	}
	verifier, err := webhook.NewVerifierFunc(ctx, r.secrets, webhook.SourceOptions{OnError: func(err error) {
		r.opts.Logger.Warn("mailroom: secrets not refreshed", "error", err)
	}})
	if err != nil {
		return err
	}
	opts := r.opts.Webhook
	opts.Once = NewOnce(r.store, r.opts.KeepEvents)
	hook := webhook.NewHandler(verifier, r.Handle, opts)
	r.hook.Store(&hook)
	return nil
}

func (r *Room) secrets(ctx context.Context) (secrets []webhook.Secret, err error) {
	hooks, err := r.c.Webhooks.Active(ctx, r.opts.URL)
	for _, h := range hooks {
		secret, err := webhook.ParseSecret(h.Secret.Reveal(), h.HashFunction)
		if err != nil {
			return nil, err
		}
		secrets = append(secrets, secret)
	}
	return secrets, err
}

// tidy deletes expired keys of events, and archives an old webhook.
func (r *Room) tidy(ctx context.Context) (did bool, err error) {
	var hook string
	err = r.store.Update(ctx, func(ctx context.Context, tx Tx) error {
		n, err := tx.Expire(ctx, kindEvent, time.Now())
		if err != nil {
			return err
		}
		did = n > 0
		due, err := tx.Due(ctx, kindArchive, time.Now(), 1)
		if err != nil || len(due) == 0 {
			return err
		}
		hook = due[0].Key
		due[0].Due = time.Now().Add(time.Minute) // another process does not archive it at the same time
		return tx.Put(ctx, due[0])
	})
	if err != nil || hook == "" {
		return did, err
	}
	if err := r.c.Webhooks.Archive(ctx, hook); err != nil && !errors.Is(err, client.ErrNotFound) {
		r.opts.Logger.WarnContext(ctx, "mailroom: old webhook not archived yet", "webhook", hook, "error", err)
		return did, nil
	}
	return true, r.store.Update(ctx, func(ctx context.Context, tx Tx) error { return tx.Delete(ctx, kindArchive, hook) })
}
