package platform

import (
	"maps"
	"slices"

	"example.com/emailplatform/mockserver/internal/cut"
	"example.com/emailplatform/mockserver/internal/delivery"
	"example.com/emailplatform/mockserver/internal/problem"
)

// records are all that the platform knows.
type records struct {
	lastID   int64 // one sequence for everything, so that no id is valid for two kinds of resource
	accounts map[int64]*account
	messages map[string]*message // of all accounts, by id
	kept     []*message          // the same in their order; it only grows
	outbox   []*message          // those that were sent, in order; it only grows
	changing cut.Source[message] // told before a message changes
}

func newRecords() records {
	return records{accounts: map[int64]*account{}, messages: map[string]*message{}}
}

// webhooks are those of all accounts.
func (r *records) webhooks() (all []delivery.Webhook) {
	for _, id := range slices.Sorted(maps.Keys(r.accounts)) {
		all = append(all, r.accounts[id].webhooks()...)
	}
	return all
}

// stopCampaigns stops what would start later.
func (r *records) stopCampaigns() {
	for _, a := range r.accounts {
		a.stopCampaigns()
	}
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

func newAccount(id int64) *account {
	return &account{ID: id, Tags: map[string]bool{}, lookups: map[int64]*lookupState{}}
}

// wants reports whether any webhook of the account would be sent an event: one
// that nobody hears need not be made.
func (a *account) wants(event string) bool {
	return slices.ContainsFunc(a.Webhooks.all, func(h *hook) bool {
		return !h.Archived && slices.Contains(h.Events, event)
	})
}

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
