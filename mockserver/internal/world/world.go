// Package world holds the parts of the mock together, and does what concerns all
// of them: waiting, the plan of faults, snapshots, seeds.
package world

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"io"
	"slices"
	"time"

	"example.com/emailplatform/mockserver/internal/address"
	"example.com/emailplatform/mockserver/internal/contract"
	"example.com/emailplatform/mockserver/internal/delivery"
	"example.com/emailplatform/mockserver/internal/fault"
	"example.com/emailplatform/mockserver/internal/feed"
	"example.com/emailplatform/mockserver/internal/gateway"
	"example.com/emailplatform/mockserver/internal/platform"
	"example.com/emailplatform/mockserver/internal/underway"
	"example.com/emailplatform/webhook"
)

// World is a platform with all that belongs to it, from the ground up. Its fields
// do not change.
type World struct {
	Tokens  []gateway.Token      // who may ask
	Lookups platform.LookupLimit // as configured

	Changes    *feed.Feed
	Work       *underway.Count
	Faults     *fault.Plan
	Deliveries *delivery.Engine
	Platform   *platform.Platform
	API        *gateway.Gateway
}

// Wait returns when nothing happens any more before more time passes.
func (w *World) Wait(ctx context.Context) error {
	for {
		w.Platform.StartDue()
		w.Deliveries.StartDue()
		busy, err := w.Work.Wait(ctx)
		if err != nil {
			return fmt.Errorf("mockserver: wait: deliveries are under way: %w", err)
		}
		if !busy {
			return nil
		}
	}
}

// Drain returns when every delivery has been delivered or given up.
func (w *World) Drain(ctx context.Context) error {
	for {
		if err := w.Wait(ctx); err != nil {
			return err
		}
		wait, what := w.Deliveries.Next(time.Now())
		if what == "" {
			return nil
		}
		timer := time.NewTimer(wait)
		select {
		case <-timer.C:
		case <-w.Deliveries.Done():
			timer.Stop()
			return fmt.Errorf("mockserver: drain: %s are lost: %w", what, platform.ErrClosed)
		case <-ctx.Done():
			timer.Stop()
			return fmt.Errorf("mockserver: drain: %s wait for %v more: %w", what, wait.Round(time.Millisecond), ctx.Err())
		}
	}
}

// WaitFor returns when holds does, which is asked after every change.
func (w *World) WaitFor(ctx context.Context, holds func() bool) error {
	changed, stop := w.Changes.Watch()
	defer stop()
	for !holds() {
		select {
		case _, open := <-changed:
			if !open {
				return fmt.Errorf("mockserver: wait for: it will not happen any more: %w", platform.ErrClosed)
			}
		case <-ctx.Done():
			return fmt.Errorf("mockserver: wait for: it has not happened: %w", ctx.Err())
		}
	}
	return nil
}

// Inject adds faults to the plan, if the contract knows what they are about.
func (w *World) Inject(faults []fault.Fault) ([]fault.Rule, error) {
	var errs []error
	for _, f := range faults {
		if f.Operation != "" && !slices.Contains(contract.IDs(), f.Operation) {
			errs = append(errs, &fault.FieldError{Field: "operation", Rule: fmt.Sprintf("%q is unknown", f.Operation)})
		}
		if f.Method != "" && !contract.Load().Takes(f.Method) {
			errs = append(errs, &fault.FieldError{Field: "method", Rule: fmt.Sprintf("no operation takes %q", f.Method)})
		}
	}
	if err := errors.Join(errs...); err != nil {
		return nil, err
	}
	return w.Faults.Add(faults)
}

// Snapshot writes the whole state.
func (w *World) Snapshot(to io.Writer) error {
	body, err := w.Platform.Snapshot()
	if err != nil {
		return fmt.Errorf("mockserver: snapshot: %w", err)
	}
	if _, err := to.Write(body); err != nil {
		return fmt.Errorf("mockserver: snapshot: %w", err)
	}
	return nil
}

// Restore replaces the whole state.
func (w *World) Restore(r io.Reader) error {
	if err := w.Platform.Restore(r); err != nil {
		return fmt.Errorf("mockserver: restore: %w", err)
	}
	return nil
}

// Reset forgets everything but the tokens and the configuration.
func (w *World) Reset() {
	w.Faults.Remove("")
	w.Platform.SetLookups(w.Lookups)
	w.API.Log.Clear()
	w.Platform.Reset()
}

// SendEventTo delivers a body of the caller's own to a URL, signed with the
// secret, by the platform's hash function if the secret names none.
func (w *World) SendEventTo(to string, secret webhook.Secret, body []byte) (deliveryID string, err error) {
	if !address.HTTP(to) {
		return "", errors.New("mockserver: url: want an absolute http or https URL")
	}
	secret.Hash = cmp.Or(secret.Hash, w.Platform.Hash())
	if _, err := webhook.NewVerifier(secret); err != nil { // it says what may sign
		return "", errors.New("mockserver: secret: want a key, and sha256 or sha512")
	}
	return w.Deliveries.SendTo(to, secret, body), nil
}
