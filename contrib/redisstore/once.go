package redisstore

import (
	"cmp"
	"context"
	"crypto/rand"
	_ "embed" // the scripts
	"errors"
	"fmt"
	"log/slog"
	"sync"
	"time"

	"github.com/redis/go-redis/v9"

	"example.com/emailplatform/webhook"
)

//go:embed once.lua
var onceLua string

// ErrLeaseLost means that the lease of an event ran out while its function was
// running, and that another process has taken the event since: it may be handled
// twice. It is the cause of the function's context ([context.Cause]) as soon as
// it is known, and it is logged, at level error, when the function succeeds
// nevertheless.
var ErrLeaseLost = errors.New("redisstore: the lease of the event was lost to another process")

// OnceOptions change what is remembered. The zero value is a good default. All
// processes that share a Redis must have the same.
type OnceOptions struct {
	// Prefix begins all keys, "emailplatform:" if empty.
	Prefix string

	// Lease is how long the event of a process that died is kept from the others:
	// 15 seconds if not positive, and never less than 2. It is renewed every third
	// of it while the function runs, so that a function may take longer.
	Lease time.Duration

	// MaxAge is how long a handled event is remembered, 7 days if not positive.
	// The platform's last attempt to deliver comes more than 7 hours after the
	// first. An event with a UUID for a key takes about 200 bytes.
	MaxAge time.Duration

	// Logger gets an error for each event that may have been handled twice, and a
	// warning for each call that Redis did not answer as it should. If nil, it is
	// slog.Default at that moment.
	Logger *slog.Logger
}

// Once is a [webhook.Once] that all processes share which use the same Redis.
// It is safe for concurrent use.
//
// It handles each event at least once, and once only as long as no process dies
// between the last effect of its function and the record of it, none stands still
// for longer than its lease, and Redis forgets nothing. For effects that must
// happen exactly once, keep them and the key in one transaction of a database, as
// the module pgstore does, or give them a key of their own.
//
// # A lease that runs out
//
// A process that stands still or cannot reach Redis for longer than the lease
// loses its event as soon as another process asks for it. When it comes to, the
// context of its function is cancelled with the cause [ErrLeaseLost], so that a
// function that looks at its context stops. If the function succeeds
// nevertheless, the event counts as handled, Do returns true and nil, and
// ErrLeaseLost is logged: both were handling it. If nobody has asked for the
// event in the meantime, nothing was lost, and it goes on.
type Once struct {
	rdb    redis.Scripter
	script *redis.Script
	opts   OnceOptions
}

var _ webhook.Once = (*Once)(nil)

// NewOnce returns a store in the Redis of rdb. If rdb is nil, it panics.
func NewOnce(rdb redis.Scripter, opts OnceOptions) *Once {
	if rdb == nil {
		panic("redisstore: NewOnce needs a client")
	}
	opts.Prefix = cmp.Or(opts.Prefix, defaultPrefix)
	opts.Lease = lease(opts.Lease, 15*time.Second)
	if opts.MaxAge <= 0 {
		opts.MaxAge = 7 * 24 * time.Hour
	}
	return &Once{rdb, redis.NewScript(onceLua), opts}
}

func (o *Once) run(ctx context.Context, op, key, token string, d time.Duration) (state string, err error) {
	state, err = o.script.Run(ctx, o.rdb, []string{o.opts.Prefix + "once:" + key}, op, token, d.Milliseconds()).Text()
	if err != nil {
		return "", fmt.Errorf("redisstore: %w", err)
	}
	return state, nil
}

func (o *Once) start(ctx context.Context, op, key, token string, d time.Duration) *call[string] {
	return start(ctx, func(ctx context.Context) (string, error) { return o.run(ctx, op, key, token, d) })
}

// Do implements [webhook.Once].
func (o *Once) Do(ctx context.Context, key string, fn func(context.Context) error) (ran bool, err error) {
	if err := ctx.Err(); err != nil {
		return false, err
	}
	token := rand.Text()[:13] // 65 bits, among those who want one event
	begun := o.start(ctx, "begin", key, token, o.opts.Lease)
	switch state, err := begun.wait(ctx); {
	case err != nil:
		begun.then(func() { o.free(ctx, key, token) }) // it may have come through
		return false, err
	case state == "handled":
		return false, nil
	case state != "mine":
		return false, webhook.ErrInFlight
	}
	succeeded := false
	fctx, stop := o.renew(ctx, key, token)
	defer func() { // also when fn panics
		stop()
		if !succeeded {
			o.free(ctx, key, token)
		}
	}()
	if err := fn(fctx); err != nil {
		return true, err
	}
	stop()
	succeeded, err = o.remember(ctx, key, token)
	return true, err
}

// remember also knows when the lease was lost, even if no renewal has seen it.
func (o *Once) remember(ctx context.Context, key, token string) (remembered bool, err error) {
	ctx = context.WithoutCancel(ctx)
	state, err := o.start(ctx, "handled", key, token, o.opts.MaxAge).wait(ctx)
	if err != nil {
		return false, err
	}
	if state == "lost" {
		logger(o.opts.Logger).ErrorContext(ctx, "redisstore: event handled, perhaps twice", "key", key, "error", ErrLeaseLost)
	}
	return true, nil
}

// free is made good by the end of the lease, if it fails.
func (o *Once) free(ctx context.Context, key, token string) {
	ctx = context.WithoutCancel(ctx)
	if _, err := o.start(ctx, "free", key, token, 0).wait(ctx); err != nil {
		o.warn(ctx, "free", err)
	}
}

// renew keeps the lease until stop is called. It returns when no renewal is
// under way any more.
func (o *Once) renew(ctx context.Context, key, token string) (_ context.Context, stop func()) {
	ctx, lose := context.WithCancelCause(ctx)
	ended, gone := make(chan struct{}), make(chan struct{})
	go func() {
		defer close(gone)
		tick := time.NewTicker(o.opts.Lease / 3)
		defer tick.Stop()
		for {
			select {
			case <-ended:
				return
			case <-tick.C:
			}
			if o.lost(ctx, key, token) {
				lose(ErrLeaseLost)
				return
			}
		}
	}()
	return ctx, sync.OnceFunc(func() {
		close(ended)
		<-gone
		lose(nil)
	})
}

// lost is true only when it is known: a Redis that is away tells nobody else
// that the event is free.
func (o *Once) lost(ctx context.Context, key, token string) bool {
	ctx = context.WithoutCancel(ctx)
	state, err := o.start(ctx, "renew", key, token, o.opts.Lease).wait(ctx)
	if err != nil {
		o.warn(ctx, "renew", err)
	}
	return err == nil && state == "lost"
}

func (o *Once) warn(ctx context.Context, op string, err error) {
	logger(o.opts.Logger).WarnContext(ctx, "redisstore: handled events", "op", op, "error", err)
}
