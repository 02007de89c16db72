// Package engine implements operations on all parts of the mock server:
// waiting, snapshots, seeds and resets.
package engine

import (
	"cmp"
	"errors"
	"fmt"
	"slices"
	"sync"

	"example.com/emailplatform/mockserver/internal/auth"
	"example.com/emailplatform/mockserver/internal/changes"
	"example.com/emailplatform/mockserver/internal/clock"
	"example.com/emailplatform/mockserver/internal/contract"
	"example.com/emailplatform/mockserver/internal/delivery"
	"example.com/emailplatform/mockserver/internal/fault"
	"example.com/emailplatform/mockserver/internal/gateway"
	"example.com/emailplatform/mockserver/internal/platform"
	"example.com/emailplatform/mockserver/internal/work"
	"example.com/emailplatform/mockserver/model"
	"example.com/emailplatform/webhook"
)

// Engine contains the parts of the mock server, from the lowest to the highest layer. After
// the engine is created, the exported fields do not change.
type Engine struct {
	Account     int64                // default account for seeds
	LookupLimit platform.LookupLimit // as configured

	Auth       *auth.Set
	Changes    *changes.Feed
	Clock      *clock.Clock
	Work       *work.Pending
	Faults     *fault.Plan
	Deliveries *delivery.Dispatcher
	Platform   *platform.Platform
	Gateway    *gateway.Gateway

	mu       sync.Mutex
	baseline *baseline // nil means the empty state
}

// SendEventTo signs a body and makes one attempt to deliver it to a URL. Account 0 means no
// account.
func (e *Engine) SendEventTo(account int64, to string, secret webhook.Secret, body []byte) (deliveryID string, err error) {
	if account != 0 && !e.hasAccount(account) {
		return "", ErrNoAccount
	}
	if _, err := contract.ParseURL(to); err != nil {
		return "", fmt.Errorf("url: %w", err)
	}
	if _, err := webhook.NewVerifier(secret); err != nil {
		return "", fmt.Errorf("secret: %w", cmp.Or(errors.Unwrap(err), err))
	}
	return e.Deliveries.SendTo(account, to, secret, body), nil
}

// ErrNoAccount means that an account does not exist.
var ErrNoAccount = errors.New("the account does not exist")

// hasAccount reports whether an account exists or is in the baseline.
func (e *Engine) hasAccount(account int64) bool {
	if e.Auth.HasAccount(account) || e.Platform.HasAccount(account) {
		return true
	}
	return e.baseline != nil && slices.ContainsFunc(e.baseline.tokens, func(t model.Token) bool { return t.AccountID == account })
}
