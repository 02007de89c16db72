package redisstore

import (
	"context"
	"crypto/rand"
	"errors"
	"strconv"
	"sync"
	"sync/atomic"
	"testing"
	"testing/synctest"
	"time"

	"github.com/redis/go-redis/v9"
)

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

// TestRoundTripsHang: other callers succeed while the maximum number of round trips hangs. The callers of these wait
// until their deadline.
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
		if err := <-ended; !errors.Is(err, context.Canceled) {
			t.Error(err)
		}
	}
	expect(t, o, key, "ran")
	close(end)
	expect(t, o, key, "handled before")
}

// TestRoundTripsAreShared: callers that come during a round trip share the next.
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
		time.Sleep(patience + 2*slow)
		synctest.Wait()
		if most := maxTrips * maxBatch * int64(patience/slow+2); len(p.waiting) > 0 || sent.Load() > most || ended.Load() != commands-sent.Load() {
			t.Errorf("%d commands wait, %d were sent, want at most %d; %d have ended", len(p.waiting), sent.Load(), most, ended.Load())
		}
		time.Sleep(time.Minute)
		if n := ended.Load(); n != commands {
			t.Errorf("%d of %d commands have ended", n, commands)
		}
	})
}
