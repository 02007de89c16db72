package platform

import (
	"cmp"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"maps"

	"example.com/emailplatform/events"
	"example.com/emailplatform/mockserver/internal/activity"
	"example.com/emailplatform/mockserver/internal/clock"
	"example.com/emailplatform/mockserver/internal/problem"
)

// Restore replaces the whole state by that of a snapshot.
func (p *Platform) Restore(r io.Reader) error { return p.RestoreAt(nil, r) }

// RestoreAt does so, but for the clock: it goes on as at says, unless that is nil.
func (p *Platform) RestoreAt(at *clock.State, r io.Reader) error {
	restored, in, err := read(r)
	if err != nil {
		return err
	}
	in.Clock = cmp.Or(at, in.Clock)
	return p.replace(restored, in)
}

// read reads and checks a state.
func read(r io.Reader) (records, *state, error) {
	in, err := readState(r)
	if err != nil {
		return records{}, nil, err
	}
	if in.Clock != nil {
		if err := in.Clock.Check(); err != nil {
			return records{}, nil, err
		}
	}
	restored, err := in.records()
	return restored, in, err
}

// readState reads a whole state and the changes that follow it. A whole state
// that follows takes the place of all before.
func readState(r io.Reader) (*state, error) {
	decoder := json.NewDecoder(r)
	var all mergedState
	for n := 0; ; n++ {
		var next state
		err := decoder.Decode(&next)
		switch {
		case errors.Is(err, io.EOF) && n > 0:
			return &all.state, nil
		case err != nil:
			return nil, problem.Plainly(err)
		case n > 0 && next.Version == 0:
			if err := all.add(&next); err != nil {
				return nil, fmt.Errorf("change %d: %w", next.Change, err)
			}
			continue
		case next.Version < oldestVersion || next.Version > snapshotVersion:
			return nil, fmt.Errorf("version: want %d to %d, not %d", oldestVersion, snapshotVersion, next.Version)
		}
		all = mergedState{state: next}
	}
}

// Reset forgets everything.
func (p *Platform) Reset() {
	// Nothing in an empty state could be wrong; a closed server has none to lose.
	_ = p.replace(newRecords(), &state{})
}

// ErrClosed is what a platform does no more.
var ErrClosed = errors.New("the server is closed")

// replace puts records in the place of those that there are.
func (p *Platform) replace(with records, from *state) error {
	after, err := func() ([]func(), error) {
		p.whole.Lock()
		defer p.whole.Unlock()
		p.mu.Lock()
		defer p.mu.Unlock()
		if p.closed {
			return nil, ErrClosed
		}
		p.stopCampaigns()
		p.records = with
		p.acts++
		p.replaced++
		p.deliveries.Forget() // nothing of the old state becomes due by the new clock
		p.clock.Restore(from.Clock)
		p.deliveries.Replace(with.webhooks(), from.State)
		return p.resumeCampaignsLocked(), nil
	}()
	for _, f := range after {
		f()
	}
	p.changes.Publish(activity.State, nil)
	return err
}

// maxLastID is the last id that every reader of JSON takes for what it is. What
// can be added behind it does no harm.
const maxLastID int64 = 1<<53 - 1

// records builds and checks the records of a snapshot.
func (sn *state) records() (records, error) {
	out := newRecords()
	if sn.LastID < 0 || sn.LastID > maxLastID {
		return out, fmt.Errorf("last_id: want 0 to %d", maxLastID)
	}
	out.lastID = sn.LastID
	ids := idCheck{last: sn.LastID, seen: map[int64]bool{}}
	for i, a := range sn.Accounts {
		if a.ID == 0 || out.accounts[a.ID] != nil {
			return out, fmt.Errorf("accounts[%d]: account_id: want one of its own", i)
		}
		restored, err := a.restore(&ids)
		if err != nil {
			return out, fmt.Errorf("accounts[%d]: %w", i, err)
		}
		out.accounts[a.ID] = restored
	}
	if err := sn.restoreContacts(&out, &ids); err != nil {
		return out, err
	}
	for i, a := range sn.Accounts {
		restored := out.accounts[a.ID]
		restored.index()
		if err := restored.checkCampaigns(); err != nil {
			return out, fmt.Errorf("accounts[%d]: %w", i, err)
		}
	}
	for i := range sn.Messages {
		if err := sn.restoreMessage(&out, &sn.Messages[i]); err != nil {
			return out, fmt.Errorf("messages[%d]: %w", i, err)
		}
	}
	return out, sn.checkJournals(out.accounts)
}

func (sn *state) restoreMessage(out *records, saved *messageState) error {
	m := &saved.message
	switch {
	case m.ID == "" || out.message(m.ID) != nil:
		return errors.New("id: want one of its own")
	case saved.Content < 0 || saved.Content >= len(sn.Contents):
		return errNoContent
	case out.accounts[m.AccountID] == nil:
		return errors.New("account_id: there is none such")
	case m.Status == messageBounced && m.Bounce == nil:
		return errors.New("bounce: required")
	}
	if err := out.accounts[m.AccountID].checkOrigin(m); err != nil {
		return err
	}
	m.Content = sn.Contents[saved.Content]
	out.addMessage(m)
	if m.sent() {
		out.accounts[m.AccountID].outcomes.sent(m)
	}
	return nil
}

// checkOrigin wants what a message says that it came from.
func (a *account) checkOrigin(m *message) error {
	listed := m.ListID != 0
	switch m.SentBy {
	case events.SendingTypeCampaign:
		if a.Campaigns.byID[m.CampaignID] == nil {
			return errors.New("campaign_id: there is none such")
		}
		listed = true
	case events.SendingTypeWorkflow:
		listed = true
	case events.SendingTypeTransactional, events.SendingTypeEmailAPI:
	default:
		return fmt.Errorf("sent_by: %q is unknown", m.SentBy)
	}
	if l := a.Lists.byID[m.ListID]; listed && (l == nil || l.contacts.find(m.ContactID) == nil) {
		return errors.New("contact_id: there is none such on the list")
	}
	return nil
}

func (sn *state) checkJournals(accounts map[int64]*account) error {
	hooks := map[string]bool{}
	for _, a := range accounts {
		for _, h := range a.Webhooks.all {
			hooks[h.Name()] = true
		}
	}
	return sn.Check(hooks)
}

// idCheck finds ids that are missing, used twice or yet to come.
type idCheck struct {
	last int64
	seen map[int64]bool
}

func (c *idCheck) take(id int64) error {
	if id <= 0 || id > c.last || c.seen[id] {
		return fmt.Errorf("id %d: want one of its own, up to last_id", id)
	}
	c.seen[id] = true
	return nil
}

func (a accountState) restore(ids *idCheck) (*account, error) {
	out := newAccount(a.ID)
	err := cmp.Or(
		restoreAll(&out.Templates, "templates", a.Templates, ids, func(t *template) (int64, error) { return t.ID, nil }),
		a.restoreLists(out, ids),
		restoreAll(&out.Campaigns, "campaigns", a.Campaigns, ids, func(c *campaign) (int64, error) { return c.ID, nil }),
		restoreAll(&out.Workflows, "workflows", a.Workflows, ids, func(w *workflow) (int64, error) {
			return w.ID, out.wantsList(w.ListID, true)
		}),
		restoreAll(&out.Webhooks, "webhooks", a.Webhooks, ids, func(h *hook) (int64, error) {
			return h.ID, a.checkHook(h)
		}),
	)
	for _, tag := range a.Tags {
		out.Tags[tag] = true
	}
	for i, e := range a.Suppressed {
		if e == nil || !out.Suppression.add(*e) {
			return out, cmp.Or(err, fmt.Errorf("suppressed_emails[%d]: want an object with an email of its own", i))
		}
	}
	return out, err
}

// index notes what the account's own records say of one another.
func (a *account) index() {
	for _, c := range a.Campaigns.all {
		a.Templates.use(&c.Content, 0)
	}
	for _, w := range a.Workflows.all {
		a.Templates.use(&w.Content, 0)
		a.greet(w)
	}
	for _, h := range a.Webhooks.all {
		if !h.Archived {
			a.listen(h, 1)
		}
	}
	for _, l := range a.Lists.all {
		for c := range l.contacts.all.All() {
			a.addressees.added(l, c)
		}
	}
}

// checkCampaigns wants campaigns to be somewhere in their lists, whose contacts
// are restored.
func (a *account) checkCampaigns() error {
	for i, c := range a.Campaigns.all {
		if err := a.checkCampaign(c); err != nil {
			return fmt.Errorf("campaigns[%d]: %w", i, err)
		}
	}
	return nil
}

func (a *account) checkCampaign(c *campaign) error {
	contacts := 0
	if l := a.Lists.byID[c.ListID]; l != nil {
		contacts = l.contacts.all.Len()
	}
	if c.Next < 0 || c.Next > contacts {
		return fmt.Errorf("next: want 0 to %d, the contacts of the list", contacts)
	}
	return a.wantsList(c.ListID, c.Status == campaignScheduled || c.Status == campaignDelivering)
}

func (a accountState) checkHook(h *hook) error {
	if h.AccountID != a.ID {
		return errors.New("account_id: want the account's")
	}
	if !IsWebURL(h.URL) {
		return errors.New("url: want an absolute http or https URL")
	}
	if err := checkSecret(h.Secret, h.Hash); err != nil {
		return err
	}
	if h.RateLimit < 0 {
		return errors.New("rate_limit: want 0 or more")
	}
	return nil
}

// restoreAll fills a collection; check returns an item's id.
func restoreAll[T any](
	into interface{ add(id int64, item *T) }, name string, items []*T, ids *idCheck, check func(*T) (int64, error),
) error {
	for i, item := range items {
		if item == nil {
			return fmt.Errorf("%s[%d]: want an object", name, i)
		}
		id, err := check(item)
		if err == nil {
			err = ids.take(id)
		}
		if err != nil {
			return fmt.Errorf("%s[%d]: %w", name, i, err)
		}
		into.add(id, item)
	}
	return nil
}

func (a *account) wantsList(id int64, required bool) error {
	if a.Lists.byID[id] == nil && (required || id != 0) {
		return fmt.Errorf("list_id %d: there is none such", id)
	}
	return nil
}

func (a accountState) restoreLists(out *account, ids *idCheck) error {
	for i, saved := range a.Lists {
		l := &saved.list
		if err := ids.take(l.ID); err != nil {
			return fmt.Errorf("lists[%d]: %w", i, err)
		}
		l.contacts = newContactTable()
		for j, c := range saved.Contacts {
			if err := l.restoreContact(c, ids); err != nil {
				return fmt.Errorf("lists[%d]: contacts[%d]: %w", i, j, err)
			}
		}
		out.Lists.add(l.ID, l)
	}
	return nil
}

// restoreContacts restores those that are not in their lists.
func (sn *state) restoreContacts(out *records, ids *idCheck) error {
	lists := map[int64]*list{}
	for _, a := range out.accounts {
		maps.Copy(lists, a.Lists.byID)
	}
	for i := range sn.Contacts {
		l := lists[sn.Contacts[i].ListID]
		if l == nil {
			return fmt.Errorf("contacts[%d]: list_id: there is none such", i)
		}
		if err := l.restoreContact(&sn.Contacts[i].contact, ids); err != nil {
			return fmt.Errorf("contacts[%d]: %w", i, err)
		}
	}
	return nil
}

func (l *list) restoreContact(c *contact, ids *idCheck) error {
	n := l.contacts.all.Len()
	switch {
	case c == nil:
		return errors.New("want an object")
	case n > 0 && c.ID <= l.contacts.all.At(n-1).ID:
		return errors.New("id: want them in order")
	case l.contacts.at(c.Email) != nil:
		return errors.New("email: it is on the list already")
	}
	if err := ids.take(c.ID); err != nil {
		return err
	}
	l.contacts.add(c)
	return nil
}
