package redisstore

import (
	"context"
	"crypto/rand"
	"errors"
	"slices"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/redis/go-redis/v9"
	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"example.com/emailplatform/client"
	"example.com/emailplatform/client/clienttest"
)

func TestLookupLimiter(t *testing.T) {
	t.Parallel()
	clienttest.TestSharedLookupLimiter(t, func(t *testing.T) client.LookupLimiter {
		return NewLookupLimiter(newRedis(t), LimiterOptions{})
	})
}

// quick returns a limiter with its own process id and a short interval.
func quick(rdb Client, gap time.Duration, opts LimiterOptions) *limiter {
	if opts.Logger == nil {
		opts.Logger = quiet()
	}
	l := newLimiter(rdb, opts)
	l.gap = gap
	return l
}

// acquire acquires a slot and returns the time that it took.
func acquire(t testing.TB, l *limiter, key string) (release func(time.Duration), took time.Duration) {
	t.Helper()
	start := time.Now()
	release, err := l.Acquire(t.Context(), key)
	require.NoError(t, err)
	return release, time.Since(start)
}

// ask runs the script like a process that crashes afterwards.
func ask(t testing.TB, l *limiter, op, key, id string) queuePosition {
	t.Helper()
	p, err := l.run(t.Context(), op, key, id, 0, l.gap)
	require.NoError(t, err)
	return p
}

// TestCrashedHolder: LimiterOptions.Lease limits how long the slot of a crashed process is kept.
func TestCrashedHolder(t *testing.T) {
	t.Parallel()
	l, key := quick(newRedis(t), 100*time.Millisecond, LimiterOptions{Lease: 2 * time.Second}), rand.Text()
	if p := ask(t, l, "acquire", key, "dead"); !p.acquired {
		t.Fatalf("%+v, want the slot", p)
	}
	if _, took := acquire(t, l, key); took < 1900*time.Millisecond || took > 4*time.Second {
		t.Errorf("after a crashed process: %v, want its lease of 2 s, not the default of 5 s", took)
	}
	for lease, want := range map[time.Duration]time.Duration{-1: 5 * time.Second, 0: 5 * time.Second, 1: 2 * time.Second, time.Minute: time.Minute} {
		assert.Equal(t, want, newLimiter(l.rdb, LimiterOptions{Lease: lease}).opts.Lease, "lease %v", lease)
	}
}

// TestCrashedWaiters: if processes in the queue have crashed, the next caller waits for their slots and for another
// half a second.
func TestCrashedWaiters(t *testing.T) {
	t.Parallel()
	const gap, dead = 100 * time.Millisecond, 15
	l, key := quick(newRedis(t), gap, LimiterOptions{}), rand.Text()
	release, _ := acquire(t, l, key)
	for i := range dead {
		ask(t, l, "acquire", key, string(rune('A'+i)))
	}
	time.AfterFunc(gap/2, func() { release(0) })
	if _, took := acquire(t, l, key); took > (dead+2)*gap+grace+500*time.Millisecond {
		t.Errorf("after %d crashed processes: %v", dead, took)
	}
}

func TestLimiterRenewsLease(t *testing.T) {
	t.Parallel()
	l, key := quick(newRedis(t), 50*time.Millisecond, LimiterOptions{Lease: 2 * time.Second}), rand.Text()
	release, _ := acquire(t, l, key)
	time.AfterFunc(3*time.Second, func() { release(0) })
	if _, took := acquire(t, l, key); took < 3*time.Second {
		t.Errorf("the slot ended after %v, before its release", took)
	}
}

// TestRepeatedScriptIsIdempotent: go-redis repeats a script whose response was lost, so a repeated script must have
// no second effect. A late renewal does not acquire the slot again.
func TestRepeatedScriptIsIdempotent(t *testing.T) {
	t.Parallel()
	l, key := quick(newRedis(t), 100*time.Millisecond, LimiterOptions{}), rand.Text()
	for range 2 {
		if p := ask(t, l, "acquire", key, "a"); !p.acquired {
			t.Fatalf("acquire: %+v", p)
		}
	}
	first, again := ask(t, l, "acquire", key, "b"), ask(t, l, "acquire", key, "b")
	if first.ticket == 0 || again.ahead != 0 || first.acquired || again.acquired {
		t.Errorf("waiting: %+v, then %+v", first, again)
	}
	if c := ask(t, l, "acquire", key, "c"); c.ahead != 1 {
		t.Errorf("%d waiters are ahead, want 1, because b counts once", c.ahead)
	}
	ask(t, l, "release", key, "a")
	ask(t, l, "release", key, "a")
	if p := ask(t, l, "renew", key, "a"); p.acquired {
		t.Error("a lease was renewed after its end")
	}
	time.Sleep(100 * time.Millisecond)
	if p := ask(t, l, "acquire", key, "b"); !p.acquired {
		t.Errorf("after the release: %+v", p)
	}
	for op, want := range map[string]string{"begin": "acquired", "handled": "handled"} { // the SET of a Once
		if got, err := state(op, "r:token", "token", nil); got != want || err != nil {
			t.Errorf("%s: %q, %v; want %q", op, got, err, want)
		}
	}
}

// TestLimiterAfterDataLoss: all keys expire. If Redis loses its data, the queue keeps its order after the next
// renewal of the lease.
func TestLimiterAfterDataLoss(t *testing.T) {
	t.Parallel()
	rdb, key := newRedis(t), rand.Text()
	prefix := "test-" + rand.Text() + ":"
	l := quick(rdb, 300*time.Millisecond, LimiterOptions{Prefix: prefix, Lease: 2 * time.Second})
	release, _ := acquire(t, l, key)
	var mu sync.Mutex
	var order []int
	var wg sync.WaitGroup
	for i := range 4 {
		wg.Go(func() {
			r, _ := acquire(t, l, key)
			mu.Lock()
			order = append(order, i)
			mu.Unlock()
			r(0)
		})
		time.Sleep(50 * time.Millisecond)
	}
	keys, err := rdb.Keys(t.Context(), prefix+"*").Result()
	if err != nil || len(keys) != 3 {
		t.Fatalf("keys %q, %v; want 3", keys, err)
	}
	for _, k := range keys {
		if ttl := rdb.PTTL(t.Context(), k).Val(); ttl <= 0 || ttl > 2*time.Minute {
			t.Errorf("%s expires in %v", k, ttl)
		}
	}
	rdb.Del(t.Context(), keys...)
	time.Sleep(900 * time.Millisecond) // until the lease is renewed
	mu.Lock()
	early := len(order)
	mu.Unlock()
	time.Sleep(700 * time.Millisecond)
	mu.Lock()
	if early == 4 || len(order) != early {
		t.Errorf("%d slots before the renewal, %d after it; want fewer than 4, and none", early, len(order)-early)
	}
	mu.Unlock()
	release(0)
	wg.Wait()
	if !slices.IsSorted(order) {
		t.Errorf("order %v after the keys were deleted", order)
	}
}

// TestServerClockJumps: the clock jumps back by 5 minutes and forward by 10, as after a failover.
func TestServerClockJumps(t *testing.T) {
	t.Parallel()
	rdb, key, offset := newRedis(t), rand.Text(), "test-offset-"+rand.Text()
	l := quick(rdb, 200*time.Millisecond, LimiterOptions{Lease: 2 * time.Second})
	const line = "local now = t[1] * 1000000 + t[2]\n"
	jumping := strings.Replace(limiterLua, line, line[:len(line)-1]+" + tonumber(redis.call('GET', '"+offset+"') or 0)\n", 1)
	if jumping == limiterLua {
		t.Fatal("the script has no clock")
	}
	l.script = redis.NewScript(jumping)
	var at []time.Time
	var mu sync.Mutex
	var wg sync.WaitGroup
	for range 20 {
		wg.Go(func() {
			release, _ := acquire(t, l, key)
			mu.Lock()
			at = append(at, time.Now())
			mu.Unlock()
			release(0)
		})
	}
	time.AfterFunc(time.Second, func() { rdb.Set(t.Context(), offset, -300e6, time.Minute) })
	time.AfterFunc(2500*time.Millisecond, func() { rdb.Set(t.Context(), offset, 300e6, time.Minute) })
	wg.Wait()
	longest := time.Duration(0)
	early := 0
	for i := range at[1:] {
		d := at[i+1].Sub(at[i])
		longest = max(longest, d)
		if d < 195*time.Millisecond {
			early++
		}
	}
	if longest > 10*time.Second || early > 1 {
		t.Errorf("longest gap %v, %d too early; want at most 10s, and 1 at the jump forward", longest, early)
	}
}

// TestCanceledDuringAcquire: a request that arrives after its caller was canceled leaves neither a slot nor a place
// in the queue.
func TestCanceledDuringAcquire(t *testing.T) {
	t.Parallel()
	n, rdb := newNetwork(t)
	l, key := quick(rdb, 50*time.Millisecond, LimiterOptions{}), rand.Text()
	rdb.Ping(t.Context())
	resume := n.stall()
	ctx, cancel := context.WithTimeout(t.Context(), 50*time.Millisecond)
	defer cancel()
	start := time.Now()
	if _, err := l.Acquire(ctx, key); !errors.Is(err, context.DeadlineExceeded) || time.Since(start) > time.Second {
		t.Errorf("%v after %v, want the context's error immediately", err, time.Since(start))
	}
	resume()
	if _, took := acquire(t, l, key); took > 4*time.Second { // less than the lease
		t.Errorf("the next lookup waited %v", took)
	}
}

// TestDeadlineBeforeTurn: a caller fails immediately if its deadline is before its slot.
func TestDeadlineBeforeTurn(t *testing.T) {
	t.Parallel()
	l, key := quick(newRedis(t), 2*time.Second, LimiterOptions{}), rand.Text()
	release, _ := acquire(t, l, key)
	release(0)
	ctx, cancel := context.WithTimeout(t.Context(), 1900*time.Millisecond)
	defer cancel()
	start := time.Now()
	if _, err := l.Acquire(ctx, key); !errors.Is(err, context.DeadlineExceeded) || time.Since(start) > time.Second {
		t.Errorf("%v after %v, want an immediate error", err, time.Since(start))
	}
	if _, took := acquire(t, l, key); took > 3*time.Second {
		t.Errorf("the next lookup waited %v", took)
	}
}

// TestSharedKey: processes with different tokens share a queue if LimiterOptions.Key is the same.
func TestSharedKey(t *testing.T) {
	t.Parallel()
	rdb, opts := newRedis(t), LimiterOptions{Key: rand.Text()}
	release, _ := acquire(t, quick(rdb, 300*time.Millisecond, opts), rand.Text())
	start := time.Now()
	release(0)
	acquire(t, quick(rdb, 300*time.Millisecond, opts), rand.Text())
	if took := time.Since(start); took < 290*time.Millisecond { // Redis counts whole milliseconds
		t.Errorf("the other process waited %v, want a gap", took)
	}
}

// TestManyWaiters: a slot needs about four calls, however many callers wait.
func TestManyWaiters(t *testing.T) {
	t.Parallel()
	const waiters, gap = 150, 40 * time.Millisecond
	rdb, key := &counting{Client: newRedis(t)}, rand.Text()
	processes := []*limiter{quick(rdb, gap, LimiterOptions{}), quick(rdb, gap, LimiterOptions{}), quick(rdb, gap, LimiterOptions{})}
	start := time.Now()
	var wg sync.WaitGroup
	for i := range waiters {
		wg.Go(func() {
			release, _ := acquire(t, processes[i%3], key)
			release(0)
		})
		if i < 10 {
			time.Sleep(gap) // from then on they listen
		}
	}
	wg.Wait()
	if calls := float64(rdb.calls.Load()) / waiters; calls > 8 { // four on an idle machine; if all asked all the time it would be dozens
		t.Errorf("%.2f calls per slot", calls)
	}
	if turn := time.Since(start) / waiters; turn > 5*gap {
		t.Errorf("%v per slot, want about %v", turn, gap)
	}
	for ticket, want := range map[int64]int64{0: 1, 2: 0, 3: 0, 4: 1} { // 0: the ticket is unknown
		w := &waiter{}
		w.ticket.Store(ticket)
		if new(watchers).wake(&watch{waiters: map[*waiter]bool{w: true}}, 3); w.left.Load() != want {
			t.Errorf("ticket %d: woken %d times after ticket 3 left, want %d", ticket, w.left.Load(), want)
		}
	}
}

// TestSubscribesOnlyWhileWaiting: a process has one subscription while callers wait, and none afterwards.
func TestSubscribesOnlyWhileWaiting(t *testing.T) {
	t.Parallel()
	const gap = 50 * time.Millisecond
	rdb, key := newRedis(t), rand.Text()
	l := quick(rdb, gap, LimiterOptions{})
	listeners := func() int64 { return rdb.PubSubNumSub(t.Context(), l.base(key)+":left").Val()[l.base(key)+":left"] }
	for range 2 { // the second call waits, but no caller is ahead
		release, _ := acquire(t, l, key)
		release(0)
	}
	if n := listeners(); n != 0 {
		t.Errorf("%d connections without a waiter", n)
	}
	var wg sync.WaitGroup
	for range 8 {
		wg.Go(func() {
			release, _ := acquire(t, l, key)
			if n := listeners(); n > 1 {
				t.Errorf("%d connections", n)
			}
			release(0)
		})
	}
	wg.Wait()
	time.Sleep(linger + time.Second)
	if n := listeners(); n != 0 {
		t.Errorf("%d connections after %v", n, linger)
	}
	for range 3 { // and again
		wg.Go(func() {
			release, _ := acquire(t, l, key)
			release(0)
		})
	}
	wg.Wait()
}

// slowToSubscribe blocks Subscribe until it may continue.
type slowToSubscribe struct {
	Client
	asked, may chan struct{}
}

func (c slowToSubscribe) Subscribe(ctx context.Context, channels ...string) *redis.PubSub {
	c.asked <- struct{}{}
	<-c.may
	return c.Client.Subscribe(ctx, channels...)
}

// TestSubscriptionAfterCancellation: a subscription whose waiters were canceled is closed, and the one that replaced
// it stays open.
func TestSubscriptionAfterCancellation(t *testing.T) {
	slow := slowToSubscribe{newRedis(t), make(chan struct{}), make(chan struct{})}
	channel := "emailplatform:" + t.Name()
	ctx, give := context.WithCancel(t.Context())
	give()
	var ws watchers
	var old, late, ready waiter
	first := make(chan error)
	go func() { first <- ws.join(ctx, slow, channel, &old) }()
	<-slow.asked
	require.ErrorIs(t, <-first, context.Canceled)
	gone := ws.channels[channel]
	old.done()
	time.Sleep(10 * time.Millisecond)
	if !gone.idle.Stop() {
		t.Error("the subscription without waiters must end after the linger time")
	}
	ws.close(gone) // as after the linger time
	second := make(chan error)
	go func() { second <- ws.join(t.Context(), slow, channel, &late) }()
	<-slow.asked
	close(slow.may)
	require.NoError(t, <-second)
	if <-gone.ready; gone.pubsub.Ping(t.Context()) == nil {
		t.Error("the subscription without waiters is open")
	}
	now := ws.channels[channel]
	if now == nil || now.pubsub.Ping(t.Context()) != nil {
		t.Error("the subscription with a waiter is not open")
	}
	if ws.joinReady(channel, &ready); ready.leave == nil {
		t.Error("a new waiter does not share the subscription")
	}
	ready.done()
	late.done()
	ws.close(now)
}

func TestFallback(t *testing.T) {
	t.Parallel()
	n, rdb := newNetwork(t)
	log, logged := newLog()
	l := quick(rdb, 50*time.Millisecond, LimiterOptions{Fallback: client.NewLookupLimiter(), Logger: log})
	key := rand.Text()
	release, _ := acquire(t, l, key)
	release(0)
	assert.Empty(t, logged.String(), "logged without a failure")
	n.down()
	release, _ = acquire(t, l, key)
	release(0)
	if _, took := acquire(t, l, key); took < time.Second {
		t.Errorf("the second slot without Redis started after %v, want 1s", took)
	}
	if !strings.Contains(logged.String(), "level=WARN") || !strings.Contains(logged.String(), "op=acquire") {
		t.Errorf("logged %q", logged)
	}
	without := quick(rdb, 50*time.Millisecond, LimiterOptions{})
	if _, err := without.Acquire(t.Context(), key); err == nil || !strings.HasPrefix(err.Error(), "redisstore: ") {
		t.Errorf("without Fallback: %v, want an error", err)
	}
}

// TestLimiterWhileRedisHangs: the timeout is 2 seconds, whatever the timeouts of the client.
func TestLimiterWhileRedisHangs(t *testing.T) {
	t.Parallel()
	n, rdb := newNetwork(t)
	l := quick(rdb, 50*time.Millisecond, LimiterOptions{Fallback: client.NewLookupLimiter()})
	rdb.Ping(t.Context())
	defer n.stall()()
	if _, took := acquire(t, l, rand.Text()); took < timeout || took > timeout+time.Second {
		t.Errorf("the fallback returned the slot after %v", took)
	}
}
