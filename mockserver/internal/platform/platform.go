// Package platform implements the email platform: accounts and their records, rules, recipient
// actions and events. It implements the interface that is generated from openapi.yaml, and does
// not depend on HTTP.
//
// A file with a singular name, such as list.go, contains the type of a record. The file with the
// plural name, such as lists.go, contains the operations on the record. Templates and suppressed
// addresses need no such type, because their records are the generated types of the API.
//
// A file refers only to files in its own row and in lower rows. The brackets contain the scenarios in
// internal/tests/conformance that test the row:
//
//	operations.gen                                                                    the generated interface: a transaction for each operation
//	outbox, contactsearch, overview, summaries, previews                              the control API: results for tests [control]
//	restore, decodestate, snapshot                                                    the control API: the state [reset, seed]
//	contacts, emails, campaigns, webhooks                                             the operations of the API, one file per resource [contacts, emails, campaigns-workflows, webhooks]
//	subscribe, workflows                                                              automatic actions of the platform [campaigns-workflows, contacts]
//	deliver, recipients, address                                                      delivery of messages, and recipient actions [leaving, control]
//	suppressions, lists, templates                                                    operations that others use [campaigns-workflows, templates-lists]
//	events                                                                            events of messages [events]
//	platform, ids, secret                                                             the lock and transactions
//	render                                                                            the content of messages [emails]
//	account, messagecounts, lookuplimit                                               the records of an account
//	list, campaign, workflow, webhook, message, contact, contacttable, contactstatus  the records and their rules
//	collection, paging, suppressionlist                                               what the records consist of
package platform

import (
	"context"
	"errors"
	"sync"
	"time"

	"example.com/emailplatform/mockserver/internal/api"
	"example.com/emailplatform/mockserver/internal/changes"
	"example.com/emailplatform/mockserver/internal/clock"
	"example.com/emailplatform/mockserver/internal/delivery"
	"example.com/emailplatform/mockserver/internal/fault"
	"example.com/emailplatform/mockserver/internal/work"
	"example.com/emailplatform/webhook"
)

// ErrClosed means that the platform is closed.
var ErrClosed = errors.New("server closed")

// Platform implements the operations of the API. One mutex guards all records, and each
// transaction holds it. All methods are safe for concurrent use.
type Platform struct {
	Options

	// A transaction holds this lock for reading until its events are queued. Therefore, if a
	// snapshot contains a transaction's changes, it also contains the transaction's events.
	snapshotLock sync.RWMutex

	mu sync.Mutex
	records
	closed bool
}

// Options configures the platform and its callbacks.
type Options struct {
	Hash         webhook.HashFunction // hash function of signatures
	LookupLimit  LookupLimit
	RecordEvents bool          // create events even if no webhook is subscribed
	BaseURL      func() string // base URL of the links in messages

	Deliveries *delivery.Dispatcher
	Faults     *fault.Plan
	Changes    *changes.Feed
	Clock      *clock.Clock
	Work       *work.Pending
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

// CurrentLookupLimit returns the algorithm of the lookup rate limit.
func (p *Platform) CurrentLookupLimit() LookupLimit {
	p.mu.Lock()
	defer p.mu.Unlock()
	return p.LookupLimit
}

// SetLookupLimit sets the algorithm of the lookup rate limit.
func (p *Platform) SetLookupLimit(limit LookupLimit) {
	p.mu.Lock()
	defer p.mu.Unlock()
	p.LookupLimit = limit
}

// HasAccount reports whether the account exists.
func (p *Platform) HasAccount(id int64) bool {
	p.mu.Lock()
	defer p.mu.Unlock()
	return p.accounts[id] != nil
}

func (p *Platform) accountLocked(id int64) *account {
	a := p.accounts[id]
	if a == nil {
		a = newAccount(id)
		p.accounts[id] = a
	}
	return a
}

// Caller is the user who sends an API request. [WithCaller] adds the caller to a context.
type Caller struct {
	AccountID int64
	UserID    int64
	UserEmail string

	// Unlimited turns off the lookup rate limit for internal requests.
	Unlimited bool
	// BadEntries contains the invalid entries of an import, by index.
	BadEntries map[int]api.ProblemDetail
	// Fixed contains the values from a seed, and is nil for other requests.
	Fixed *Fixed
}

type callerKey struct{}

// WithCaller returns a context for the operations of a caller.
func WithCaller(ctx context.Context, c *Caller) context.Context {
	return context.WithValue(ctx, callerKey{}, c)
}

// tx is a transaction on one account, which holds the platform's mutex. Its events are published
// after the mutex is unlocked.
type tx struct {
	p       *Platform
	account *account
	caller  *Caller // user of the request; nil for a recipient action
	fixed   Fixed   // values from a seed
	isSeed  bool    // from a seed, so no events are fired
	now     time.Time

	messageID string           // id of the message that the events refer to
	target    *message         // the message of a recipient action
	added     []*message       // new messages, to publish after the transaction
	events    []delivery.Event // fired after unlocking
	after     []func()         // called after the events are published
}

// update runs an API operation for a method in operations.gen.go. It acquires the lock, calls
// operate, releases the lock, and publishes the events. The function operate changes records, and
// must return a copy of the result.
func update[In, Out any](ctx context.Context, p *Platform, in In, operate func(*tx, In) (Out, error)) (Out, error) {
	return operation(ctx, p, p.transactAndRevise, in, operate)
}

// view is like update, but operate() only reads records. It may change the lookup limit, which is not a record.
func view[In, Out any](ctx context.Context, p *Platform, in In, operate func(*tx, In) (Out, error)) (Out, error) {
	return operation(ctx, p, p.transact, in, operate)
}

func operation[In, Out any](
	ctx context.Context, p *Platform, run func(*Caller, func(*tx) error) error, in In, operate func(*tx, In) (Out, error),
) (out Out, err error) {
	caller := ctx.Value(callerKey{}).(*Caller)
	err = run(caller, func(t *tx) (err error) { // its own err, because a captured one would be allocated
		t.account = p.accountLocked(caller.AccountID)
		if caller.Fixed != nil {
			if err := t.applyFixed(*caller.Fixed); err != nil {
				return err
			}
		}
		out, err = operate(t, in)
		return err
	})
	return out, err
}

// transactAndRevise is like transact, and also increases the revision of the state.
func (p *Platform) transactAndRevise(caller *Caller, act func(t *tx) error) error {
	defer p.Changes.Revise() // even after an error, because act() can change records before it fails
	return p.transact(caller, act)
}

// transact runs a function in a transaction. It then releases the lock, publishes the events and
// calls the functions in t.after. The function act must set the account of the transaction.
func (p *Platform) transact(caller *Caller, act func(t *tx) error) error {
	p.snapshotLock.RLock()
	defer p.snapshotLock.RUnlock()
	t := &tx{p: p, caller: caller, now: p.Clock.Now()}
	err := func() error {
		p.mu.Lock()
		defer p.mu.Unlock()
		defer t.publishChanges()
		return act(t)
	}()
	p.Deliveries.Publish(t.events)
	for _, f := range t.after {
		f()
	}
	return err
}

// publishChanges publishes the changed and the new messages in the outbox to the change stream.
func (t *tx) publishChanges() {
	if len(t.added) > changes.MaxLag/2 {
		t.p.Changes.Publish(changes.State, nil)
		return
	}
	if m := t.target; m != nil && m.inOutbox() {
		t.p.Changes.Publish(changes.Message, func() any { return m.summary() })
	}
	for _, m := range t.added {
		if m.inOutbox() {
			t.p.Changes.PublishNew(changes.Message, func() any { return m.summary() })
		}
	}
}

func (t *tx) nextID() int64 {
	t.p.lastID++
	return t.p.lastID
}

func (t *tx) unix() int64 { return t.now.Unix() }

func (t *tx) second() time.Time { return t.now.Truncate(time.Second) }
