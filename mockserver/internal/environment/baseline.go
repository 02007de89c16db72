package environment

import (
	"bytes"
	"compress/gzip"
	"errors"
	"fmt"
	"io"
	"slices"
	"time"

	"example.com/emailplatform/mockserver/internal/clock"
	"example.com/emailplatform/mockserver/record"
)

// baseline is the state that a reset restores.
type baseline struct {
	state  []byte    // a snapshot, compressed
	dated  time.Time // time of the clock, if it is running and its initial time is configured
	tokens []record.Token
}

// SetBaseline makes the current state the baseline that a reset restores.
func (w *Environment) SetBaseline() error {
	var state bytes.Buffer
	to, _ := gzip.NewWriterLevel(&state, gzip.BestSpeed) // the compression level is valid
	if err := errors.Join(w.Snapshot(to), to.Close()); err != nil {
		return err
	}
	w.mu.Lock()
	defer w.mu.Unlock()
	w.baseline = &baseline{state: state.Bytes(), tokens: w.Access.Added()}
	if w.Clock.Dated() && !w.Clock.Frozen() {
		w.baseline.dated = w.Clock.Now()
	}
	return nil
}

// Reset restores the baseline.
func (w *Environment) Reset() {
	w.mu.Lock()
	defer w.mu.Unlock()
	if w.baseline == nil {
		w.clear()
		return
	}
	w.leaveTest()
	if state, err := w.baseline.read(); err == nil {
		// The state is valid, so an error can only mean that the server is closed.
		_ = w.Platform.RestoreAt(w.baseline.clock(), state)
	}
	w.Access.Reset(w.baseline.tokens...) // last, because token lifetimes start at the time of the clock
}

func (b *baseline) read() (io.Reader, error) { return gzip.NewReader(bytes.NewReader(b.state)) }

// clock returns the state of the clock after a reset, or nil to use the state in the
// snapshot. The snapshot of a running clock contains an offset from time.Now, so
// each reset would restore a later time.
func (b *baseline) clock() *clock.State {
	if b.dated.IsZero() {
		return nil
	}
	return new(clock.Showing(b.dated))
}

// ErrNoAccount means that an account does not exist.
var ErrNoAccount = errors.New("the account does not exist")

// ResetAccount restores the baseline of one account.
func (w *Environment) ResetAccount(account int64) error {
	w.mu.Lock()
	defer w.mu.Unlock()
	if w.baseline == nil {
		return w.clearAccount(account)
	}
	if !w.hasAccount(account) {
		return fmt.Errorf("mockserver: reset: account %d: %w", account, ErrNoAccount)
	}
	state, err := w.baseline.read()
	if err == nil {
		err = w.Platform.RestoreAccount(account, state)
	}
	if err != nil {
		return fmt.Errorf("mockserver: reset: %w", err)
	}
	w.leaveAccount(account, w.baseline.tokens...)
	return nil
}

// ClearAccount deletes all data of one account, except its configured tokens.
func (w *Environment) ClearAccount(account int64) error {
	w.mu.Lock()
	defer w.mu.Unlock()
	return w.clearAccount(account)
}

func (w *Environment) clearAccount(account int64) error {
	if !w.hasAccount(account) {
		return fmt.Errorf("mockserver: clear: account %d: %w", account, ErrNoAccount)
	}
	if err := w.Platform.ResetAccount(account); err != nil {
		return fmt.Errorf("mockserver: clear: %w", err)
	}
	w.leaveAccount(account)
	return nil
}

// leaveAccount removes the fault rules and logs of one account, and resets its tokens.
func (w *Environment) leaveAccount(account int64, tokens ...record.Token) {
	w.Faults.RemoveOf(account)
	w.Access.ResetAccount(account, tokens...)
	w.API.Log.ClearAccount(account)
}

// known returns an error for an account that does not exist. Account 0 means all
// accounts.
func (w *Environment) known(account int64) error {
	w.mu.Lock()
	defer w.mu.Unlock()
	if account != 0 && !w.hasAccount(account) {
		return fmt.Errorf("account %d: %w", account, ErrNoAccount)
	}
	return nil
}

// hasAccount reports whether an account exists or is in the baseline.
func (w *Environment) hasAccount(account int64) bool {
	if w.Access.HasAccount(account) || w.Platform.HasAccount(account) {
		return true
	}
	return w.baseline != nil && slices.ContainsFunc(w.baseline.tokens, func(t record.Token) bool { return t.AccountID == account })
}

// Clear deletes everything except the configuration and the baseline.
func (w *Environment) Clear() {
	w.mu.Lock()
	defer w.mu.Unlock()
	w.clear()
}

func (w *Environment) clear() {
	w.leaveTest()
	w.Platform.Reset()
	w.Access.Reset() // last, because token lifetimes start at the time of the clock
}

// leaveTest resets the settings and logs that are not part of the state.
func (w *Environment) leaveTest() {
	w.Faults.Remove("")
	w.Platform.SetLookups(w.Lookups)
	w.API.Log.Clear()
}
