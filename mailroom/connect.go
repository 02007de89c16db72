package mailroom

import (
	"context"
	"errors"
	"fmt"
	"time"

	"example.com/emailplatform/client"
)

// connect finds or creates the list and the webhook, until it succeeds.
func (r *Room) connect(ctx context.Context) {
	for n := 1; ; n++ {
		err := errors.Join(r.checkFormat(ctx), r.ensureList(ctx), r.ensureWebhook(ctx))
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

// checkFormat returns an error if the store contains emails in the old format.
func (r *Room) checkFormat(ctx context.Context) error {
	return r.update(ctx, func(s *storeTx) {
		farFuture := time.Now().AddDate(1000, 0, 0)
		old := append(s.due(kindTimer, farFuture, 1), s.byRef(kindTimer, unknownRef)...)
		for _, it := range s.due(kindSend, farFuture, 100) {
			if m, _ := decode[mailValue](it); m.State != "" {
				old = append(old, it)
			}
		}
		if s.err == nil && len(old) > 0 {
			s.err = fmt.Errorf("%w: key %q", errOldFormat, old[0].Key)
		}
	})
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
