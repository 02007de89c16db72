package platform

import (
	"cmp"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"maps"

	"example.com/emailplatform/events"
	"example.com/emailplatform/mockserver/internal/api"
	"example.com/emailplatform/mockserver/internal/changes"
	"example.com/emailplatform/mockserver/internal/clock"
	"example.com/emailplatform/mockserver/internal/contract"
	"example.com/emailplatform/mockserver/internal/delivery"
	"example.com/emailplatform/mockserver/internal/table"
)

// Restore replaces the whole state with the state in a snapshot.
func (p *Platform) Restore(r io.Reader) error { return p.RestoreAt(nil, r) }

// RestoreAt replaces the whole state with the state in a snapshot. If at is not nil, it
// replaces the state of the clock in the snapshot.
func (p *Platform) RestoreAt(at *clock.State, r io.Reader) error {
	in, restored, err := read(r)
	if err != nil {
		return err
	}
	in.Clock = cmp.Or(at, in.Clock)
	return p.replace(restored.records, in)
}

// Reset deletes everything.
func (p *Platform) Reset() {
	_ = p.replace(newRecords(), &state{}) // ignore the error, because a closed server has no state
}

func (p *Platform) replace(with records, from *state) error {
	return p.change(func(t *tx) error {
		p.stopCampaigns()
		p.records = with
		p.Deliveries.DropPending() // first, so no old work becomes due with the new clock
		p.Clock.Restore(from.Clock)
		p.Deliveries.Replace(with.webhooks(), from.State)
		t.now = p.Clock.Now()
		for a := range p.accountsLocked(0) {
			t.resumeCampaigns(a)
		}
		return nil
	})
}

// change runs a function that replaces records. Other operations wait until the function
// returns.
func (p *Platform) change(act func(t *tx) error) error {
	t := &tx{p: p, now: p.Clock.Now()}
	err := func() error {
		p.snapshotLock.Lock()
		defer p.snapshotLock.Unlock()
		p.mu.Lock()
		defer p.mu.Unlock()
		if p.closed {
			return ErrClosed
		}
		return act(t)
	}()
	for _, f := range t.after {
		f()
	}
	p.Changes.Publish(changes.State, nil)
	return err
}

func read(r io.Reader) (*state, restorer, error) {
	in, err := readState(r)
	if err != nil {
		return nil, restorer{}, err
	}
	restored, err := in.records()
	return in, restored, err
}

func readState(r io.Reader) (*state, error) {
	decoder := json.NewDecoder(r)
	decoder.DisallowUnknownFields()
	var s state
	err := s.decode(decoder)
	if s.Version != snapshotVersion && (err == nil || s.Version != 0) { // another version can cause other errors
		return nil, fmt.Errorf("version must be %d, got %d", snapshotVersion, s.Version)
	}
	if err != nil {
		return nil, err
	}
	if _, err := decoder.Token(); !errors.Is(err, io.EOF) {
		return nil, errors.New("must be one JSON object")
	}
	return &s, nil
}

var errNoContent = errors.New("content does not exist")

// maxLastID is the largest id that every JSON parser represents exactly.
const maxLastID int64 = 1<<53 - 1

// restorer builds records from a state.
type restorer struct {
	records

	lists  map[int64]*list
	owners map[int64]int64 // accounts of the records, by id
}

func (s *state) records() (r restorer, err error) {
	if s.LastID < 0 || s.LastID > maxLastID {
		return r, fmt.Errorf("last_id must be 0 to %d, got %d", maxLastID, s.LastID)
	}
	if s.Clock != nil {
		if err := s.Clock.Check(); err != nil {
			return r, err
		}
	}
	r = restorer{newRecords(), map[int64]*list{}, map[int64]int64{}}
	r.lastID = s.LastID
	for _, step := range []func() error{
		func() error { return each("accounts", s.Accounts, r.restoreAccount) },
		func() error { return each("contacts", s.Contacts, r.restoreContact) },
		func() error { return each("accounts", s.Accounts, r.buildIndexes) },
		func() error {
			return each("messages", s.Messages, func(m *messageState) error { return r.restoreMessage(m, s.Contents) })
		},
		func() error { return s.Check(r.webhooks()) },
	} {
		if err := step(); err != nil {
			return r, err
		}
	}
	return r, nil
}

// each restores all records of one kind. It returns the first error, with the
// position of the record.
func each[T any](kind string, all []T, restore func(*T) error) error {
	for i := range all {
		if err := restore(&all[i]); err != nil {
			return fmt.Errorf("%s[%d]: %w", kind, i, err)
		}
	}
	return nil
}

func (r *restorer) claimID(id, account int64) error {
	if id <= 0 || id > r.lastID || r.owners[id] != 0 {
		return fmt.Errorf("id %d must be unique, and at most last_id", id)
	}
	r.owners[id] = account
	return nil
}

func (r *restorer) restoreAccount(in *accountState) error {
	if in.ID == 0 || r.accounts[in.ID] != nil {
		return fmt.Errorf("account_id %d must be unique, and not 0", in.ID)
	}
	a := newAccount(in.ID)
	r.accounts[in.ID] = a
	for _, tag := range in.Tags {
		a.Tags[tag] = true
	}
	return cmp.Or(
		each("templates", in.Templates, func(t *api.Template) error {
			a.Templates.add(t.TemplateID, t)
			return cmp.Or(r.claimID(t.TemplateID, a.ID), checkUnix("created_on", t.CreatedOn), checkUnix("updated_on", t.UpdatedOn))
		}),
		each("lists", in.Lists, func(l *api.List) error {
			r.lists[l.ListID] = &list{*l, newContactTable()}
			a.Lists.add(l.ListID, r.lists[l.ListID])
			return cmp.Or(r.claimID(l.ListID, a.ID), checkUnix("created_on", l.CreatedOn))
		}),
		each("campaigns", in.Campaigns, func(c *campaign) error {
			a.Campaigns.add(c.CampaignID, c)
			return cmp.Or(r.claimID(c.CampaignID, a.ID), checkUnix("created_on", c.CreatedOn),
				checkUnix("updated_on", c.UpdatedOn), checkUnix("scheduled_for", c.ScheduledFor))
		}),
		each("workflows", in.Workflows, func(w *api.Workflow) error {
			a.Workflows.add(w.WorkflowID, w)
			return cmp.Or(r.claimID(w.WorkflowID, a.ID), a.requireList(w.ListID), checkUnix("created_on", w.CreatedOn))
		}),
		each("webhooks", in.Webhooks, func(h *delivery.Webhook) error {
			a.Webhooks.add(h.ID, h)
			return cmp.Or(r.claimID(h.ID, a.ID), a.checkHook(h))
		}),
		each("suppressed_emails", in.Suppressed, func(e *api.SuppressedEmail) error {
			if !contract.IsPattern(e.Email) || !a.Suppression.suppress(*e) {
				return fmt.Errorf("email %q must be a unique address or pattern", e.Email)
			}
			return checkUnix("created_on", e.CreatedOn)
		}),
	)
}

// checkUnix returns an error if a field is not a time that events and control routes can contain.
func checkUnix(field string, seconds int64) error {
	if seconds < 0 || seconds > maxUnix {
		return fmt.Errorf("%s must be 0 to %d, in Unix seconds, got %d", field, int64(maxUnix), seconds)
	}
	return nil
}

func (a *account) requireList(id int64) error {
	if a.Lists.get(id) == nil {
		return fmt.Errorf("list_id %d does not exist", id)
	}
	return nil
}

func (a *account) checkHook(h *delivery.Webhook) error {
	switch {
	case h.AccountID != a.ID:
		return fmt.Errorf("account_id must be %d, got %d", a.ID, h.AccountID)
	case h.RateLimit < 0:
		return fmt.Errorf("rate_limit must be 0 or more, got %d", h.RateLimit)
	}
	if _, err := contract.ParseURL(h.URL); err != nil {
		return fmt.Errorf("url %w", err)
	}
	return checkSecret(h.Secret, h.Hash)
}

func (r *restorer) restoreContact(c *contactState) error {
	l := r.lists[c.ListID]
	if l == nil {
		return fmt.Errorf("list_id %d does not exist", c.ListID)
	}
	if n := l.contacts.all.Len(); n > 0 && c.ID <= l.contacts.all.At(n-1).ID {
		return fmt.Errorf("id %d must be greater than the earlier ids on the list", c.ID)
	}
	if l.contacts.at(c.Email) != nil {
		return fmt.Errorf("email %s must be unique on the list", c.Email)
	}
	l.contacts.add(&c.contact)
	return cmp.Or(r.claimID(c.ID, r.owners[c.ListID]), checkUnix("subscribed_on", c.SubscribedOn))
}

// buildIndexes builds the indexes of an account and checks its campaigns. The account's
// contacts must already be restored.
func (r *restorer) buildIndexes(in *accountState) error {
	a := r.accounts[in.ID]
	for l := range a.Lists.all() {
		for c := range l.contacts.all.All() {
			a.indexContact(l, c)
		}
	}
	return each("campaigns", in.Campaigns, func(c *campaign) error {
		contacts := 0
		if l := a.Lists.get(c.ListID); l != nil {
			contacts = l.contacts.all.Len()
		} else if c.ListID != 0 || c.Status == campaignScheduled || c.Status == campaignDelivering {
			return a.requireList(c.ListID)
		}
		if c.Next < 0 || c.Next > contacts {
			return fmt.Errorf("next must be between 0 and %d, the number of contacts on the list, got %d", contacts, c.Next)
		}
		return nil
	})
}

func (r *restorer) restoreMessage(in *messageState, contents []api.MessageContent) error {
	m, a := &in.message, r.accounts[in.AccountID]
	switch {
	case m.ID == "" || r.message(m.ID) != nil:
		return fmt.Errorf("id %q must be unique and must not be empty", m.ID)
	case in.Content < 0 || in.Content >= len(contents):
		return errNoContent
	case a == nil:
		return fmt.Errorf("account_id %d does not exist", m.AccountID)
	case m.Status == messageBounced && m.Bounce == nil:
		return errors.New("bounce is required")
	}
	occurred := cmp.Or(m.Bounce, &bounce{}).OccurredOn
	if err := cmp.Or(a.checkOrigin(m), checkUnix("submitted_on", m.SubmittedOn), checkUnix("delivered_on", m.DeliveredOn),
		checkUnix("bounce.occurred_on", occurred)); err != nil {
		return err
	}
	m.Content = contents[in.Content]
	r.addMessage(m)
	if m.inOutbox() {
		a.counts.addMessage(m)
	}
	return nil
}

// checkOrigin returns an error if the campaign or the contact of a message does
// not exist.
func (a *account) checkOrigin(m *message) error {
	listed := m.ListID != 0
	switch m.SentBy {
	case events.SendingTypeCampaign:
		if a.Campaigns.get(m.CampaignID) == nil {
			return fmt.Errorf("campaign_id %d does not exist", m.CampaignID)
		}
		listed = true
	case events.SendingTypeWorkflow:
		listed = true
	case events.SendingTypeTransactional, events.SendingTypeEmailAPI:
	default:
		return fmt.Errorf("sent_by %q does not exist", m.SentBy)
	}
	if l := a.Lists.get(m.ListID); listed && (l == nil || l.contacts.find(m.ContactID) == nil) {
		return fmt.Errorf("contact_id %d does not exist on list %d", m.ContactID, m.ListID)
	}
	return nil
}

// ResetAccount deletes the resources, messages, events and deliveries of an account. It
// does not change other accounts or the sequence of ids.
func (p *Platform) ResetAccount(id int64) error { return p.replaceAccount(newAccount(id), restorer{}) }

// RestoreAccount deletes the same records as ResetAccount, and then adds the account's
// resources from a snapshot. If another account uses the id of one of these resources,
// RestoreAccount returns an error and changes nothing.
func (p *Platform) RestoreAccount(id int64, r io.Reader) error {
	_, restored, err := read(r)
	if err != nil {
		return err
	}
	account := restored.accounts[id]
	if account == nil {
		account = newAccount(id)
	}
	account.counts = newAccountCounts() // its messages are not restored
	return p.replaceAccount(account, restored)
}

// replaceAccount replaces an account with one of the restored accounts or an empty account.
func (p *Platform) replaceAccount(with *account, from restorer) error {
	return p.change(func(t *tx) error {
		others := records{lastID: p.lastID, accounts: maps.Clone(p.accounts)}
		delete(others.accounts, with.ID)
		for id, owner := range from.owners {
			if owner == with.ID && others.idInUse(id) {
				return fmt.Errorf("account %d: id %d now belongs to another account", with.ID, id)
			}
		}
		p.accountLocked(with.ID).stopCampaigns()
		p.accounts[with.ID] = with
		p.lastID = max(p.lastID, from.lastID)
		p.deleteMessages(with.ID)
		p.Deliveries.ReplaceAccount(with.ID, with.Webhooks.copies())
		t.resumeCampaigns(with)
		return nil
	})
}

func (r *records) deleteMessages(account int64) {
	all := r.messages.Snapshot()
	r.messages, r.messageIndexes = table.Table[message]{}, map[string]int{}
	for _, m := range all {
		if m.AccountID != account {
			r.addMessage(new(*m))
		}
	}
}
