// Package platform implements the email platform: accounts and their records,
// rules, recipient actions and events. It implements the interface generated
// from openapi.yaml and is independent of HTTP.
//
// Each file uses only the files in the rows below it:
//
//	operations                        the generated interface: a transaction for each operation
//	contacts, import, campaigns, …    the operations of the API, one file per resource
//	subscribe, workflows, campaignrun  automatic actions of the platform
//	render, send, recipients          delivery of messages, and recipient actions
//	suppressions, lists, templates    operations that others use
//	events, content                   events and content of messages
//	tx, platform                      the lock and transactions
//	account, resources, message, …    the records and their rules
//
// The file snapshot.go writes the state, and restore.go reads the state. The
// files views.go and overview.go provide messages, resources and results for
// tests.
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

// Platform implements the operations of the API. One mutex guards all records
// and is locked during each transaction. All methods are safe for concurrent
// use.
type Platform struct {
	Options

	// A transaction holds the read lock until its events are queued. So a snapshot
	// that contains a transaction's changes also contains the transaction's events.
	whole sync.RWMutex

	mu sync.Mutex
	records
	acts     uint64 // number of transactions
	replaced int    // number of calls that replaced records
	closed   bool
}

// Options configures the platform and its callbacks.
type Options struct {
	Hash         webhook.HashFunction // hash function of signatures
	LookupLimit  LookupLimit
	RecordEvents bool          // create events even if no webhook is subscribed
	BaseURL      func() string // base URL of the links in messages

	Deliveries *delivery.Engine
	Faults     *fault.Plan
	Changes    *activity.Feed
	Clock      *clock.Clock
	Work       *activity.Work
}

// New returns a platform without accounts.
func New(o Options) *Platform { return &Platform{Options: o, records: newRecords()} }

// Close cancels all scheduled work and waits for the work in progress.
func (p *Platform) Close() {
	p.mu.Lock()
	p.closed = true
	p.stopCampaigns()
	p.mu.Unlock()
	p.Deliveries.Close()
	p.Work.Finish()
}

// Lookups returns the algorithm of the lookup rate limit.
func (p *Platform) Lookups() LookupLimit {
	p.mu.Lock()
	defer p.mu.Unlock()
	return p.LookupLimit
}

// SetLookups sets the algorithm of the lookup rate limit.
func (p *Platform) SetLookups(limit LookupLimit) {
	p.mu.Lock()
	defer p.mu.Unlock()
	p.LookupLimit = limit
}

func (p *Platform) accountLocked(id int64) *account {
	a := p.accounts[id]
	if a == nil {
		a = newAccount(id)
		p.accounts[id] = a
	}
	return a
}

// Caller is the user of an API request. [WithCaller] adds the caller to a context.
type Caller struct {
	AccountID int64
	UserID    int64
	UserEmail string

	// Unlimited turns off the lookup rate limit for internal requests.
	Unlimited bool
	// BadEntries contains the invalid entries of an import, by index.
	BadEntries map[int]api.ProblemDetail
}

type callerKey struct{}

// WithCaller returns a context for the operations of a caller.
func WithCaller(ctx context.Context, c *Caller) context.Context {
	return context.WithValue(ctx, callerKey{}, c)
}
