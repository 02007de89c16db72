package redisstore

import (
	"cmp"
	"context"
	"crypto/rand"
	_ "embed" // the scripts
	"errors"
	"fmt"
	"log/slog"
	"strings"
	"sync"
	"sync/atomic"
	"time"

	"github.com/redis/go-redis/v9"

	"example.com/emailplatform/webhook"
)

//go:embed once.lua
var onceLua string

// ErrLeaseLost means that the lease for an event expired while the function was running,
// and that another process took the event. Two processes may then handle the same event.
// To prevent this, the context of the function that lost its lease is canceled with the
// cause ErrLeaseLost ([context.Cause]). If the function succeeds despite the
// cancellation, [Once] logs ErrLeaseLost at level error.
var ErrLeaseLost = errors.New("redisstore: lease lost to another process")

// OnceOptions configures [NewOnce]. The zero value is a good default. All
// processes that share a Redis server must use the same options.
type OnceOptions struct {
	// Prefix is the prefix of all keys. The default is "emailplatform:".
	Prefix string

	// Lease is the time after which another process can handle the event of a crashed
	// process. A running process renews its lease three times in each lease period, so
	// functions can take longer. The default is 15 seconds, and the minimum is 2 seconds.
	Lease time.Duration

	// MaxAge is the time until the key of a handled event is deleted. The default is 7
	// days. If MaxAge is less than 8 hours, late deliveries of the event are handled again
	// (see "Webhook retry schedule" in docs/production.md). Redis needs about 200 bytes for an
	// event whose key is a UUID.
	MaxAge time.Duration

	// Logger receives an error for each event that two processes may have handled,
	// and a warning for each failed call to Redis. The default is slog.Default;
	// slog.New(slog.DiscardHandler) disables logging.
	Logger *slog.Logger
}

// Once is a [webhook.Once] for all processes that share a Redis server. It is
// safe for concurrent use.
//
// With a Once, each event is handled at least once. It can be handled again if a process
// crashes after the function has returned but before the key is written, if a process is
// suspended for longer than its lease, or if Redis loses keys. If effects must happen
// exactly once, use the pgstore module or an idempotency key.
//
// # Expired leases
//
// If a process is suspended or cannot reach Redis for longer than the lease, another
// process can take its event. If no other process takes it, the first process renews its
// expired lease and continues. Otherwise, the context of the function in the first
// process is canceled with the cause [ErrLeaseLost]. If the function succeeds
// nevertheless, Do returns true and nil, because the event is handled. However, both
// processes may have handled it, so Do also logs ErrLeaseLost.
type Once struct {
	rdb    redis.Scripter
	script *redis.Script
	opts   OnceOptions
	pipe   *pipe       // nil if rdb has no pipelines
	old    atomic.Bool // Redis is older than 7.0, so SET does not support NX with GET
}

var _ webhook.Once = (*Once)(nil)

// NewOnce returns a store that uses rdb. NewOnce panics if rdb is nil.
func NewOnce(rdb redis.Scripter, opts OnceOptions) *Once {
	if isNil(rdb) {
		panic("redisstore: NewOnce needs a client")
	}
	opts.Prefix = cmp.Or(opts.Prefix, defaultPrefix)
	opts.Lease = lease(opts.Lease, 15*time.Second)
	if opts.MaxAge <= 0 {
		opts.MaxAge = 7 * 24 * time.Hour
	}
	o := &Once{rdb: rdb, script: redis.NewScript(onceLua), opts: opts}
	if rdb, ok := rdb.(interface{ Pipeline() redis.Pipeliner }); ok {
		o.pipe = &pipe{rdb: rdb}
		switch rdb.(type) {
		case *redis.ClusterClient, *redis.Ring: // a round trip would wait for the slowest server
			o.pipe.alone = true
		}
	}
	return o
}

func (o *Once) run(ctx context.Context, op, key, token string, d time.Duration) (state string, err error) {
	state, err = o.script.Run(ctx, o.rdb, []string{o.opts.Prefix + "once:" + key}, op, token, d.Milliseconds()).Text()
	if err != nil {
		return "", fmt.Errorf("redisstore: %w", err)
	}
	return state, nil
}

func (o *Once) start(ctx context.Context, op, key, token string, d time.Duration) *call[string] {
	if o.pipe != nil && !o.old.Load() && (op == "begin" || op == "handled") {
		return o.set(ctx, op, key, token, d)
	}
	return start(ctx, func(ctx context.Context) (string, error) { return o.run(ctx, op, key, token, d) })
}

// set has the same effect as the script, but shares its round trip with the
// commands of other callers.
func (o *Once) set(ctx context.Context, op, key, token string, d time.Duration) *call[string] {
	result := &call[string]{done: make(chan struct{})}
	c := &command{
		ctx: context.WithoutCancel(ctx), key: o.opts.Prefix + "once:" + key, value: "h:" + token,
		args: redis.SetArgs{TTL: d, Get: true},
	}
	if op == "begin" {
		c.value, c.args.Mode = "r:"+token, "NX"
	}
	c.end = func(before string, err error) {
		old := redis.HasErrorPrefix(err, "syntax error")
		if old {
			o.old.Store(true)
		}
		s, failed := state(op, before, token, err)
		// Unlike SET, the script can read the value of an event even when the memory of
		// Redis is full. The script also corrects a lease that is too long.
		if old || redis.HasErrorPrefix(err, "OOM") || s == "busy" {
			again := start(ctx, func(ctx context.Context) (string, error) { return o.run(ctx, op, key, token, d) })
			again.then(func() { result.finish(again.value, again.err) })
			return
		}
		result.finish(s, failed)
	}
	o.pipe.add(c)
	return result
}

// state computes the result of the script from the argument before, which is the previous
// value of the key.
func state(op, before, token string, err error) (string, error) {
	free := errors.Is(err, redis.Nil) || err == nil && before[min(2, len(before)):] == token // this call was repeated
	switch {
	case !free && err != nil:
		return "", fmt.Errorf("redisstore: %w", err)
	case free && op == "begin":
		return "acquired", nil
	case free:
		return "handled", nil
	case op == "handled" && before != "":
		return "lost", nil
	case strings.HasPrefix(before, "h:"):
		return "handled", nil
	case strings.HasPrefix(before, "r:"):
		return "busy", nil
	}
	return "", fmt.Errorf("redisstore: unexpected value of the key: %.100q", before)
}

// Do implements [webhook.Once].
func (o *Once) Do(ctx context.Context, key string, fn func(context.Context) error) (ran bool, err error) {
	if err := ctx.Err(); err != nil {
		return false, err
	}
	token := fmt.Sprintf("%d:%s", o.opts.Lease.Milliseconds(), rand.Text()[:13]) // 65 bits are enough for the callers of one event
	begun := o.start(ctx, "begin", key, token, o.opts.Lease)
	switch state, err := begun.wait(ctx); {
	case err != nil:
		begun.then(func() { o.free(ctx, key, token) }) // Redis may have executed the command
		return false, err
	case state == "handled":
		return false, nil
	case state != "acquired":
		return false, webhook.ErrInFlight
	}
	succeeded := false
	fctx, stop := o.renew(ctx, key, token)
	defer func() { // even if fn panics
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

// remember records that the event is handled. If the lease was lost, remember also logs
// [ErrLeaseLost].
func (o *Once) remember(ctx context.Context, key, token string) (remembered bool, err error) {
	ctx = context.WithoutCancel(ctx)
	state, err := o.start(ctx, "handled", key, token, o.opts.MaxAge).wait(ctx)
	if err != nil {
		return false, err
	}
	if state == "lost" {
		cmp.Or(o.opts.Logger, slog.Default()).ErrorContext(ctx, "redisstore: lease lost, event may be handled twice", "key", key, "error", ErrLeaseLost)
	}
	return true, nil
}

// free releases the key. If Redis returns an error, the key becomes free when the lease
// expires.
func (o *Once) free(ctx context.Context, key, token string) {
	ctx = context.WithoutCancel(ctx)
	if _, err := o.start(ctx, "free", key, token, 0).wait(ctx); err != nil {
		o.warn(ctx, "free", err)
	}
}

// renew renews the lease until stop is called. stop waits for the renewal in
// progress.
func (o *Once) renew(ctx context.Context, key, token string) (_ context.Context, stop func()) {
	ctx, cancel := context.WithCancelCause(ctx)
	var mu sync.Mutex // held during a renewal
	var timer *time.Timer
	ended := false
	mu.Lock()
	defer mu.Unlock()
	timer = time.AfterFunc(o.opts.Lease/3, func() {
		mu.Lock()
		defer mu.Unlock()
		start := time.Now()
		switch {
		case ended:
		case o.lost(ctx, key, token):
			cancel(ErrLeaseLost)
		default:
			timer.Reset(o.opts.Lease/3 - time.Since(start))
		}
	})
	return ctx, func() {
		mu.Lock()
		defer mu.Unlock()
		ended = true
		timer.Stop()
		cancel(nil)
	}
}

// lost renews the lease, and reports whether another process has taken the event. If Redis
// is unavailable, lost returns false, because no other process can take the event then.
func (o *Once) lost(ctx context.Context, key, token string) bool {
	ctx = context.WithoutCancel(ctx)
	state, err := o.start(ctx, "renew", key, token, o.opts.Lease).wait(ctx)
	if err != nil {
		o.warn(ctx, "renew", err)
	}
	return err == nil && state == "lost"
}

func (o *Once) warn(ctx context.Context, op string, err error) {
	cmp.Or(o.opts.Logger, slog.Default()).WarnContext(ctx, "redisstore: handled events", "op", op, "error", err)
}
