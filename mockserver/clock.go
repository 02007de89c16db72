package mockserver

import (
	"context"
	"fmt"
	"time"
)

// Now returns the time of the virtual clock in UTC. The virtual clock is equal
// to time.Now until it is advanced, set or frozen.
//
// The clock determines the times of records and logs, and when scheduled work
// is due: retries, rate limits, delayed deliveries, campaigns and the lookup
// rate limit. The durations of requests and attempts, attempt timeouts, delays
// from fault rules, and [Server.Drain] use real time.
func (s *Server) Now() time.Time { return s.engine.Clock.Now() }

// Advance advances the clock by d. It runs due work in chronological order,
// each item at its scheduled time. During a call to Advance, the clock moves
// only from one scheduled time to the next. When Advance returns, no work is in
// progress. Concurrent calls run one after the other.
//
// Advance returns an error if d is negative, if the new time is after the year
// 2199, if ctx is canceled, or if a concurrent call, for example to
// [Server.Reset], sets the clock. After an error, the clock remains at the time
// that it has reached. Advance waits in real time for the responses of
// receivers, up to [Config.AttemptTimeout] for each attempt.
func (s *Server) Advance(ctx context.Context, d time.Duration) error { return s.engine.Advance(ctx, d) }

// AdvanceTo advances the clock to t; see [Server.Advance]. It returns an error
// if t is in the past.
func (s *Server) AdvanceTo(ctx context.Context, t time.Time) error { return s.engine.AdvanceTo(ctx, t) }

// AdvanceToNext advances the clock to the time of the next scheduled work,
// which [Server.Clock] returns, and runs this work. It returns an error if no
// work is scheduled.
func (s *Server) AdvanceToNext(ctx context.Context) error { return s.engine.AdvanceToNext(ctx) }

// SetNow sets the clock. It returns an error if the year is outside the range
// 1970–2199. All work that becomes due runs at the new time, in no particular
// order. If t is in the past, completed work is not undone, and the times of
// scheduled work do not change.
func (s *Server) SetNow(t time.Time) error {
	if err := s.engine.SetNow(t); err != nil {
		return fmt.Errorf("mockserver: set the clock: %w", err)
	}
	return nil
}

// FreezeClock freezes the clock until [Server.ResumeClock] is called. Methods
// such as [Server.Advance] still change the time. While the clock is frozen, a
// rate limit never resets, so a client that waits for Retry-After and retries
// is rejected again.
func (s *Server) FreezeClock() { s.engine.Clock.Freeze(true) }

// ResumeClock resumes a frozen clock.
func (s *Server) ResumeClock() { s.engine.Clock.Freeze(false) }

// ClockState is the state of the clock.
type ClockState struct {
	Now    time.Time     // in UTC
	Ahead  time.Duration // offset from time.Now, in whole milliseconds
	Frozen bool
	// Next is the time of the next scheduled work, or zero if no work is scheduled.
	Next time.Time
	// What is the description of this work, for example "campaign 12".
	What string
}

// Clock returns the state of the clock.
func (s *Server) Clock() ClockState {
	v := s.engine.Clock.View()
	out := ClockState{Now: v.Now, Ahead: time.Duration(v.AheadMS) * time.Millisecond, Frozen: v.Frozen}
	if v.Next != nil {
		out.Next, out.What = v.Next.At, v.Next.What
	}
	return out
}
