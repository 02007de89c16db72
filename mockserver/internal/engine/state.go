package engine

import (
	"bytes"
	"compress/gzip"
	"errors"
	"fmt"
	"io"
	"time"

	"example.com/emailplatform/mockserver/internal/clock"
	"example.com/emailplatform/mockserver/internal/contract"
	"example.com/emailplatform/mockserver/model"
)

// Snapshot writes the whole state.
func (e *Engine) Snapshot(to io.Writer) error {
	return e.Platform.Snapshot().Write(to)
}

// Restore replaces the whole state.
func (e *Engine) Restore(r io.Reader) error {
	return e.Platform.Restore(contract.TextReader(contract.WithoutMark(r)))
}

type baseline struct {
	state  []byte    // a snapshot, compressed
	dated  time.Time // time of the clock, if it is running and its initial time is configured
	tokens []model.Token
}

// SetBaseline makes the current state the baseline that a reset restores.
func (e *Engine) SetBaseline() error {
	var state bytes.Buffer
	to, _ := gzip.NewWriterLevel(&state, gzip.BestSpeed) // the compression level is valid
	if err := errors.Join(e.Snapshot(to), to.Close()); err != nil {
		return err
	}
	e.mu.Lock()
	defer e.mu.Unlock()
	e.baseline = &baseline{state: state.Bytes(), tokens: e.Auth.Added()}
	if e.Clock.Dated() && !e.Clock.View().Frozen {
		e.baseline.dated = e.Clock.Now()
	}
	return nil
}

// Reset restores the baseline.
func (e *Engine) Reset() {
	e.mu.Lock()
	defer e.mu.Unlock()
	if e.baseline == nil {
		e.clear()
		return
	}
	e.leaveTest()
	// The state is valid, so an error can only mean that the server is closed.
	_ = e.Platform.RestoreAt(e.baseline.clock(), e.baseline.read())
	e.Auth.Reset(0, e.baseline.tokens...) // last, because token lifetimes start at the time of the clock
}

func (b *baseline) read() io.Reader {
	r, _ := gzip.NewReader(bytes.NewReader(b.state)) // the header is valid
	return r
}

// clock returns the state that a reset gives to the clock, or nil if this is the state
// in the snapshot. If the initial time of the clock is configured, each reset must
// restore the same time, which is the time of the call of SetBaseline. The snapshot does
// not contain this time, but only the clock's offset from time.Now, so a later reset
// would restore a later time.
func (b *baseline) clock() *clock.State {
	if b.dated.IsZero() {
		return nil
	}
	return new(clock.Showing(b.dated))
}

// ResetAccount restores the baseline of one account.
func (e *Engine) ResetAccount(account int64) error {
	e.mu.Lock()
	defer e.mu.Unlock()
	if e.baseline == nil {
		return e.replaceAccount(account, e.Platform.ResetAccount)
	}
	restore := func(account int64) error { return e.Platform.RestoreAccount(account, e.baseline.read()) }
	return e.replaceAccount(account, restore, e.baseline.tokens...)
}

// ClearAccount deletes all data of one account, except its configured tokens.
func (e *Engine) ClearAccount(account int64) error {
	e.mu.Lock()
	defer e.mu.Unlock()
	return e.replaceAccount(account, e.Platform.ResetAccount)
}

// replaceAccount replaces the state of one account and its added tokens, and removes its
// fault rules and logs.
func (e *Engine) replaceAccount(account int64, replace func(account int64) error, tokens ...model.Token) error {
	if !e.hasAccount(account) {
		return fmt.Errorf("account %d: %w", account, ErrNoAccount)
	}
	if err := replace(account); err != nil {
		return err
	}
	e.Faults.RemoveOf(account)
	e.Auth.Reset(account, tokens...)
	e.Gateway.Log.Clear(account)
	return nil
}

// Clear deletes everything except the configuration and the baseline.
func (e *Engine) Clear() {
	e.mu.Lock()
	defer e.mu.Unlock()
	e.clear()
}

func (e *Engine) clear() {
	e.leaveTest()
	e.Platform.Reset()
	e.Auth.Reset(0) // last, because token lifetimes start at the time of the clock
}

// leaveTest resets the settings and logs that are not part of the state.
func (e *Engine) leaveTest() {
	e.Faults.RemoveAll()
	e.Platform.SetLookupLimit(e.LookupLimit)
	e.Gateway.Log.Clear(0)
}
