package redisstore

import (
	"cmp"
	"context"
	"crypto/rand"
	"crypto/sha256"
	_ "embed" // the scripts
	"encoding/hex"
	"errors"
	"fmt"
	"log/slog"
	"sync"
	"time"

	"github.com/redis/go-redis/v9"

	"example.com/emailplatform/client"
)

//go:embed limiter.lua
var limiterLua string

const (
	// gap is the least time from the end of a turn to the next: the second of
	// the platform, and a little for the way there.
	gap = time.Second + time.Millisecond
	// grace is how late a waiting process may be before it is passed over.
	grace = 500 * time.Millisecond
	// leastLease leaves more than a gap between the last renewal of a process
	// that died and the next turn, as renewals are a third of it apart.
	leastLease = 2 * time.Second
)

// LimiterOptions change how processes take turns. The zero value is a good
// default. All processes that share a Redis must have the same.
type LimiterOptions struct {
	// Prefix begins all keys, "emailplatform:" if empty.
	Prefix string

	// Lease is how long the turn of a process that died is kept: 5 seconds if
	// not positive, and never less than 2. A longer lease survives longer
	// pauses of a process and of Redis; a shorter one loses less time when a
	// process dies.
	Lease time.Duration

	// Key names the user and account that all who use the limiter act for. If
	// empty, that is what the client makes of its base URL, Config.Account and its
	// first token: processes whose tokens come from a source begin with different
	// ones, and keep apart only under a Key of their own choice. It is not secret.
	Key string

	// Fallback is used while Redis is unavailable. A [client.NewLookupLimiter]
	// still limits the lookups of this process, and the client retries the
	// lookups that the platform rejects. If nil, lookups fail while Redis is
	// unavailable.
	Fallback client.LookupLimiter

	// Logger gets a warning for each failed call to Redis, never with a token.
	// The default is slog.Default; slog.New(slog.DiscardHandler) turns logging
	// off.
	Logger *slog.Logger
}

// Client is what a limiter needs of go-redis: a *redis.Client, a
// *redis.ClusterClient, a *redis.Ring or a redis.UniversalClient will do.
type Client interface {
	redis.Scripter
	Subscribe(ctx context.Context, channels ...string) *redis.PubSub
}

// limiter is one process's way into the queues.
type limiter struct {
	rdb      Client
	script   *redis.Script
	opts     LimiterOptions
	gap      time.Duration
	watchers watchers
}

// NewLookupLimiter returns a [client.LookupLimiter] for all processes that
// share the Redis of rdb. There is one queue for each user and account, first
// come first served across processes. The first token of a client identifies
// the user, unless [LimiterOptions].Key is set.
//
// A waiting process sleeps until its slot may be free, and then asks Redis: a
// slot costs about four calls, whatever the length of the queue. If several
// callers wait, the process subscribes to a channel on one connection to learn
// of callers that leave the queue. A process that crashes loses its place, and
// its slot when the lease expires. If rdb is nil, NewLookupLimiter panics.
//
// The release function returns after the slot is released, unless Redis takes
// more than 2 seconds; then the lease ends the slot.
func NewLookupLimiter(rdb Client, opts LimiterOptions) client.LookupLimiter {
	return newLimiter(rdb, opts)
}

func newLimiter(rdb Client, opts LimiterOptions) *limiter {
	if rdb == nil {
		panic("redisstore: NewLookupLimiter needs a client")
	}
	opts.Prefix = cmp.Or(opts.Prefix, defaultPrefix)
	opts.Lease = lease(opts.Lease, 5*time.Second)
	return &limiter{rdb: rdb, script: redis.NewScript(limiterLua), opts: opts, gap: gap}
}

const defaultPrefix = "emailplatform:"

func lease(d, standard time.Duration) time.Duration {
	if d <= 0 {
		return standard
	}
	return max(d, leastLease)
}

// place is the result of the script.
type place struct {
	mine   bool
	wait   time.Duration // when to ask again: the turn cannot come before
	ticket int64         // the place in the queue, to come back to
	ahead  int64         // who waits before
}

// base is the name that all keys of a queue begin with. The braces keep them in
// one slot of a cluster, and the channel on one shard of a ring.
func (l *limiter) base(key string) string {
	sum := sha256.Sum256([]byte(key))
	return l.opts.Prefix + "lookup:{" + hex.EncodeToString(sum[:16]) + "}"
}

func (l *limiter) run(ctx context.Context, op, key, id string, ticket int64, gap time.Duration) (place, error) {
	base := l.base(key)
	r, err := l.script.Run(ctx, l.rdb, []string{base, base + ":queue", base + ":due"},
		op, id, ticket, gap.Microseconds(), l.opts.Lease.Microseconds(), grace.Microseconds(), base+":left").Int64Slice()
	if err != nil {
		return place{}, fmt.Errorf("redisstore: %w", err)
	}
	if len(r) != 4 {
		return place{}, fmt.Errorf("redisstore: the script answered %d values, want 4", len(r))
	}
	return place{r[0] == 1, time.Duration(r[1]) * time.Microsecond, r[2], r[3]}, nil
}

// Acquire implements [client.LookupLimiter].
func (l *limiter) Acquire(ctx context.Context, key string) (release func(atLeast time.Duration), err error) {
	if err := ctx.Err(); err != nil {
		return nil, err
	}
	key = cmp.Or(l.opts.Key, key)
	w := waiter{id: rand.Text()}
	defer w.done()
	l.watchers.joinReady(l.base(key)+":left", &w)
	for {
		ticket := w.ticket.Load()
		asked := start(ctx, func(ctx context.Context) (place, error) {
			return l.run(ctx, "acquire", key, w.id, ticket, l.gap)
		})
		p, err := asked.wait(ctx)
		if err == nil && p.mine && ctx.Err() == nil {
			return l.hold(ctx, key, w.id), nil
		}
		if err == nil {
			err = l.sleep(ctx, key, &w, p)
		}
		if err == nil {
			continue
		}
		asked.then(func() { l.tell(ctx, "leave", key, w.id, l.gap) }) // it may have got the turn
		if ctx.Err() != nil {
			return nil, ctx.Err()
		}
		if errors.Is(err, errTooLate) {
			return nil, err
		}
		l.warn(ctx, "acquire", err)
		if l.opts.Fallback == nil {
			return nil, err
		}
		return l.opts.Fallback.Acquire(ctx, key)
	}
}

// errTooLate is for the one who is next, and whose deadline comes first.
var errTooLate = fmt.Errorf("redisstore: the slot is after the deadline: %w", context.DeadlineExceeded)

// sleep waits until it is of use to ask again.
func (l *limiter) sleep(ctx context.Context, key string, w *waiter, p place) error {
	w.ticket.Store(p.ticket)
	if ctx.Err() != nil {
		return ctx.Err()
	}
	if deadline, ok := ctx.Deadline(); ok && p.ahead == 0 && time.Until(deadline) < p.wait {
		return errTooLate
	}
	if p.ahead > 0 && w.leave == nil {
		err := l.watchers.join(ctx, l.rdb, l.base(key)+":left", w)
		if err == nil {
			return nil // a caller may have left before the subscription: check again
		}
		l.warn(ctx, "subscribe", err)
	}
	return w.sleep(ctx, p.wait, l.gap)
}

// hold renews the lease until the turn is released.
func (l *limiter) hold(ctx context.Context, key, id string) (release func(time.Duration)) {
	ctx = context.WithoutCancel(ctx) // a lookup whose context has ended may be at the platform still
	ended := make(chan struct{})
	go func() {
		tick := time.NewTicker(l.opts.Lease / 3)
		defer tick.Stop()
		for {
			select {
			case <-ended:
				return
			case <-tick.C:
				l.tell(ctx, "renew", key, id, l.gap)
			}
		}
	}()
	var once sync.Once
	return func(atLeast time.Duration) {
		once.Do(func() {
			close(ended)
			l.tell(ctx, "release", key, id, max(atLeast, l.gap))
		})
	}
}

// tell is for calls whose failure the lease makes good.
func (l *limiter) tell(ctx context.Context, op, key, id string, gap time.Duration) {
	ctx = context.WithoutCancel(ctx)
	told := start(ctx, func(ctx context.Context) (place, error) { return l.run(ctx, op, key, id, 0, gap) })
	if _, err := told.wait(ctx); err != nil {
		l.warn(ctx, op, err)
	}
}

func (l *limiter) warn(ctx context.Context, op string, err error) {
	logger(l.opts.Logger).WarnContext(ctx, "redisstore: lookup limiter unavailable", "op", op, "error", err)
}

func logger(l *slog.Logger) *slog.Logger {
	if l == nil {
		return slog.Default()
	}
	return l
}
