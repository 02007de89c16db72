package client

import (
	"context"
	"sync"
	"time"
)

// lookupGap is the minimum time between the response to a lookup and the next lookup.
// The platform requires an interval of at least one second. The additional millisecond
// allows for differences between clocks.
const lookupGap = time.Second + time.Millisecond

// LookupLimiter limits the rate at which clients look up submitted emails, because the
// platform allows one lookup per second for each user and account. Clients with the same
// user and account can share a LookupLimiter, so it must be safe for concurrent use.
//
// The key identifies the platform, the account and the user. The client identifies the user
// by its first token, so a refreshed token does not change the key. However, clients of the
// same user have different keys if they start with different tokens, for example in several
// processes with a [TokenSource]. To share one limit, these clients need a limiter that
// ignores the key.
type LookupLimiter interface {
	// Acquire waits for the next slot for the given key. A slot permits one lookup. Calls
	// get their slots in order. When the platform has responded to the lookup, the caller
	// must call the returned function release once. The next slot for the same key starts
	// one second after the call of release. If the argument atLeast is longer than one
	// second, it replaces this second.
	//
	// If the context is canceled or expires while Acquire waits, Acquire immediately returns
	// an error that wraps the context's error, and does not delay other callers.
	Acquire(ctx context.Context, key string) (release func(atLeast time.Duration), err error)
}

// NewLookupLimiter returns a [LookupLimiter] for the clients of one process.
func NewLookupLimiter() LookupLimiter { return &processLimiter{slots: map[string]*slot{}} }

// sharedLookups is the limiter of all clients without their own LookupLimiter. The clients
// share it, because the limit of the platform applies to a token, not to a client.
var sharedLookups, processStart = NewLookupLimiter(), time.Now() //nolint:gochecknoglobals // see above

// defaultLookupLimiter returns sharedLookups. In a testing/synctest bubble, it returns a
// new limiter, because bubbles cannot share channels. It recognizes a bubble by its clock,
// which starts in the year 2000.
func defaultLookupLimiter() LookupLimiter {
	const year = 365 * 24 * time.Hour
	if processStart.Round(0).Sub(time.Now().Round(0)) > year {
		return NewLookupLimiter()
	}
	return sharedLookups
}

// NoLookupLimit is a [LookupLimiter] that never waits, for platforms without
// the limit.
type NoLookupLimit struct{}

// Acquire implements [LookupLimiter].
func (NoLookupLimit) Acquire(ctx context.Context, _ string) (func(time.Duration), error) {
	return func(time.Duration) {}, ctx.Err()
}

type processLimiter struct {
	mu    sync.Mutex
	slots map[string]*slot
}

// slot limits the lookups of one key. Before a lookup, a caller receives from the slot's channel
// "free". The channel serves its receivers in order, and a receiver that stops waiting does not
// delay the others.
//
// A rate.Limiter of golang.org/x/time does not fit for two reasons. First, a caller that stops
// waiting delays later callers. Second, its interval begins when a call may start, but the
// platform's interval begins when the platform responds.
type slot struct {
	free  chan time.Time // while the slot is free, the earliest time of the next lookup
	users int            // number of callers that hold the slot or wait for it
	idle  time.Time      // time after which the slot can be deleted
}

// Acquire implements [LookupLimiter].
func (p *processLimiter) Acquire(ctx context.Context, key string) (func(time.Duration), error) {
	s := p.enter(key)
	var next time.Time
	select {
	case next = <-s.free:
	case <-ctx.Done():
		p.leave(s, time.Time{})
		return nil, ctx.Err()
	}
	d := max(time.Until(next), 0)
	err := context.DeadlineExceeded
	if !endsWithin(ctx, d) {
		err = pause(ctx, d)
	} else if ctx.Err() != nil {
		err = ctx.Err()
	}
	if err != nil {
		s.free <- next
		p.leave(s, next)
		return nil, err
	}
	return func(atLeast time.Duration) {
		next := time.Now().Add(max(atLeast, lookupGap))
		s.free <- next
		p.leave(s, next)
	}, nil
}

func (p *processLimiter) enter(key string) *slot {
	p.mu.Lock()
	defer p.mu.Unlock()
	now := time.Now()
	for k, s := range p.slots {
		if s.users == 0 && now.After(s.idle) && k != key {
			delete(p.slots, k)
		}
	}
	s := p.slots[key]
	if s == nil {
		s = &slot{free: make(chan time.Time, 1)}
		s.free <- now
		p.slots[key] = s
	}
	s.users++
	return s
}

func (p *processLimiter) leave(s *slot, idle time.Time) {
	p.mu.Lock()
	defer p.mu.Unlock()
	s.users--
	if idle.After(s.idle) {
		s.idle = idle
	}
}
