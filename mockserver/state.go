package mockserver

import (
	"context"
	"crypto/rand"
	"encoding/hex"
	"sync"
	"time"

	"example.com/emailplatform/mockserver/internal/api"
)

// platform answers the operations of the API. All records are its own, behind
// one mutex: whoever has a *tx holds it.
type platform struct {
	cfg     Config
	deliver *deliverer
	faults  *faultPlan
	work    work
	changes *changes

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

func newPlatform(cfg Config) *platform {
	p := &platform{cfg: cfg, records: newRecords(), changes: &changes{}}
	p.faults = newFaultPlan(cfg.FaultSeed, cfg.Log, p.changes)
	p.deliver = newDeliverer(cfg, &p.work)
	p.deliver.faults, p.deliver.changes = p.faults, p.changes
	return p
}

// close stops what would happen later and waits for what happens now.
func (p *platform) close() {
	p.mu.Lock()
	p.closed = true
	p.stopCampaignsLocked()
	p.mu.Unlock()
	p.deliver.close()
	p.work.finish()
}

// tx is the time in which the caller holds the platform's mutex: it reads and
// changes records and collects what the outside is to hear of it afterwards.
type tx struct {
	*platform
	account *account
	user    *Token // who acts; nil for a recipient or the platform itself
	now     time.Time
	about   string     // the id of the message that events are about
	changed []*message // of which the stream tells
	events  []event    // fired after unlocking
	after   []func()   // called after that
}

// do runs an operation of the API: it locks, lets act change records and copy
// out what it answers, unlocks, and only then hands the events to deliveries.
func do[T any](ctx context.Context, p *platform, act func(t *tx) (T, error)) (T, error) {
	caller := exchangeOf(ctx).caller
	return transact(p, caller.AccountID, &caller, act)
}

// transact does the same for whoever acts on an account.
func transact[T any](p *platform, accountID int64, user *Token, act func(t *tx) (T, error)) (T, error) {
	p.whole.RLock()
	defer p.whole.RUnlock()
	t := &tx{platform: p, user: user, now: time.Now()}
	out, err := func() (T, error) {
		p.mu.Lock()
		defer p.mu.Unlock()
		t.account = p.accountLocked(accountID)
		defer t.tell()
		return act(t)
	}()
	p.deliver.enqueue(t.events)
	for _, f := range t.after {
		f()
	}
	return out, err
}

// tell tells the stream of the messages that changed.
func (t *tx) tell() {
	if len(t.changed) > maxBehind/2 {
		t.changes.tell(changeState, nil)
		return
	}
	for _, m := range t.changed {
		t.changes.tell(changeMessage, func() any { return m.glance() })
	}
}

func (p *platform) accountLocked(id int64) *account {
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
		return nil, notFound(what, id, loc...)
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
		return sender{}, invalid("not an email address", "body", "sender", "email")
	}
	return sender{in.Name, in.Email}, nil
}

// newUUID returns a random UUID, as ids of emails and events are.
func newUUID() string {
	var b [16]byte
	_, _ = rand.Read(b[:]) // never fails
	b[6], b[8] = b[6]&0x0f|0x40, b[8]&0x3f|0x80
	h := hex.EncodeToString(b[:])
	return h[:8] + "-" + h[8:12] + "-" + h[12:16] + "-" + h[16:20] + "-" + h[20:]
}
