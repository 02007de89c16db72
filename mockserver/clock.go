package mockserver

import (
	"context"
	"fmt"
	"time"
)

// Now returns the platform's time in UTC. It is the same as package time's until
// it is advanced, set or frozen.
//
// Everything that the platform dates follows it: records, events, the Date of
// messages, the journals. So does what happens at a time: retries, rate limits,
// faults that delay a delivery, campaigns, the limit of lookups. What is measured
// or waited for meanwhile is real time: the durations of attempts and requests,
// the time-out of an attempt, faults that delay an answer, [Server.Drain].
func (s *Server) Now() time.Time { return s.env.Clock.Now() }

// Advance lets d pass at once: every retry, rate limit and scheduled campaign
// that becomes due until then happens in order, each at its own time and done with
// before time goes on. When it returns, the platform's time is d later, and
// nothing is under way. While it lasts the clock stands still but for its steps;
// one advance waits for another.
//
// It fails if d is negative or leads beyond the year 2199, if ctx ends first, or
// if the clock is set meanwhile, as by [Server.SetNow], [Server.Reset] and
// [Server.Restore]. The time that has passed by then stays passed.
//
// A receiver takes the time that it takes: one that does not answer holds an
// advance up for the attempt's time-out, at each attempt.
func (s *Server) Advance(ctx context.Context, d time.Duration) error { return s.env.Advance(ctx, d) }

// AdvanceTo does as [Server.Advance] does, until a time. It fails if that is over.
func (s *Server) AdvanceTo(ctx context.Context, t time.Time) error { return s.env.AdvanceTo(ctx, t) }

// AdvanceToNext lets time pass until what happens next by itself has happened:
// [ClockState] says what that is. It fails if nothing is going to happen.
func (s *Server) AdvanceToNext(ctx context.Context) error { return s.env.AdvanceToNext(ctx) }

// SetNow sets the platform's time, to one of the years 1970 to 2199, or else it
// fails. Unlike [Server.AdvanceTo] it does not let the time between pass: what has
// become due happens now, late and in no order. It may go back, and then what has
// happened stays happened, and what is scheduled stays scheduled for its time.
func (s *Server) SetNow(t time.Time) error {
	if err := s.env.SetNow(t); err != nil {
		return fmt.Errorf("mockserver: set the clock: %w", err)
	}
	return nil
}

// FreezeClock makes the platform's time stand still, until [Server.Advance],
// [Server.SetNow] or [Server.ResumeClock]. A client that is told to wait for a
// second will be told so again for as long.
func (s *Server) FreezeClock() { s.env.Clock.Freeze(true) }

// ResumeClock makes the platform's time run on from where it stands.
func (s *Server) ResumeClock() { s.env.Clock.Freeze(false) }

// ClockState is how the platform's clock stands.
type ClockState struct {
	Now    time.Time     // in UTC
	Ahead  time.Duration // of package time, to the millisecond
	Frozen bool
	// Next is when the next thing happens by itself, and What it is, such as
	// "campaign 12". They are zero if nothing will.
	Next time.Time
	What string
}

// Clock returns how the platform's clock stands.
func (s *Server) Clock() ClockState {
	v := s.env.Clock.View()
	out := ClockState{Now: v.Now, Ahead: time.Duration(v.AheadMS) * time.Millisecond, Frozen: v.Frozen}
	if v.Next != nil {
		out.Next, out.What = v.Next.At, v.Next.What
	}
	return out
}
