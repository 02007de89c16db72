package platform

import (
	"fmt"
	"io"
	"iter"
	"maps"

	"example.com/emailplatform/mockserver/internal/activity"
	"example.com/emailplatform/mockserver/internal/delivery"
	"example.com/emailplatform/mockserver/internal/table"
)

// ResetAccount forgets everything of an account: its resources, messages, events
// and deliveries. The other accounts stay as they are, and ids go on.
func (p *Platform) ResetAccount(id int64) error { return p.replaceAccount(newAccount(id), 0) }

// RestoreAccount does so too, and gives the account the resources that it has in a
// snapshot. It changes nothing if another account has an id of theirs.
func (p *Platform) RestoreAccount(id int64, r io.Reader) error {
	restored, _, err := read(r)
	if err != nil {
		return err
	}
	account := restored.accounts[id]
	if account == nil {
		account = newAccount(id)
	}
	account.outcomes = newOutcomes() // its messages do not come back
	return p.replaceAccount(account, restored.lastID)
}

// HasAccount reports whether anything is known of an account.
func (p *Platform) HasAccount(id int64) bool {
	p.mu.Lock()
	defer p.mu.Unlock()
	return p.accounts[id] != nil
}

// replaceAccount puts an account in the place of the one that there is.
func (p *Platform) replaceAccount(with *account, lastID int64) error {
	after, err := func() ([]func(), error) {
		p.whole.Lock()
		defer p.whole.Unlock()
		p.mu.Lock()
		defer p.mu.Unlock()
		if p.closed {
			return nil, ErrClosed
		}
		if err := p.mayReplaceLocked(with); err != nil {
			return nil, err
		}
		if old := p.accounts[with.ID]; old != nil {
			old.stopCampaigns()
		}
		p.accounts[with.ID] = with
		p.acts++
		p.replaced++ // whoever writes changes down begins anew: this one takes away
		p.lastID = max(p.lastID, lastID)
		p.forgetMessagesLocked(with.ID)
		p.deliveries.ReplaceAccount(with.ID, with.webhooks())
		t := &tx{p: p, now: p.clock.Now()}
		t.resume(with)
		return t.after, nil
	}()
	for _, f := range after {
		f()
	}
	p.changes.Publish(activity.State, nil)
	return err
}

// mayReplaceLocked refuses an account with an id that another one has.
func (p *Platform) mayReplaceLocked(with *account) error {
	others := records{lastID: p.lastID, accounts: maps.Clone(p.accounts)}
	delete(others.accounts, with.ID)
	for id := range with.ids() {
		if others.taken(id) {
			return fmt.Errorf("account %d: another account has the id %d by now", with.ID, id)
		}
	}
	return nil
}

func (p *Platform) forgetMessagesLocked(account int64) {
	all := p.messages.Snapshot()
	p.messages, p.places = table.Table[message]{}, map[string]int{}
	for m := range all.All() {
		if m.AccountID != account {
			p.addMessage(new(*m))
		}
	}
}

// ids are those of all resources of an account.
func (a *account) ids() iter.Seq[int64] {
	return func(yield func(int64) bool) {
		for _, keys := range []iter.Seq[int64]{
			maps.Keys(a.Templates.byID), maps.Keys(a.Lists.byID), maps.Keys(a.Campaigns.byID),
			maps.Keys(a.Workflows.byID), maps.Keys(a.Webhooks.byID), a.contactIDs(),
		} {
			for id := range keys {
				if !yield(id) {
					return
				}
			}
		}
	}
}

func (a *account) contactIDs() iter.Seq[int64] {
	return func(yield func(int64) bool) {
		for _, l := range a.Lists.all {
			for c := range l.contacts.all.All() {
				if !yield(c.ID) {
					return
				}
			}
		}
	}
}

func (a *account) stopCampaigns() {
	for _, c := range a.Campaigns.all {
		c.alarm.Stop()
	}
}

// webhooks are those of an account.
func (a *account) webhooks() (all []delivery.Webhook) {
	for _, h := range a.Webhooks.all {
		all = append(all, h.Webhook)
	}
	return all
}
