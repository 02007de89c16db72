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
	"reflect"
	"sync"
	"time"

	"github.com/redis/go-redis/v9"

	"example.com/emailplatform/client"
)

//go:embed limiter.lua
var limiterLua string

const (
	// gap is the minimum time between two slots. The platform requires one second; the
	// additional time is for network latency.
	gap = time.Second + time.Millisecond
	// grace is the time after which a waiting process is skipped if it has not
	// taken its slot.
	grace = 500 * time.Millisecond
	// leastLease is the minimum lease. If a process crashes during a lookup, the other
	// processes wait until its lease expires. This wait must be longer than gap, because the
	// next lookup would otherwise be too early. It lasts at least two thirds of the lease,
	// because a process renews its lease when a third has passed.
	leastLease = 2 * time.Second
)

// LimiterOptions configures [NewLookupLimiter]. The zero value is a good
// default. All processes that share a Redis server must use the same options.
type LimiterOptions struct {
	// Prefix is the prefix of all keys. The default is "emailplatform:".
	Prefix string

	// Lease is the time that a process reserves for its lookup. A running process renews
	// its lease. If the process crashes, another process can make the next lookup after
	// the lease has expired. If the process or Redis pauses for longer than the lease,
	// another process can make a lookup too early, so the platform may reject this
	// lookup.
	//
	// Therefore, a shorter lease shortens the wait after a crash, and a longer lease
	// tolerates longer pauses. The default is 5 seconds, and the minimum is 2 seconds.
	Lease time.Duration

	// Key identifies the user and account whose clients share the limiter. By default,
	// each client computes its key from the base URL, Config.Account and its first token.
	// If clients in several processes use a TokenSource, each client has a different
	// first token, so set Key. The key is not secret: the default key contains only a
	// hash of the token.
	Key string

	// Fallback is the limiter to use while Redis is unavailable. If Fallback is nil,
	// lookups fail during this time. You can use the result of
	// [client.NewLookupLimiter] as Fallback. It limits only the lookups of this process, so
	// the platform may reject some lookups. The client retries these lookups.
	Fallback client.LookupLimiter

	// Logger receives a warning for each failed call to Redis. Log records never
	// contain a token. The default is slog.Default; slog.New(slog.DiscardHandler)
	// disables logging.
	Logger *slog.Logger
}

// Client contains the go-redis methods that a limiter needs. *redis.Client,
// *redis.ClusterClient, *redis.Ring and redis.UniversalClient implement Client.
type Client interface {
	redis.Scripter
	Subscribe(ctx context.Context, channels ...string) *redis.PubSub
}

type limiter struct {
	rdb      Client
	script   *redis.Script
	opts     LimiterOptions
	gap      time.Duration
	watchers watchers
}

// NewLookupLimiter returns a [client.LookupLimiter] that all processes with the same Redis server
// share. For each user and account, all processes together can make at most one lookup per second.
// The lookups run in call order. NewLookupLimiter panics if rdb is nil.
//
// By default, each client identifies its user by the first token that the client used, so a
// refreshed token keeps the same limit. To identify the user in another way, set
// [LimiterOptions].Key.
//
// A lookup needs about four calls to Redis, regardless of the length of the queue, because a
// waiting caller calls Redis again only when its slot may be free. If several callers in a process
// wait, this process subscribes to notifications about callers that leave the queue. This
// subscription uses one connection.
//
// If a process crashes, its callers lose their places in the queue, and the slot of a caller
// becomes free when the lease of the slot expires.
//
// The release function waits until Redis has released the slot, or for 2 seconds. If
// Redis does not respond in this time, the slot is released when its lease expires.
func NewLookupLimiter(rdb Client, opts LimiterOptions) client.LookupLimiter {
	return newLimiter(rdb, opts)
}

func newLimiter(rdb Client, opts LimiterOptions) *limiter {
	if isNil(rdb) {
		panic("redisstore: NewLookupLimiter needs a client")
	}
	opts.Prefix = cmp.Or(opts.Prefix, defaultPrefix)
	opts.Lease = lease(opts.Lease, 5*time.Second)
	return &limiter{rdb: rdb, script: redis.NewScript(limiterLua), opts: opts, gap: gap}
}

// isNil reports whether v is nil or a nil pointer.
func isNil(v any) bool {
	r := reflect.ValueOf(v)
	return !r.IsValid() || r.Kind() == reflect.Pointer && r.IsNil()
}

const defaultPrefix = "emailplatform:"

func lease(d, standard time.Duration) time.Duration {
	if d <= 0 {
		return standard
	}
	return max(d, leastLease)
}

// queuePosition is the position of a caller in the queue, which the script returns.
type queuePosition struct {
	acquired bool
	wait     time.Duration // time until the slot can be free
	ticket   int64         // number of the caller in the queue
	ahead    int64         // number of callers ahead
}

// base returns the prefix of all keys of a queue. Its braces make a cluster store all
// these keys in one hash slot, and put the channel on the same shard of a ring.
func (l *limiter) base(key string) string {
	sum := sha256.Sum256([]byte(key))
	return l.opts.Prefix + "lookup:{" + hex.EncodeToString(sum[:16]) + "}"
}

func (l *limiter) run(ctx context.Context, op, key, id string, ticket int64, gap time.Duration) (queuePosition, error) {
	base := l.base(key)
	r, err := l.script.Run(ctx, l.rdb, []string{base, base + ":queue", base + ":due"},
		op, id, ticket, gap.Microseconds(), l.opts.Lease.Microseconds(), grace.Microseconds(), base+":left").Int64Slice()
	if err != nil {
		return queuePosition{}, fmt.Errorf("redisstore: %w", err)
	}
	if len(r) != 4 {
		return queuePosition{}, fmt.Errorf("redisstore: the script must return 4 values, got %d", len(r))
	}
	return queuePosition{r[0] == 1, time.Duration(r[1]) * time.Microsecond, r[2], r[3]}, nil
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
		pending := start(ctx, func(ctx context.Context) (queuePosition, error) {
			return l.run(ctx, "acquire", key, w.id, ticket, l.gap)
		})
		p, err := pending.wait(ctx)
		if err == nil && p.acquired && ctx.Err() == nil {
			return l.hold(ctx, key, w.id), nil
		}
		if err == nil {
			err = l.sleep(ctx, key, &w, p)
		}
		if err == nil {
			continue
		}
		pending.then(func() { l.notify(ctx, "leave", key, w.id, l.gap) }) // the call may have acquired the slot
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

// errTooLate means that a caller is next in the queue, but its slot starts
// after its deadline.
var errTooLate = fmt.Errorf("redisstore: the slot starts after the deadline: %w", context.DeadlineExceeded)

func (l *limiter) sleep(ctx context.Context, key string, w *waiter, p queuePosition) error {
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
			return nil // check again, because a caller may have left before the subscription
		}
		l.warn(ctx, "subscribe", err)
	}
	return w.sleep(ctx, p.wait, l.gap)
}

// hold renews the lease until the slot is released.
func (l *limiter) hold(ctx context.Context, key, id string) (release func(time.Duration)) {
	ctx = context.WithoutCancel(ctx) // the platform may still be processing a lookup whose context is canceled
	ended := make(chan struct{})
	go func() {
		tick := time.NewTicker(l.opts.Lease / 3)
		defer tick.Stop()
		for {
			select {
			case <-ended:
				return
			case <-tick.C:
				l.notify(ctx, "renew", key, id, l.gap)
			}
		}
	}()
	var once sync.Once
	return func(atLeast time.Duration) {
		once.Do(func() {
			close(ended)
			l.notify(ctx, "release", key, id, max(atLeast, l.gap))
		})
	}
}

// notify calls Redis and logs any error. If the slot was not released because of the
// error, it is released when its lease expires.
func (l *limiter) notify(ctx context.Context, op, key, id string, gap time.Duration) {
	ctx = context.WithoutCancel(ctx)
	pending := start(ctx, func(ctx context.Context) (queuePosition, error) { return l.run(ctx, op, key, id, 0, gap) })
	if _, err := pending.wait(ctx); err != nil {
		l.warn(ctx, op, err)
	}
}

func (l *limiter) warn(ctx context.Context, op string, err error) {
	cmp.Or(l.opts.Logger, slog.Default()).WarnContext(ctx, "redisstore: lookup limiter unavailable", "op", op, "error", err)
}
