package clienttest

import (
	"context"
	"errors"
	"slices"
	"sync"
	"time"

	"golang.org/x/time/rate"

	"example.com/emailplatform/client"
)

func sound(ctx context.Context, l client.LookupLimiter, key string) (func(time.Duration), error) {
	return l.Acquire(ctx, key)
}

func neverWaits(ctx context.Context, _ client.LookupLimiter, key string) (func(time.Duration), error) {
	return client.NoLookupLimit{}.Acquire(ctx, key)
}

// fromBegin is what one writes with x/time/rate.
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

// queues is a limiter of its own, sound with a gap of a second and unless the
// last is served first.
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

// ignoresContext waits for its turn whatever becomes of the context.
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

// keepsCanceled stays in the queue for those who left, and have their turn.
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

// checksContextLate looks at the context only every two seconds.
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
