// Package environment implements operations on all parts of the mock server:
// waiting, fault rules, snapshots and seeds.
package environment

import (
	"bytes"
	"compress/gzip"
	"errors"
	"fmt"
	"io"
	"slices"
	"sync"
	"time"

	"example.com/emailplatform/mockserver/internal/activity"
	"example.com/emailplatform/mockserver/internal/api"
	"example.com/emailplatform/mockserver/internal/auth"
	"example.com/emailplatform/mockserver/internal/clock"
	"example.com/emailplatform/mockserver/internal/contract"
	"example.com/emailplatform/mockserver/internal/delivery"
	"example.com/emailplatform/mockserver/internal/fault"
	"example.com/emailplatform/mockserver/internal/gateway"
	"example.com/emailplatform/mockserver/internal/platform"
	"example.com/emailplatform/mockserver/internal/suggest"
	"example.com/emailplatform/mockserver/record"
	"example.com/emailplatform/webhook"
)

// Environment contains the parts of the mock server, from the lowest to the
// highest layer. The exported fields do not change after the environment is
// created.
type Environment struct {
	Account int64                // default account for seeds
	Lookups platform.LookupLimit // as configured

	Access     *auth.Set
	Changes    *activity.Feed
	Clock      *clock.Clock
	Work       *activity.Work
	Faults     *fault.Plan
	Deliveries *delivery.Engine
	Platform   *platform.Platform
	API        *gateway.Gateway

	mu       sync.Mutex
	baseline *baseline // nil means the empty state
}

// Inject adds fault rules. It returns an error if an operation, a method or an event
// does not exist.
func (w *Environment) Inject(faults []record.Fault) ([]record.FaultRule, error) {
	var errs fault.FieldErrors
	check := func(field, value string, known ...string) {
		if value != "" && !slices.Contains(known, value) {
			errs = append(errs, fault.FieldError{Field: field, Rule: suggest.Unknown(field, value, known)})
		}
	}
	for _, f := range faults {
		check("operation", f.Operation, contract.IDs()...)
		check("method", f.Method, contract.Methods()...)
		if f.Event != "*" {
			check("event", string(f.Event), eventNames()...)
		}
	}
	if errs != nil {
		return nil, errs
	}
	return w.Faults.Add(faults)
}

func eventNames() (names []string) {
	for _, name := range api.EventNames() {
		names = append(names, string(name))
	}
	return names
}

// Snapshot writes the whole state.
func (w *Environment) Snapshot(to io.Writer) error {
	if err := w.Platform.Snapshot().Write(to); err != nil {
		return fmt.Errorf("mockserver: snapshot: %w", err)
	}
	return nil
}

// Restore replaces the whole state.
func (w *Environment) Restore(r io.Reader) error {
	if err := w.Platform.Restore(contract.TextReader(r)); err != nil {
		return fmt.Errorf("mockserver: restore: %w", err)
	}
	return nil
}

// SendEventTo signs a body and makes one attempt to deliver it to a URL.
func (w *Environment) SendEventTo(to string, secret webhook.Secret, body []byte) (deliveryID string, err error) {
	if _, err := delivery.ParseURL(to); err != nil {
		return "", fmt.Errorf("mockserver: url: %w", err)
	}
	if _, err := webhook.NewVerifier(secret); err != nil {
		return "", fmt.Errorf("mockserver: secret: %w", errors.Unwrap(err))
	}
	return w.Deliveries.SendTo(to, secret, body), nil
}

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
	if w.Clock.Dated() && !w.Clock.View().Frozen {
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
	// The state is valid, so an error can only mean that the server is closed.
	_ = w.Platform.RestoreAt(w.baseline.clock(), w.baseline.read())
	w.Access.Reset(0, w.baseline.tokens...) // last, because token lifetimes start at the time of the clock
}

func (b *baseline) read() io.Reader {
	r, _ := gzip.NewReader(bytes.NewReader(b.state)) // the header is valid
	return r
}

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
		return w.replaceAccount("clear", account, w.Platform.ResetAccount)
	}
	restore := func(account int64) error { return w.Platform.RestoreAccount(account, w.baseline.read()) }
	return w.replaceAccount("reset", account, restore, w.baseline.tokens...)
}

// ClearAccount deletes all data of one account, except its configured tokens.
func (w *Environment) ClearAccount(account int64) error {
	w.mu.Lock()
	defer w.mu.Unlock()
	return w.replaceAccount("clear", account, w.Platform.ResetAccount)
}

// replaceAccount replaces the state of one account and its added tokens, and removes its
// fault rules and logs.
func (w *Environment) replaceAccount(
	operation string, account int64, replace func(account int64) error, tokens ...record.Token,
) error {
	if !w.hasAccount(account) {
		return fmt.Errorf("mockserver: %s: account %d: %w", operation, account, ErrNoAccount)
	}
	if err := replace(account); err != nil {
		return fmt.Errorf("mockserver: %s: %w", operation, err)
	}
	w.Faults.RemoveOf(account)
	w.Access.Reset(account, tokens...)
	w.API.Log.Clear(account)
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
	w.Access.Reset(0) // last, because token lifetimes start at the time of the clock
}

// leaveTest resets the settings and logs that are not part of the state.
func (w *Environment) leaveTest() {
	w.Faults.Remove("")
	w.Platform.SetLookups(w.Lookups)
	w.API.Log.Clear(0)
}
