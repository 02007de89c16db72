package clienttest

import (
	"context"
	"errors"
	"flag"
	"slices"
	"sync"
	"testing"
	"testing/synctest"
	"time"

	"golang.org/x/time/rate"

	"example.com/emailplatform/client"
)

var realTime = flag.Bool("real", false, "run the tests that wait for seconds")

// inRealTime skips a test that waits for seconds, unless -real is set. TestSuiteCatches runs the same rules on
// virtual time.
func inRealTime(t *testing.T) {
	t.Helper()
	if !*realTime {
		t.Skip("takes six seconds: run with -real, as the gate does")
	}
}

func TestProcessLimiter(t *testing.T) {
	inRealTime(t)
	t.Parallel()
	TestLookupLimiter(t, func(*testing.T) client.LookupLimiter { return client.NewLookupLimiter() })
}

// TestShared uses the same limiter in every process.
func TestShared(t *testing.T) {
	inRealTime(t)
	t.Parallel()
	shared := client.NewLookupLimiter()
	TestSharedLookupLimiter(t, func(*testing.T) client.LookupLimiter { return shared })
}

// limiterFunc is a limiter that is based on a correct one.
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
	{"is sound", sound, nil},
	{"is sound, and another", (&queues{gap: gap}).acquire, nil},
	{"never waits", neverWaits, []string{"slots are one second apart", "only one caller holds the slot", "slot lasts until it is released"}},
	{"counts from the turn's begin", fromBegin(), []string{"slot lasts until it is released", "only one caller holds the slot"}},
	{"does not hear what release asks for", ignoresDelay, []string{"release requires a longer interval"}},
	{"is a little early", (&queues{gap: gap - 10*time.Millisecond}).acquire, []string{"slots are one second apart"}},
	{"asks for twice the time", slow, []string{"slots are one second apart"}},
	{"serves the last first", (&queues{gap: gap, lastFirst: true}).acquire, []string{"first come, first served"}},
	{"does not look at the context", ignoresContext, []string{"canceled call leaves the queue", "ended context gets no slot"}},
	{"has an error of its own", ownError, []string{"canceled call leaves the queue", "ended context gets no slot"}},
	{"gives turns to those who left", keepsCanceled, []string{"canceled calls delay no other call"}},
	{"ends the turn with its context", tiedToContext, []string{"canceled holder keeps the slot"}},
	{"takes all keys for one", oneKey, []string{"other keys do not wait"}},
	{"looks at the context late", checksContextLate, []string{"canceled call leaves the queue"}},
	{"hangs", hangs, []string{"first slot is immediate"}},
}

// TestSuiteCatches: the named rules report each broken limiter, and no rule reports a correct one.
func TestSuiteCatches(t *testing.T) {
	for _, tt := range brokenLimiters {
		t.Run(tt.fault, func(t *testing.T) {
			reported := failures(t, tt.acquire)
			for _, name := range tt.reported {
				if !slices.Contains(reported, name) {
					t.Errorf("%q does not report it; these do: %q", name, reported)
				}
			}
			if tt.reported == nil && reported != nil {
				t.Errorf("reported by %q", reported)
			}
		})
	}
}

// failures returns the names of the rules that the limiter breaks, on virtual time.
func failures(t *testing.T, acquire limiterFunc) (names []string) {
	for _, r := range rules {
		synctest.Test(t, func(t *testing.T) {
			if err := r.run(t.Context(), broken{client.NewLookupLimiter(), acquire}); err != nil {
				names = append(names, r.name)
			}
			time.Sleep(10 * patience) // until what hangs has ended
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

// fromBegin returns a limiter of x/time/rate, which counts from the start of a slot.
func fromBegin() limiterFunc {
	var mu sync.Mutex
	limiters := map[string]*rate.Limiter{}
	return func(ctx context.Context, _ client.LookupLimiter, key string) (func(time.Duration), error) {
		mu.Lock()
		l := limiters[key]
		if l == nil {
			l = rate.NewLimiter(1, 1)
			limiters[key] = l
		}
		mu.Unlock()
		return func(time.Duration) {}, l.Wait(ctx)
	}
}

func ignoresDelay(ctx context.Context, l client.LookupLimiter, key string) (func(time.Duration), error) {
	release, err := l.Acquire(ctx, key)
	return func(time.Duration) { release(0) }, err
}

// queues is a separate limiter. It is correct with an interval of a second and if lastFirst is false.
type queues struct {
	gap       time.Duration
	lastFirst bool

	mu   sync.Mutex
	keys map[string]*queue
}

type queue struct {
	busy    bool
	waiting []chan struct{}
}

func (q *queues) acquire(ctx context.Context, _ client.LookupLimiter, key string) (func(time.Duration), error) {
	if ctx.Err() != nil {
		return nil, ctx.Err()
	}
	release := func(atLeast time.Duration) { time.AfterFunc(max(q.gap, atLeast), func() { q.pass(key) }) }
	turn := q.enter(key)
	select {
	case <-turn:
		return release, nil
	case <-ctx.Done():
	}
	q.mu.Lock()
	defer q.mu.Unlock()
	k := q.keys[key]
	if i := slices.Index(k.waiting, turn); i >= 0 {
		k.waiting = slices.Delete(k.waiting, i, i+1)
		return nil, ctx.Err()
	}
	return release, nil // the turn came at the same moment
}

func (q *queues) enter(key string) chan struct{} {
	q.mu.Lock()
	defer q.mu.Unlock()
	if q.keys == nil {
		q.keys = map[string]*queue{}
	}
	if q.keys[key] == nil {
		q.keys[key] = &queue{}
	}
	k, turn := q.keys[key], make(chan struct{})
	if k.busy {
		k.waiting = append(k.waiting, turn)
	} else {
		k.busy = true
		close(turn)
	}
	return turn
}

func (q *queues) pass(key string) {
	q.mu.Lock()
	defer q.mu.Unlock()
	k := q.keys[key]
	if len(k.waiting) == 0 {
		k.busy = false
		return
	}
	i := 0
	if q.lastFirst {
		i = len(k.waiting) - 1
	}
	close(k.waiting[i])
	k.waiting = slices.Delete(k.waiting, i, i+1)
}

func slow(ctx context.Context, l client.LookupLimiter, key string) (func(time.Duration), error) {
	release, err := l.Acquire(ctx, key)
	return func(d time.Duration) { release(max(2*d, 2500*time.Millisecond)) }, err
}

func ignoresContext(ctx context.Context, l client.LookupLimiter, key string) (func(time.Duration), error) {
	ctx, cancel := context.WithTimeout(context.WithoutCancel(ctx), 2*patience)
	defer cancel()
	return l.Acquire(ctx, key)
}

var errOwn = errors.New("no turn")

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
	time.Sleep(2 * patience)
	return nil, errOwn
}
