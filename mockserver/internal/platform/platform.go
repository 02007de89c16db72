// Package platform is the email platform itself: records, rules and what happens to messages.
package platform

import (
	"context"
	"sync"
	"time"

	"example.com/emailplatform/mockserver/internal/api"
	"example.com/emailplatform/mockserver/internal/delivery"
	"example.com/emailplatform/mockserver/internal/fault"
	"example.com/emailplatform/mockserver/internal/feed"
	"example.com/emailplatform/mockserver/internal/problem"
	"example.com/emailplatform/mockserver/internal/underway"
	"example.com/emailplatform/webhook"
)

// platform answers the operations of the API. All records are its own, behind
// one mutex: whoever has a *tx holds it.
type Platform struct {
	options Options
	deliver *delivery.Engine
	faults  *fault.Plan
	work    *underway.Count
	changes *feed.Feed

	// whole is held for reading from a change until its events are queued, so
	// that a snapshot has neither or both.
	whole sync.RWMutex

	mu sync.Mutex
	records
	closed bool
}

// records are all that the platform knows.
type records struct {
	lastID   int64 // one sequence for everything, so that no id is valid for two kinds of resource
	accounts map[int64]*account
	messages map[string]*message // of all accounts, by id
	outbox   []*message          // those that were sent, in order
}

func newRecords() records {
	return records{accounts: map[int64]*account{}, messages: map[string]*message{}}
}

// account is what the tokens of one account see.
type account struct {
	ID          int64
	Templates   collection[template]
	Lists       collection[list]
	Campaigns   collection[campaign]
	Workflows   collection[workflow]
	Webhooks    collection[hook]
	Suppression suppressionList
	Tags        map[string]bool
	lookups     map[int64]*lookupState // by user
}

// Options say how the platform behaves.
type Options struct {
	Hash         webhook.Hash // signs the deliveries of webhooks
	Lookups      LookupLimit
	RecordEvents bool // makes the events that no webhook hears too
}

// New returns a platform without accounts.
func New(o Options, deliver *delivery.Engine, faults *fault.Plan, changes *feed.Feed, work *underway.Count) *Platform {
	return &Platform{options: o, deliver: deliver, faults: faults, changes: changes, work: work, records: newRecords()}
}

// Close stops what would happen later and waits for what happens now.
func (p *Platform) Close() {
	p.mu.Lock()
	p.closed = true
	p.stopCampaignsLocked()
	p.mu.Unlock()
	p.deliver.Close()
	p.work.Finish()
}

// tx is the time in which the caller holds the platform's mutex: it reads and
// changes records and collects what the outside is to hear of it afterwards.
type tx struct {
	*Platform
	account *account
	user    *Caller // who acts; nil for a recipient or the platform itself
	now     time.Time
	about   string           // the id of the message that events are about
	changed []*message       // of which the stream tells
	events  []delivery.Event // fired after unlocking
	after   []func()         // called after that
}

// do runs an operation of the API: it locks, lets act change records and copy
// out what it answers, unlocks, and only then hands the events to deliveries.
func do[T any](ctx context.Context, p *Platform, act func(t *tx) (T, error)) (T, error) {
	caller := callerOf(ctx)
	return transact(p, caller.AccountID, caller, act)
}

// transact does the same for whoever acts on an account.
func transact[T any](p *Platform, accountID int64, user *Caller, act func(t *tx) (T, error)) (T, error) {
	p.whole.RLock()
	defer p.whole.RUnlock()
	t := &tx{Platform: p, user: user, now: time.Now()}
	out, err := func() (T, error) {
		p.mu.Lock()
		defer p.mu.Unlock()
		t.account = p.accountLocked(accountID)
		defer t.tell()
		return act(t)
	}()
	p.deliver.Publish(t.events)
	for _, f := range t.after {
		f()
	}
	return out, err
}

// tell tells the stream of the messages that changed.
func (t *tx) tell() {
	if len(t.changed) > feed.MaxBehind/2 {
		t.changes.Tell(feed.State, nil)
		return
	}
	for _, m := range t.changed {
		t.changes.Tell(feed.Message, func() any { return m.glance() })
	}
}

func (p *Platform) accountLocked(id int64) *account {
	a := p.accounts[id]
	if a == nil {
		a = &account{ID: id, Tags: map[string]bool{}, lookups: map[int64]*lookupState{}}
		p.accounts[id] = a
	}
	return a
}

func (t *tx) nextID() int64 {
	t.lastID++
	return t.lastID
}

func (t *tx) unix() int64 { return t.now.Unix() }

// collection holds the resources of one kind in an account, the oldest first.
type collection[T any] struct {
	byID map[int64]*T
	all  []*T
}

func (c *collection[T]) add(id int64, item *T) {
	if c.byID == nil {
		c.byID = map[int64]*T{}
	}
	c.byID[id] = item
	c.all = append(c.all, item)
}

func (c *collection[T]) remove(id int64) {
	item := c.byID[id]
	delete(c.byID, id)
	for i, other := range c.all {
		if other == item {
			c.all = append(c.all[:i:i], c.all[i+1:]...)
			return
		}
	}
}

// find returns the resource with the id, or the error that answers for it.
func (c *collection[T]) find(id int64, what string, loc ...any) (*T, error) {
	item := c.byID[id]
	if item == nil {
		return nil, problem.NotFound(what, id, loc...)
	}
	return item, nil
}

// sender is who an email is from.
type sender struct {
	Name  string `json:"name,omitzero"`
	Email string `json:"email,omitzero"`
}

func (s sender) wire() api.Sender { return api.Sender{Name: s.Name, Email: s.Email} }

// senderOf checks and takes a sender; one that is left out is left out.
func senderOf(in api.Sender, required bool) (sender, error) {
	if in == (api.Sender{}) && !required {
		return sender{}, nil
	}
	if !validAddress(in.Email) {
		return sender{}, problem.Invalid("not an email address", "body", "sender", "email")
	}
	return sender{in.Name, in.Email}, nil
}

// Caller is who asks for an operation of the API. It travels in the context, see [WithCaller].
type Caller struct {
	AccountID int64
	UserID    int64
	UserEmail string

	// Unlimited says that the limit of lookups does not count: it is nobody's own request.
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
