package platform

import (
	"cmp"
	"iter"
	"maps"
	"slices"

	"example.com/emailplatform/mockserver/internal/delivery"
	"example.com/emailplatform/mockserver/internal/problem"
	"example.com/emailplatform/mockserver/internal/table"
)

// records are all that the platform knows.
type records struct {
	lastID   int64 // one sequence for everything, so that no id is valid for two kinds of resource
	accounts map[int64]*account
	messages table.Table[message] // of all accounts, in the order in which they were made
	places   map[string]int       // of the messages, by id
}

func newRecords() records {
	return records{accounts: map[int64]*account{}, places: map[string]int{}}
}

func (r *records) addMessage(m *message) {
	r.places[m.ID] = r.messages.Len()
	r.messages.Add(m)
}

// message returns a message, which must not be changed, or nil.
func (r *records) message(id string) *message {
	if i, ok := r.places[id]; ok {
		return r.messages.At(i)
	}
	return nil
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

// accountsLocked iterates over an account, or over all if it is 0, by their ids.
func (p *Platform) accountsLocked(only int64) iter.Seq[*account] {
	return func(yield func(*account) bool) {
		for _, id := range slices.Sorted(maps.Keys(p.accounts)) {
			if (only == 0 || id == only) && !yield(p.accounts[id]) {
				return
			}
		}
	}
}

// account is what the tokens of one account see.
type account struct {
	ID          int64
	Templates   catalogue
	Lists       collection[list]
	Campaigns   collection[campaign]
	Workflows   collection[workflow]
	Webhooks    collection[hook]
	Suppression suppressionList
	Tags        map[string]bool
	addressees  addressees
	heard       map[string]int         // how many webhooks that are not archived want an event
	greetings   map[int64][]*workflow  // those that are active, by list, in the order of their ids
	lookups     map[int64]*lookupState // by user
	outcomes    outcomes
}

func newAccount(id int64) *account {
	return &account{
		ID:          id,
		Templates:   newCatalogue(),
		Suppression: newSuppressionList(),
		Tags:        map[string]bool{},
		addressees:  addressees{},
		heard:       map[string]int{},
		greetings:   map[int64][]*workflow{},
		lookups:     map[int64]*lookupState{},
		outcomes:    newOutcomes(),
	}
}

// wants reports whether any webhook of the account would be sent an event: one
// that nobody hears need not be made.
func (a *account) wants(event string) bool { return a.heard[event] > 0 }

// listen counts a webhook among those that hear its events, by 1, or no more, by -1.
func (a *account) listen(h *hook, by int) {
	for _, event := range h.Events {
		a.heard[event] += by
	}
}

// greet has an active workflow greet the contacts of its list, and no other.
func (a *account) greet(w *workflow) {
	all := a.greetings[w.ListID]
	i, found := slices.BinarySearchFunc(all, w.ID, func(w *workflow, id int64) int { return cmp.Compare(w.ID, id) })
	switch {
	case w.Active && !found:
		a.greetings[w.ListID] = slices.Insert(all, i, w)
	case !w.Active && found:
		a.greetings[w.ListID] = slices.Delete(all, i, i+1)
	}
}

// collection holds the resources of one kind in an account, the oldest first. None
// is ever removed.
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

// find returns the resource with the id, or the error that answers for it.
func (c *collection[T]) find(id int64, what string, loc ...any) (*T, error) {
	item := c.byID[id]
	if item == nil {
		return nil, problem.NotFound(what, id, loc...)
	}
	return item, nil
}
