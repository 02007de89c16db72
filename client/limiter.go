package client

import (
	"context"
	"sync"
	"time"

	"golang.org/x/time/rate"
)

// lookupGap is the least time from the answer to one lookup to the next
// request. The platform asks for a second; the rest is for clocks that differ.
const lookupGap = time.Second + time.Millisecond

// LookupLimiter spaces out lookups of submitted emails, which the platform
// limits to one a second per user and account. Clients that act for the same
// user and account can share one. It must be safe for concurrent use.
//
// Users are told apart by the first token that their client had, so that a
// refreshed token does not open a second queue. Clients share a turn if they
// began with the same token, or if the limiter ignores the key, as one of several
// processes has to whose tokens come from a source.
type LookupLimiter interface {
	// Acquire waits for the turn of key, first come first served, and returns
	// the function that ends it. The caller calls release once, when it has
	// the answer; the next turn of the same key starts at least a second, and
	// at least atLeast, later. If ctx ends first, Acquire returns an error
	// that is ctx's, at once, and without delaying anybody else.
	Acquire(ctx context.Context, key string) (release func(atLeast time.Duration), err error)
}

// NewLookupLimiter returns a [LookupLimiter] for the clients of one process.
func NewLookupLimiter() LookupLimiter { return &processLimiter{turns: map[string]*turn{}} }

// NoLookupLimit is a [LookupLimiter] that never waits, for platforms without
// the limit.
type NoLookupLimit struct{}

// Acquire implements [LookupLimiter].
func (NoLookupLimit) Acquire(ctx context.Context, _ string) (func(time.Duration), error) {
	return func(time.Duration) {}, ctx.Err()
}

// processLimiter has one turn per key.
type processLimiter struct {
	mu    sync.Mutex
	turns map[string]*turn
}

// turn is held by one caller at a time. The channel is the queue: receivers are
// served in order, and one that gives up leaves no trace, which waiters of a
// rate.Limiter do.
type turn struct {
	free  chan *rate.Limiter // holds the limiter while nobody has the turn
	users int                // who have it or wait for it
	idle  time.Time          // from when on it is as good as new
}

// Acquire implements [LookupLimiter].
func (p *processLimiter) Acquire(ctx context.Context, key string) (func(time.Duration), error) {
	t := p.enter(key)
	var l *rate.Limiter
	select {
	case l = <-t.free:
	case <-ctx.Done():
		p.leave(t, time.Time{})
		return nil, ctx.Err()
	}
	now := time.Now()
	r := l.ReserveN(now, 1)
	d := r.DelayFrom(now)
	r.CancelAt(now) // not when ctx ends, which may be too late; the turn puts another limiter in its place
	err := context.DeadlineExceeded
	if !endsWithin(ctx, d) {
		err = pause(ctx, d)
	} else if ctx.Err() != nil {
		err = ctx.Err()
	}
	if err != nil {
		t.free <- l
		p.leave(t, now.Add(d))
		return nil, err
	}
	return func(atLeast time.Duration) {
		gap := max(atLeast, lookupGap)
		t.free <- emptyLimiter(gap)
		p.leave(t, time.Now().Add(gap))
	}, nil
}

// emptyLimiter returns a limiter that allows nothing until gap has passed.
func emptyLimiter(gap time.Duration) *rate.Limiter {
	l := rate.NewLimiter(rate.Every(gap), 1)
	l.Allow()
	return l
}

// enter returns the turn of key, and forgets those that nobody needs.
func (p *processLimiter) enter(key string) *turn {
	p.mu.Lock()
	defer p.mu.Unlock()
	now := time.Now()
	for k, t := range p.turns {
		if t.users == 0 && now.After(t.idle) && k != key {
			delete(p.turns, k)
		}
	}
	t := p.turns[key]
	if t == nil {
		t = &turn{free: make(chan *rate.Limiter, 1)}
		t.free <- rate.NewLimiter(rate.Inf, 1)
		p.turns[key] = t
	}
	t.users++
	return t
}

func (p *processLimiter) leave(t *turn, idle time.Time) {
	p.mu.Lock()
	defer p.mu.Unlock()
	t.users--
	if idle.After(t.idle) {
		t.idle = idle
	}
}
