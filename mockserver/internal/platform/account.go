package platform

import (
	"iter"
	"maps"
	"slices"

	"example.com/emailplatform/mockserver/internal/api"
	"example.com/emailplatform/mockserver/internal/delivery"
	"example.com/emailplatform/mockserver/internal/table"
)

// records contains all data of the platform.
type records struct {
	lastID   int64 // one sequence for all resources, so each id belongs to one resource
	accounts map[int64]*account
	messages table.Table[message] // of all accounts, in order of creation
	places   map[string]int       // of the messages, by id
}

func newRecords() records {
	return records{accounts: map[int64]*account{}, places: map[string]int{}}
}

func (r *records) addMessage(m *message) {
	r.places[m.ID] = r.messages.Len()
	r.messages.Add(m)
}

// message returns a message, or nil. The caller must not change it.
func (r *records) message(id string) *message {
	if i, ok := r.places[id]; ok {
		return r.messages.At(i)
	}
	return nil
}

// webhooks returns the webhooks of all accounts.
func (r *records) webhooks() (all []delivery.Webhook) {
	for _, id := range slices.Sorted(maps.Keys(r.accounts)) {
		all = append(all, r.accounts[id].Webhooks.copies()...)
	}
	return all
}

// stopCampaigns stops the alarms of scheduled campaigns.
func (r *records) stopCampaigns() {
	for _, a := range r.accounts {
		a.stopCampaigns()
	}
}

func (a *account) stopCampaigns() {
	for c := range a.Campaigns.all() {
		c.alarm.Stop()
	}
}

// accountsLocked yields an account by its id, or all accounts if the id is 0.
func (p *Platform) accountsLocked(only int64) iter.Seq[*account] {
	return func(yield func(*account) bool) {
		for _, id := range slices.Sorted(maps.Keys(p.accounts)) {
			if (only == 0 || id == only) && !yield(p.accounts[id]) {
				return
			}
		}
	}
}

// account contains the records that the tokens of an account can access.
type account struct {
	ID          int64
	Templates   collection[int64, api.Template]
	Lists       collection[int64, list]
	Campaigns   collection[int64, campaign]
	Workflows   collection[int64, api.Workflow]
	Webhooks    collection[int64, delivery.Webhook]
	Suppression suppressionList
	Tags        map[string]bool
	addressees  addressees
	lookups     map[int64]*lookupState // by user
	outcomes    outcomes
}

func newAccount(id int64) *account {
	return &account{
		ID:         id,
		Tags:       map[string]bool{},
		addressees: addressees{},
		lookups:    map[int64]*lookupState{},
		outcomes:   newOutcomes(),
	}
}
