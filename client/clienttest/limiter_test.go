package clienttest

import (
	"context"
	"errors"
	"flag"
	"slices"
	"sync"
	"sync/atomic"
	"testing"
	"testing/synctest"
	"time"

	"example.com/emailplatform/client"
)

var realTime = flag.Bool("real", false, "run the tests that wait for seconds")

// inRealTime skips a test that waits for seconds, unless -real is set. TestSuiteCatches always runs the same
// rules, but on virtual time.
func inRealTime(t *testing.T) {
	t.Helper()
	if !*realTime {
		t.Skip("takes six seconds: run with -real, as .ci/soak does")
	}
}

func TestProcessLimiter(t *testing.T) {
	inRealTime(t)
	t.Parallel()
	TestLookupLimiter(t, func(*testing.T) client.LookupLimiter { return client.NewLookupLimiter() })
}

// TestShared uses the same limiter for each simulated process.
func TestShared(t *testing.T) {
	inRealTime(t)
	t.Parallel()
	shared := client.NewLookupLimiter()
	TestSharedLookupLimiter(t, func(*testing.T) client.LookupLimiter { return shared })
}

// limiterFunc is an Acquire method. It can use the parameter sound, which is a correct limiter.
type limiterFunc func(ctx context.Context, sound client.LookupLimiter, key string) (func(time.Duration), error)

type broken struct {
	sound   client.LookupLimiter
	acquire limiterFunc
}

func (b broken) Acquire(ctx context.Context, key string) (func(time.Duration), error) {
	return b.acquire(ctx, b.sound, key)
}

var brokenLimiters = []struct {
	fault    string
	acquire  limiterFunc
	reported []string
}{
	{"is correct", sound, nil},
	{"is correct and independent", (&slots{gap: gap}).acquire, nil},
	{"never waits", neverWaits, []string{"slots are one second apart", "only one caller holds the slot", "slot lasts until it is released"}},
	{"ignores the interval of release", ignoresDelay, []string{"release requires a longer interval"}},
	{"is a little early", (&slots{gap: gap - 10*time.Millisecond}).acquire, []string{"slots are one second apart"}},
	{"waits twice as long", slow, []string{"slots are one second apart"}},
	{"delays every second caller", (&delay{}).acquire, []string{"first come, first served"}},
	{"ignores the context", ignoresContext, []string{"canceled call leaves the queue", "ended context gets no slot"}},
	{"returns its own error", ownError, []string{"canceled call leaves the queue", "ended context gets no slot"}},
	{"gives slots to canceled callers", keepsCanceled, []string{"canceled calls delay no other call"}},
	{"ends the slot with its context", tiedToContext, []string{"canceled holder keeps the slot"}},
	{"ignores the key", oneKey, []string{"other keys do not wait"}},
	{"checks the context late", checksContextLate, []string{"canceled call leaves the queue"}},
	{"hangs", hangs, []string{"first slot is immediate"}},
}

// TestSuiteCatches: the named rules report each broken limiter, and no rule reports a correct one.
func TestSuiteCatches(t *testing.T) {
	for _, tt := range brokenLimiters {
		t.Run(tt.fault, func(t *testing.T) {
			reported := failures(t, tt.acquire)
			for _, name := range tt.reported {
				if !slices.Contains(reported, name) {
					t.Errorf("the check %q does not report the defect; these checks do: %q", name, reported)
				}
			}
			if tt.reported == nil && reported != nil {
				t.Errorf("reported by %q", reported)
			}
		})
	}
}

// failures returns the names of the rules that the limiter violates. It runs the rules on virtual time.
func failures(t *testing.T, acquire limiterFunc) (names []string) {
	for _, r := range rules {
		synctest.Test(t, func(t *testing.T) {
			if err := r.run(t.Context(), broken{client.NewLookupLimiter(), acquire}); err != nil {
				names = append(names, r.name)
			}
			time.Sleep(10 * timeLimit) // until blocked calls have returned
		})
	}
	return names
}

func sound(ctx context.Context, l client.LookupLimiter, key string) (func(time.Duration), error) {
	return l.Acquire(ctx, key)
}

func neverWaits(ctx context.Context, _ client.LookupLimiter, key string) (func(time.Duration), error) {
	return client.NoLookupLimit{}.Acquire(ctx, key)
}

func ignoresDelay(ctx context.Context, l client.LookupLimiter, key string) (func(time.Duration), error) {
	release, err := l.Acquire(ctx, key)
	return func(time.Duration) { release(0) }, err
}

// slots is an independent limiter with a channel for each key. It is correct if gap is a second, and wrong
// for a shorter gap.
type slots struct {
	gap  time.Duration
	keys sync.Map
}

func (s *slots) acquire(ctx context.Context, _ client.LookupLimiter, key string) (func(time.Duration), error) {
	if ctx.Err() != nil {
		return nil, ctx.Err()
	}
	value, _ := s.keys.LoadOrStore(key, make(chan struct{}, 1))
	slot := value.(chan struct{}) // senders wait in order
	select {
	case slot <- struct{}{}:
		return func(atLeast time.Duration) { time.AfterFunc(max(s.gap, atLeast), func() { <-slot }) }, nil
	case <-ctx.Done():
		return nil, ctx.Err()
	}
}

type delay struct{ callers atomic.Int64 }

func (d *delay) acquire(ctx context.Context, l client.LookupLimiter, key string) (func(time.Duration), error) {
	if d.callers.Add(1)%2 == 0 {
		time.Sleep(5 * arrival)
	}
	return l.Acquire(ctx, key)
}

func slow(ctx context.Context, l client.LookupLimiter, key string) (func(time.Duration), error) {
	release, err := l.Acquire(ctx, key)
	return func(d time.Duration) { release(max(2*d, 2500*time.Millisecond)) }, err
}

func ignoresContext(ctx context.Context, l client.LookupLimiter, key string) (func(time.Duration), error) {
	ctx, cancel := context.WithTimeout(context.WithoutCancel(ctx), 2*timeLimit)
	defer cancel()
	return l.Acquire(ctx, key)
}

var errOwn = errors.New("no slot")

func ownError(ctx context.Context, l client.LookupLimiter, key string) (func(time.Duration), error) {
	release, err := l.Acquire(ctx, key)
	if err != nil {
		err = errOwn
	}
	return release, err
}

// keepsCanceled keeps canceled callers in the queue.
func keepsCanceled(ctx context.Context, l client.LookupLimiter, key string) (func(time.Duration), error) {
	if ctx.Err() != nil {
		return nil, ctx.Err()
	}
	got := make(chan func(time.Duration), 1)
	go func() {
		release, _ := l.Acquire(context.WithoutCancel(ctx), key)
		got <- release
	}()
	select {
	case release := <-got:
		return release, nil
	case <-ctx.Done():
		go func() { (<-got)(0) }()
		return nil, ctx.Err()
	}
}

func tiedToContext(ctx context.Context, l client.LookupLimiter, key string) (func(time.Duration), error) {
	release, err := l.Acquire(ctx, key)
	if err != nil {
		return nil, err
	}
	once := sync.Once{}
	stop := context.AfterFunc(ctx, func() { once.Do(func() { release(0) }) })
	return func(d time.Duration) {
		stop()
		once.Do(func() { release(d) })
	}, nil
}

func oneKey(ctx context.Context, l client.LookupLimiter, _ string) (func(time.Duration), error) {
	return l.Acquire(ctx, "key")
}

// checksContextLate checks the context only every two seconds.
func checksContextLate(ctx context.Context, l client.LookupLimiter, key string) (func(time.Duration), error) {
	for {
		try, cancel := context.WithTimeout(context.WithoutCancel(ctx), 2*time.Second)
		release, err := l.Acquire(try, key)
		if err != nil {
			<-try.Done()
		}
		cancel()
		if err == nil || ctx.Err() != nil {
			return release, errors.Join(err, ctx.Err())
		}
	}
}

func hangs(context.Context, client.LookupLimiter, string) (func(time.Duration), error) {
	time.Sleep(2 * timeLimit)
	return nil, errOwn
}
