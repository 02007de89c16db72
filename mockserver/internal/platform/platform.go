// Package platform is the email platform itself: accounts and their records, the
// rules, what recipients do and which events fire. It implements the interface
// that is generated from openapi.yaml, and knows no HTTP.
//
// Its files stand on one another, and none refers to one above it:
//
//	contacts, import, campaigns, …    the operations of the API, a file for each resource
//	subscribe, workflows, campaignrun  what the platform does by itself
//	links, send, recipients           a message reaches its recipient, who does something
//	suppressions, lists, templates    operations that others build on
//	events, content                   what is told, and what is said
//	tx, platform                      the lock, and the time in which it is held
//	account, resources, message, …    the records, and what is true of each alone
//
// snapshot writes the whole state or what has changed, by statewriter, and restore
// reads it back, with changed; views and overview show messages and resources to
// tests, with the outcomes that are counted as they happen.
package platform

import (
	"context"
	"sync"

	"example.com/emailplatform/mockserver/internal/activity"
	"example.com/emailplatform/mockserver/internal/api"
	"example.com/emailplatform/mockserver/internal/clock"
	"example.com/emailplatform/mockserver/internal/delivery"
	"example.com/emailplatform/mockserver/internal/fault"
	"example.com/emailplatform/webhook"
)

// Platform answers the operations of the API. All records are its own, behind
// one mutex: whoever has a *tx holds it. All methods may be called concurrently.
type Platform struct {
	options    Options
	deliveries *delivery.Engine
	faults     *fault.Plan
	changes    *activity.Feed
	clock      *clock.Clock
	work       *activity.Work

	// whole is held for reading from a change until its events are queued, so
	// that a snapshot has neither or both.
	whole sync.RWMutex

	mu sync.Mutex
	records
	acts     uint64 // counts what may have changed anything
	replaced int    // how often all records were replaced
	closed   bool
}

// Options say how the platform behaves, and whom it tells what happens.
type Options struct {
	Hash         webhook.HashFunction // signs the deliveries of webhooks
	Lookups      LookupLimit
	RecordEvents bool          // makes the events that no webhook hears too
	BaseURL      func() string // where the links in messages lead

	Deliveries *delivery.Engine
	Faults     *fault.Plan
	Changes    *activity.Feed
	Clock      *clock.Clock
	Work       *activity.Work
}

// New returns a platform without accounts.
func New(o Options) *Platform {
	return &Platform{
		options:    o,
		deliveries: o.Deliveries,
		faults:     o.Faults,
		changes:    o.Changes,
		clock:      o.Clock,
		work:       o.Work,
		records:    newRecords(),
	}
}

// Close stops what would happen later and waits for what happens now.
func (p *Platform) Close() {
	p.mu.Lock()
	p.closed = true
	p.stopCampaigns()
	p.mu.Unlock()
	p.deliveries.Close()
	p.work.Finish()
}

// Lookups says how lookups are counted.
func (p *Platform) Lookups() LookupLimit {
	p.mu.Lock()
	defer p.mu.Unlock()
	return p.options.Lookups
}

// SetLookups says how lookups are counted from now on.
func (p *Platform) SetLookups(limit LookupLimit) {
	p.mu.Lock()
	defer p.mu.Unlock()
	p.options.Lookups = limit
}

// Hash is the function that signs deliveries.
func (p *Platform) Hash() webhook.HashFunction { return p.options.Hash }

func (p *Platform) accountLocked(id int64) *account {
	a := p.accounts[id]
	if a == nil {
		a = newAccount(id)
		p.accounts[id] = a
	}
	return a
}

// Caller is who asks for an operation of the API. It travels in the context, by
// [WithCaller].
type Caller struct {
	AccountID int64
	UserID    int64
	UserEmail string

	// Unlimited says that the limit of lookups does not count: it is nobody's own
	// request.
	Unlimited bool
	// BadEntries are those of an import that break the contract, by their index.
	BadEntries map[int]api.ProblemDetail
}

type callerKey struct{}

// WithCaller returns a context for the operations of a caller.
func WithCaller(ctx context.Context, c *Caller) context.Context {
	return context.WithValue(ctx, callerKey{}, c)
}

func callerOf(ctx context.Context) *Caller { return ctx.Value(callerKey{}).(*Caller) }
