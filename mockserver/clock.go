package mockserver

import (
	"context"
	"time"
)

// Now returns the time of the virtual clock in UTC. Until the clock is advanced, set or
// frozen, it is equal to time.Now.
//
// The clock determines the times of records and logs, and when scheduled work is due:
// retries, rate limits, delayed deliveries, campaigns and the lookup rate limit.
// Everything else takes real time: requests, attempts and their timeouts, delays from
// fault rules, and [Server.Drain].
func (s *Server) Now() time.Time { return s.engine.Clock.Now() }

// Advance advances the clock by d, and runs the work that becomes due. The clock moves
// from one scheduled time to the next, so each item runs at its own time and in
// chronological order. When Advance returns, no work is in progress. Concurrent calls run
// one after the other.
//
// Advance returns an error if d is negative, if the new time is outside the range of
// [Config.Now], if ctx is canceled, or if a concurrent call, for example to
// [Server.Reset], sets the clock. After an error, the clock remains at the time that it has reached.
//
// Work that is due can include deliveries, so Advance waits for the responses of
// receivers. This takes real time, up to [Config.AttemptTimeout] for each attempt.
func (s *Server) Advance(ctx context.Context, d time.Duration) error {
	return prefixed("advance", s.engine.Advance(ctx, d))
}

// AdvanceTo advances the clock to t; see [Server.Advance]. It returns an error
// if t is in the past.
func (s *Server) AdvanceTo(ctx context.Context, t time.Time) error {
	return prefixed("advance", s.engine.AdvanceTo(ctx, t))
}

// AdvanceToNext advances the clock to the time of the next scheduled work,
// which [Server.Clock] returns, and runs this work. It returns an error if no
// work is scheduled.
func (s *Server) AdvanceToNext(ctx context.Context) error {
	return prefixed("advance", s.engine.AdvanceToNext(ctx))
}

// SetNow sets the clock to t. If t is later than the current time, all work that becomes
// due runs at t and in no particular order; [Server.Advance] runs each item at its own
// time instead. If t is in the past, completed work is not undone, and the times of
// scheduled work do not change. SetNow returns an error if t is outside the range of
// [Config.Now].
func (s *Server) SetNow(t time.Time) error {
	return prefixed("set the clock", s.engine.SetNow(t))
}

// FreezeClock freezes the clock until [Server.ResumeClock] is called. Methods such as
// [Server.Advance] still change the time. While the clock is frozen, a rate limit never
// resets, so a client that waits for Retry-After and retries is rejected again.
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
