package platform

import (
	"fmt"
	"io"
	"iter"
	"maps"

	"example.com/emailplatform/mockserver/internal/table"
)

// ResetAccount deletes the resources, messages, events and deliveries of an account.
// Other accounts and the sequence of ids do not change.
func (p *Platform) ResetAccount(id int64) error { return p.replaceAccount(newAccount(id), 0) }

// RestoreAccount deletes the same records as ResetAccount, and then adds the
// account's resources from a snapshot. If another account uses the id of a restored
// resource, RestoreAccount returns an error and changes nothing.
func (p *Platform) RestoreAccount(id int64, r io.Reader) error {
	_, restored, err := read(r)
	if err != nil {
		return err
	}
	account := restored.accounts[id]
	if account == nil {
		account = newAccount(id)
	}
	account.outcomes = newOutcomes() // its messages are not restored
	return p.replaceAccount(account, restored.lastID)
}

// HasAccount reports whether the account exists.
func (p *Platform) HasAccount(id int64) bool {
	p.mu.Lock()
	defer p.mu.Unlock()
	return p.accounts[id] != nil
}

func (p *Platform) replaceAccount(with *account, lastID int64) error {
	return p.change(func(t *tx) error {
		others := records{lastID: p.lastID, accounts: maps.Clone(p.accounts)}
		delete(others.accounts, with.ID)
		for id := range with.ids() {
			if others.taken(id) {
				return fmt.Errorf("account %d: another account now has the id %d", with.ID, id)
			}
		}
		p.accountLocked(with.ID).stopCampaigns()
		p.accounts[with.ID] = with
		p.lastID = max(p.lastID, lastID)
		p.deleteMessages(with.ID)
		p.Deliveries.ReplaceAccount(with.ID, with.Webhooks.copies())
		t.resume(with)
		return nil
	})
}

func (r *records) deleteMessages(account int64) {
	all := r.messages.Snapshot()
	r.messages, r.places = table.Table[message]{}, map[string]int{}
	for m := range all.All() {
		if m.AccountID != account {
			r.addMessage(new(*m))
		}
	}
}

func (a *account) ids() iter.Seq[int64] {
	return func(yield func(int64) bool) {
		for _, keys := range []iter.Seq[int64]{
			maps.Keys(a.Templates.byKey), maps.Keys(a.Lists.byKey), maps.Keys(a.Campaigns.byKey),
			maps.Keys(a.Workflows.byKey), maps.Keys(a.Webhooks.byKey),
		} {
			for id := range keys {
				if !yield(id) {
					return
				}
			}
		}
		for l := range a.Lists.all() {
			for c := range l.contacts.all.All() {
				if !yield(c.ID) {
					return
				}
			}
		}
	}
}
