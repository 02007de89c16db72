package mailroom

import (
	"context"
	"errors"
	"time"

	"example.com/emailplatform/client"
)

// connect finds or creates the list and the webhook. It retries until it succeeds or ctx ends.
func (r *Room) connect(ctx context.Context) {
	for n := 1; ; n++ {
		err := errors.Join(r.ensureList(ctx), r.ensureWebhook(ctx))
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
		case <-time.After(exponential(time.Second, n, time.Minute)):
		}
	}
}

func (r *Room) ensureList(ctx context.Context) error {
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
