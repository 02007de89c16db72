// Package environment implements operations on all parts of the mock server:
// waiting, fault rules, snapshots and seeds.
package environment

import (
	"errors"
	"fmt"
	"io"
	"slices"
	"sync"

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
	if err := w.Platform.Restore(r); err != nil {
		return fmt.Errorf("mockserver: restore: %w", err)
	}
	return nil
}

// SendEventTo signs any body, and attempts once to deliver it to a URL.
func (w *Environment) SendEventTo(to string, secret webhook.Secret, body []byte) (deliveryID string, err error) {
	if !platform.IsWebURL(to) {
		return "", errors.New("mockserver: url: must be an absolute http or https URL")
	}
	if _, err := webhook.NewVerifier(secret); err != nil {
		return "", fmt.Errorf("mockserver: secret: %w", errors.Unwrap(err))
	}
	return w.Deliveries.SendTo(to, secret, body), nil
}
