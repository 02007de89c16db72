package redisstore

import (
	"context"
	"crypto/rand"
	"errors"
	"strconv"
	"strings"
	"sync"
	"sync/atomic"
	"testing"
	"testing/synctest"
	"time"

	"github.com/redis/go-redis/v9"
	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"example.com/emailplatform/webhook"
	"example.com/emailplatform/webhook/webhooktest"
)

// scripters contains a constructor for each way to call Redis.
var scripters = map[string]func(*redis.Client) redis.Scripter{
	"Redis 7":          func(c *redis.Client) redis.Scripter { return c },
	"before Redis 7":   func(c *redis.Client) redis.Scripter { c.AddHook(pipelines(noSetGet)); return c },
	"without pipeline": func(c *redis.Client) redis.Scripter { return struct{ redis.Scripter }{c} },
}

func TestOnce(t *testing.T) {
	t.Parallel()
	for name, client := range scripters {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			webhooktest.TestOnce(t, func(t *testing.T) webhook.Once { return NewOnce(client(newRedis(t)), OnceOptions{Logger: quiet()}) })
		})
	}
}

func TestOnceCrash(t *testing.T) {
	t.Parallel()
	webhooktest.TestCrash(t, func(t *testing.T) (webhook.Once, func()) {
		rdb := newRedis(t)
		return NewOnce(rdb, OnceOptions{Lease: 2 * time.Second, Logger: quiet()}), func() { _ = rdb.Close() }
	})
}

func succeed(context.Context) error { return nil }

func do(t testing.TB, o *Once, key string) string {
	t.Helper()
	ran, err := o.Do(t.Context(), key, succeed)
	switch {
	case errors.Is(err, webhook.ErrInFlight):
		return "in flight"
	case err != nil:
		return err.Error()
	case ran:
		return "ran"
	}
	return "handled before"
}

func expect(t testing.TB, o *Once, key, want string) {
	t.Helper()
	assert.Equal(t, want, do(t, o, key))
}

// TestLeaseLost: a process that cannot reach Redis for longer than its lease loses the event to another process, and
// reports it.
func TestLeaseLost(t *testing.T) {
	t.Parallel()
	for name, stops := range map[string]bool{"function stops when its context ends": true, "function goes on": false} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			n, rdb := newNetwork(t)
			key := rand.Text()
			log, logged := newLog()
			a := NewOnce(rdb, OnceOptions{Lease: 2 * time.Second, Logger: log})
			b := NewOnce(newRedis(t), OnceOptions{})
			var cause error
			ran, err := a.Do(t.Context(), key, func(ctx context.Context) error {
				resume := n.stall()
				time.Sleep(2100 * time.Millisecond)
				expect(t, b, key, "ran")
				resume()
				<-ctx.Done()
				cause = context.Cause(ctx)
				if stops {
					return ctx.Err()
				}
				return nil
			})
			assert.ErrorIs(t, cause, ErrLeaseLost, "the function's context")
			lost := strings.Contains(logged.String(), "level=ERROR") && strings.Contains(logged.String(), ErrLeaseLost.Error()) && strings.Contains(logged.String(), key)
			if !ran || (err != nil) != stops || lost == stops {
				t.Errorf("Do = %v, %v; logged: %s", ran, err, logged)
			}
			expect(t, b, key, "handled before")
		})
	}
}

// TestLeaseLostToAnotherProcess: an event that one process handled stays handled if another process then fails.
func TestLeaseLostToAnotherProcess(t *testing.T) {
	t.Parallel()
	rdb, key := newRedis(t), rand.Text()
	log, logged := newLog()
	a, b := NewOnce(rdb, OnceOptions{Lease: time.Hour, Logger: log}), NewOnce(rdb, OnceOptions{Lease: time.Hour, Logger: log})
	failed := errors.New("failed")
	begun, end, other := make(chan struct{}), make(chan struct{}), make(chan error, 1)
	ran, err := a.Do(t.Context(), key, func(context.Context) error {
		rdb.Del(t.Context(), "emailplatform:once:"+key) // the lease ends
		go func() {
			_, err := b.Do(t.Context(), key, func(context.Context) error {
				close(begun)
				<-end
				return failed
			})
			other <- err
		}()
		<-begun
		return nil
	})
	if !ran || err != nil || !strings.Contains(logged.String(), ErrLeaseLost.Error()) {
		t.Errorf("Do = %v, %v; logged: %s", ran, err, logged)
	}
	close(end)
	if err := <-other; !errors.Is(err, failed) || strings.Contains(logged.String(), "level=WARN") {
		t.Errorf("%v; logged: %s", err, logged)
	}
	expect(t, b, key, "handled before")
}

// TestOnceAfterDataLoss: after Redis lost its data, a renewal locks the event again, for longer than a lease.
func TestOnceAfterDataLoss(t *testing.T) {
	t.Parallel()
	rdb, key := newRedis(t), rand.Text()
	log, logged := newLog()
	o, other := NewOnce(rdb, OnceOptions{Lease: 2 * time.Second, Logger: log}), NewOnce(rdb, OnceOptions{})
	ran, err := o.Do(t.Context(), key, func(ctx context.Context) error {
		rdb.Del(t.Context(), "emailplatform:once:"+key)
		time.Sleep(900 * time.Millisecond) // the first renewal
		expect(t, other, key, "in flight")
		time.Sleep(2 * time.Second)
		expect(t, other, key, "in flight")
		return ctx.Err()
	})
	if !ran || err != nil || logged.String() != "" {
		t.Errorf("Do = %v, %v; logged: %s", ran, err, logged)
	}
	expect(t, other, key, "handled before")
}

// TestClockSetBack: if the clock of the server is set back, a lease would expire too late. The next call with its key
// shortens the lease to the duration that the owner of the lease has configured.
func TestClockSetBack(t *testing.T) {
	t.Parallel()
	for name, client := range scripters {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			rdb, key := newRedis(t), rand.Text()
			once, other := NewOnce(client(rdb), OnceOptions{Lease: time.Minute}), NewOnce(client(newRedis(t)), OnceOptions{Lease: time.Second})
			_, err := once.Do(t.Context(), key, func(ctx context.Context) error {
				require.NoError(t, rdb.PExpire(ctx, "emailplatform:once:"+key, time.Hour).Err())
				expect(t, other, key, "in flight")
				lease := rdb.PTTL(ctx, "emailplatform:once:"+key).Val()
				assert.LessOrEqual(t, lease, time.Minute)
				assert.Greater(t, lease, 30*time.Second, "a process with a shorter lease does not shorten the lease")
				return nil
			})
			assert.NoError(t, err)
		})
	}
}

// TestUnexpectedValue: Do does not treat a value from another program, or no response, as an event in flight.
func TestUnexpectedValue(t *testing.T) {
	t.Parallel()
	for name, client := range scripters {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			rdb, key := newRedis(t), rand.Text()
			require.NoError(t, rdb.Set(t.Context(), "emailplatform:once:"+key, "OK", time.Minute).Err())
			assert.Contains(t, do(t, NewOnce(client(rdb), OnceOptions{Logger: quiet()}), key), "unexpected value of the key")
		})
	}
	rdb := newRedis(t)
	rdb.AddHook(pipelines(func(context.Context, []redis.Cmder, redis.ProcessPipelineHook) error { return nil }))
	assert.Contains(t, do(t, NewOnce(rdb, OnceOptions{Logger: quiet()}), rand.Text()), "unexpected value of the key")
}

func TestMaxAge(t *testing.T) {
	t.Parallel()
	rdb, key := newRedis(t), rand.Text()
	for _, tt := range []struct {
		name string
		opts OnceOptions
		want time.Duration
	}{
		{"default", OnceOptions{}, 7 * 24 * time.Hour},
		{"a day", OnceOptions{MaxAge: 24 * time.Hour}, 24 * time.Hour},
	} {
		t.Run(tt.name, func(t *testing.T) {
			expect(t, NewOnce(rdb, tt.opts), key+tt.name, "ran")
			ttl := rdb.PTTL(t.Context(), "emailplatform:once:"+key+tt.name).Val()
			if ttl > tt.want || ttl < tt.want-time.Minute {
				t.Errorf("the key expires after %v, want %v", ttl, tt.want)
			}
			if size := rdb.MemoryUsage(t.Context(), "emailplatform:once:"+key+tt.name).Val(); size > 250 {
				t.Errorf("a key takes %d bytes, but the documentation says about 200", size)
			}
		})
	}
}

// TestOnceWhileRedisHangs: Do returns an error within seconds and does not call the function.
func TestOnceWhileRedisHangs(t *testing.T) {
	t.Parallel()
	n, rdb := newNetwork(t)
	o := NewOnce(rdb, OnceOptions{Logger: quiet()})
	rdb.Ping(t.Context())
	resume := n.stall()
	defer resume()
	start := time.Now()
	ran, err := o.Do(t.Context(), rand.Text(), func(context.Context) error { return errors.New("called") })
	if took := time.Since(start); ran || !errors.Is(err, errNoResponse) || took > timeout+time.Second {
		t.Errorf("Do = %v, %v after %v", ran, err, took)
	}
}

// TestNilClientPanics: a client that is nil, or a nil pointer of its type, causes a panic when the program starts.
func TestNilClientPanics(t *testing.T) {
	t.Parallel()
	for _, none := range []redis.UniversalClient{nil, (*redis.Client)(nil)} {
		assert.PanicsWithValue(t, "redisstore: NewOnce needs a client", func() { NewOnce(none, OnceOptions{}) })
		assert.PanicsWithValue(t, "redisstore: NewLookupLimiter needs a client", func() { NewLookupLimiter(none, LimiterOptions{}) })
	}
}

// pipelines is a hook that is called instead of each pipeline.
type pipelines func(ctx context.Context, cmds []redis.Cmder, next redis.ProcessPipelineHook) error

func (pipelines) DialHook(next redis.DialHook) redis.DialHook          { return next }
func (pipelines) ProcessHook(next redis.ProcessHook) redis.ProcessHook { return next }
func (f pipelines) ProcessPipelineHook(next redis.ProcessPipelineHook) redis.ProcessPipelineHook {
	return func(ctx context.Context, cmds []redis.Cmder) error { return f(ctx, cmds, next) }
}

// noSetGet makes the server reject GET after SET, as servers before Redis 7.0 do.
func noSetGet(ctx context.Context, cmds []redis.Cmder, next redis.ProcessPipelineHook) error {
	for _, c := range cmds {
		if args := c.Args(); args[0] == "set" {
			args[len(args)-1] = "unknown"
		}
	}
	return next(ctx, cmds)
}

// TestRoundTripsHang: while all permitted concurrent round trips hang, later callers still succeed. The
// callers of the hanging round trips wait until they are canceled.
func TestRoundTripsHang(t *testing.T) {
	t.Parallel()
	rdb := newRedis(t)
	var trips atomic.Int64
	hangs, end := make(chan struct{}), make(chan struct{})
	rdb.AddHook(pipelines(func(ctx context.Context, cmds []redis.Cmder, next redis.ProcessPipelineHook) error {
		if trips.Add(1) <= maxTrips {
			hangs <- struct{}{}
			<-end
		}
		return next(ctx, cmds)
	}))
	o, key := NewOnce(rdb, OnceOptions{Logger: quiet()}), rand.Text()
	ctx, cancel := context.WithCancel(t.Context())
	ended := make(chan error, maxTrips)
	for range maxTrips {
		go func() {
			_, err := o.Do(ctx, key, succeed)
			ended <- err
		}()
		<-hangs
	}
	var all sync.WaitGroup
	for range 50 {
		all.Go(func() { expect(t, o, rand.Text(), "ran") })
	}
	all.Wait()
	cancel()
	for range maxTrips {
		assert.ErrorIs(t, <-ended, context.Canceled)
	}
	expect(t, o, key, "ran")
	close(end)
	expect(t, o, key, "handled before")
}

// TestRoundTripsAreShared: callers that arrive during a round trip share the next round trip.
func TestRoundTripsAreShared(t *testing.T) {
	t.Parallel()
	const callers = 100
	rdb := newRedis(t)
	var trips atomic.Int64
	o := NewOnce(rdb, OnceOptions{Logger: quiet()})
	rdb.AddHook(pipelines(func(ctx context.Context, cmds []redis.Cmder, next redis.ProcessPipelineHook) error {
		trips.Add(1)
		time.Sleep(slow / 2)
		return next(ctx, cmds)
	}))
	var all sync.WaitGroup
	for range callers {
		all.Go(func() { expect(t, o, rand.Text(), "ran") })
	}
	all.Wait()
	if n := trips.Load(); n > callers/2 {
		t.Errorf("%d round trips for %d events with two commands each", n, callers)
	}
}

// TestQueueWhileRedisHangs: commands whose callers have left are dropped.
func TestQueueWhileRedisHangs(t *testing.T) {
	rdb := connect(t, "127.0.0.1:1") // the connection fails
	synctest.Test(t, func(t *testing.T) {
		const commands = 20_000
		var sent, ended atomic.Int64
		rdb.AddHook(pipelines(func(_ context.Context, cmds []redis.Cmder, _ redis.ProcessPipelineHook) error {
			sent.Add(int64(len(cmds)))
			time.Sleep(time.Minute)
			return nil
		}))
		p := &pipe{rdb: rdb}
		for i := range commands {
			p.add(&command{ctx: t.Context(), key: strconv.Itoa(i), end: func(string, error) { ended.Add(1) }})
		}
		time.Sleep(timeout + 2*slow)
		synctest.Wait()
		if most := maxTrips * maxBatch * int64(timeout/slow+2); len(p.waiting) > 0 || sent.Load() > most || ended.Load() != commands-sent.Load() {
			t.Errorf("%d commands wait, %d were sent, want at most %d; %d have ended", len(p.waiting), sent.Load(), most, ended.Load())
		}
		time.Sleep(time.Minute)
		if n := ended.Load(); n != commands {
			t.Errorf("%d of %d commands have ended", n, commands)
		}
	})
}
