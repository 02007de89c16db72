package platform

import (
	"iter"
	"maps"
	"slices"
	"strings"

	"example.com/emailplatform/mockserver/internal/api"
	"example.com/emailplatform/mockserver/internal/delivery"
	"example.com/emailplatform/mockserver/internal/table"
)

type records struct {
	lastID         int64 // one sequence for all resources, so ids are unique
	accounts       map[int64]*account
	messages       table.Table[message] // of all accounts, in order of creation
	messageIndexes map[string]int       // indexes in messages, by message id
}

func newRecords() records {
	return records{accounts: map[int64]*account{}, messageIndexes: map[string]int{}}
}

func (r *records) addMessage(m *message) {
	r.messageIndexes[m.ID] = r.messages.Len()
	r.messages.Add(m)
}

// message returns the message with the given id, or nil if there is none. The caller
// must not change the message.
func (r *records) message(id string) *message {
	if i, ok := r.messageIndexes[id]; ok {
		return r.messages.At(i)
	}
	return nil
}

func (r *records) webhooks() (all []delivery.Webhook) {
	for _, id := range slices.Sorted(maps.Keys(r.accounts)) {
		all = append(all, r.accounts[id].Webhooks.copies()...)
	}
	return all
}

func (r *records) stopCampaigns() {
	for _, a := range r.accounts {
		a.stopCampaigns()
	}
}

func (a *account) stopCampaigns() {
	for c := range a.Campaigns.all() {
		if c.start != nil {
			c.start.alarm.Stop()
		}
	}
}

// accountsLocked yields the account with the given id, or all accounts if the id is 0.
func (r *records) accountsLocked(only int64) iter.Seq[*account] {
	return func(yield func(*account) bool) {
		for _, id := range slices.Sorted(maps.Keys(r.accounts)) {
			if (only == 0 || id == only) && !yield(r.accounts[id]) {
				return
			}
		}
	}
}

type account struct {
	ID          int64
	Templates   collection[int64, api.Template]
	Lists       collection[int64, list]
	Campaigns   collection[int64, campaign]
	Workflows   collection[int64, api.Workflow]
	Webhooks    collection[int64, delivery.Webhook]
	Suppression suppressionList
	Tags        map[string]bool
	lookups     map[int64]*lookupState // by user
	counts      accountCounts

	// contactsByAddress maps an address in lower case to the contact with this address that
	// was added last. Entries are never removed, because even a deleted contact stays on
	// its list.
	contactsByAddress map[string]contactLocation
}

func newAccount(id int64) *account {
	return &account{
		ID:      id,
		Tags:    map[string]bool{},
		lookups: map[int64]*lookupState{},
		counts:  newAccountCounts(),

		contactsByAddress: map[string]contactLocation{},
	}
}

// contactLocation identifies a contact of an account.
type contactLocation struct {
	listID int64
	slot   uint32
}

// indexContact updates contactsByAddress after a contact was added to a list.
func (a *account) indexContact(l *list, c *contact) {
	if _, last := a.contactAt(c.Email); last == nil || last.Added < c.Added {
		a.contactsByAddress[strings.ToLower(c.Email)] = contactLocation{l.ListID, c.slot}
	}
}

// contactAt returns the contact with the given address that was added last to any list, or nil.
func (a *account) contactAt(address string) (*list, *contact) {
	found, ok := a.contactsByAddress[strings.ToLower(address)]
	if !ok {
		return nil, nil
	}
	l := a.Lists.get(found.listID)
	return l, l.contacts.slot(found.slot)
}
