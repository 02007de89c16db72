package platform

import (
	"cmp"
	"iter"
	"slices"
	"strings"
	"time"

	"example.com/emailplatform/mockserver/internal/activity"
	"example.com/emailplatform/mockserver/internal/api"
	"example.com/emailplatform/mockserver/internal/clock"
	"example.com/emailplatform/mockserver/internal/delivery"
	"example.com/emailplatform/mockserver/internal/mail"
	"example.com/emailplatform/mockserver/model"
)

// Record is a message with all details.
type Record struct {
	model.Message
	Reason string             `json:"reason,omitzero" doc:"the reason why the message was rejected"`
	Error  string             `json:"error,omitzero" doc:"the error message, if the status is error"`
	Links  []string           `json:"links" doc:"the targets of the links in the HTML part, then the other URLs in the text part"`
	Events []model.FiredEvent `json:"events" doc:"the events of the message, oldest first"`
}

// Message returns all details of the message with the given id, or nil if there is
// none.
func (p *Platform) Message(id string) *Record {
	m := p.copyOfMessage(id)
	if m == nil {
		return nil
	}
	out := &Record{Message: m.rendered(p.BaseURL()), Reason: m.Reason, Error: m.Error}
	out.Links = orEmpty(out.Message.Links())
	out.Events = p.Deliveries.Events(func(e *model.FiredEvent) bool { return e.MessageID == id })
	return out
}

// Checks returns the probable problems in a message. If ok is false, the message does
// not exist.
func (p *Platform) Checks(id string) (found []model.Finding, ok bool) {
	m := p.copyOfMessage(id)
	if m == nil {
		return nil, false
	}
	return mail.Check(m.rendered(p.BaseURL()), mail.Tags{
		Content: strings.Join([]string{m.Content.Subject, m.Content.HTML, m.Content.Text}, "\n"),
		Value:   m.mergeTagLookup(p.BaseURL()),
		Known:   m.tagNames(),
	}), true
}

// copyOfMessage returns a copy of a message, or nil if it does not exist or was deleted.
// The copy shares only parts with the message that never change.
func (p *Platform) copyOfMessage(id string) *message {
	p.mu.Lock()
	defer p.mu.Unlock()
	if m := p.message(id); m != nil && !m.Deleted {
		return new(*m)
	}
	return nil
}

// DeleteMessage removes a message from the outbox. The API still returns the
// deleted email, and its events and deliveries remain.
func (p *Platform) DeleteMessage(id string) error { return p.setDeleted(id, true) }

// RestoreMessage restores a deleted message to its original position in the
// outbox.
func (p *Platform) RestoreMessage(id string) error { return p.setDeleted(id, false) }

func (p *Platform) setDeleted(id string, deleted bool) error {
	err := p.withMessage(id, func(_ *tx, m *message) error {
		if m.Deleted == deleted {
			return noEmail(id)
		}
		m.Deleted = deleted
		return nil
	})
	p.Changes.Publish(activity.State, nil)
	return err
}

// snapshotMessages returns all messages, including messages outside the outbox, and the
// number of messages in the outbox.
func (p *Platform) snapshotMessages() (messages []*message, n int) {
	p.mu.Lock()
	defer p.mu.Unlock()
	for _, a := range p.accounts {
		n += int(a.outcomes.all.Sent)
	}
	return p.messages.Snapshot(), n
}

// Outbox returns the sent messages, oldest first.
func (p *Platform) Outbox() []model.Message {
	return p.outbox(func(*message) bool { return true })
}

// OutboxTo returns the messages that were sent to an address, oldest first. It ignores
// letter case.
func (p *Platform) OutboxTo(address string) []model.Message {
	return p.outbox(func(m *message) bool { return strings.EqualFold(m.To, address) })
}

func (p *Platform) outbox(wanted func(*message) bool) []model.Message {
	messages, _ := p.snapshotMessages()
	var found []*message // rendered messages are large, so avoid growing their slice
	for _, m := range messages {
		if m.inOutbox() && wanted(m) {
			found = append(found, m)
		}
	}
	out, base := make([]model.Message, len(found)), p.BaseURL()
	for i, m := range found {
		out[i] = m.rendered(base)
	}
	return out
}

// OutboxMessage is a message in the outbox that has not been rendered yet.
type OutboxMessage struct{ *message }

// Subject returns the rendered subject.
func (s OutboxMessage) Subject() string { return s.subject() }

// Summary returns the message without its parts.
func (s OutboxMessage) Summary() Summary { return s.summary() }

// AppendText appends the text part and the visible text of the HTML.
func (s OutboxMessage) AppendText(to []byte) []byte {
	to = append(to, mail.MergeText(s.Content.Text, s.value)...)
	to = append(to, '\n')
	return append(to, mail.MergeText(mail.Visible(s.Content.HTML, len(s.Content.HTML)), s.value)...)
}

// Sent returns the message with the given id, even if it was deleted. If ok is false, no
// message has the id.
func (p *Platform) Sent(id string) (s OutboxMessage, ok bool) {
	p.mu.Lock()
	defer p.mu.Unlock()
	m := p.message(id)
	if m == nil {
		return s, false
	}
	return OutboxMessage{new(*m)}, true
}

// NewestInOutbox returns the number of sent messages, and an iterator over the
// messages, newest first.
func (p *Platform) NewestInOutbox() (int, iter.Seq[OutboxMessage]) {
	messages, n := p.snapshotMessages()
	return n, func(yield func(OutboxMessage) bool) {
		for _, m := range slices.Backward(messages) {
			if m.inOutbox() && !yield(OutboxMessage{m}) {
				return
			}
		}
	}
}

// Rendered returns a message with its parts.
func (p *Platform) Rendered(m OutboxMessage) model.Message { return m.rendered(p.BaseURL()) }

// ListedContact is a contact in search results.
type ListedContact struct {
	AccountID    int64     `json:"account_id" doc:"the account of the contact"`
	ListID       int64     `json:"list_id,string" doc:"the id of the list"`
	ListName     string    `json:"list_name" doc:"the name of the list"`
	ID           int64     `json:"id,string" doc:"the id of the contact"`
	Email        string    `json:"email" doc:"the address of the contact"`
	Status       string    `json:"status" doc:"the status of the contact"`
	SubscribedOn time.Time `json:"subscribed_on" doc:"the time when the contact was added to the list"`
	Tags         []string  `json:"tags" doc:"the tags of the contact"`
}

// NewestContacts returns the number of contacts on a list in any account, or on all lists if
// the id is 0, and an iterator over the contacts. Lists, and the contacts of each list, are
// in the order newest first. If ok is false, the list does not exist.
func (p *Platform) NewestContacts(listID int64) (n int, contacts iter.Seq[ListedContact], ok bool) {
	type listSnapshot struct {
		account int64
		api.List
		contacts []*contact
	}
	lists := ofAll(p, func(a *account) *collection[int64, list] { return &a.Lists }, func(a *account, l *list) listSnapshot {
		if listID != 0 && listID != l.ListID {
			return listSnapshot{}
		}
		return listSnapshot{a.ID, l.List, l.contacts.all.Snapshot()}
	}, func(l listSnapshot) int64 { return l.ListID })
	lists = slices.DeleteFunc(lists, func(l listSnapshot) bool { return l.ListID == 0 })
	for _, l := range lists {
		n += len(l.contacts)
	}
	return n, func(yield func(ListedContact) bool) {
		for _, l := range lists {
			for _, c := range slices.Backward(l.contacts) {
				if !yield(ListedContact{l.account, l.ListID, l.Name, c.ID, c.Email, c.Status, clock.Unix(c.SubscribedOn), c.Tags}) {
					return
				}
			}
		}
	}, listID == 0 || len(lists) > 0
}

// Overview contains counts of the records in an account.
type Overview struct {
	Messages  Outcome
	Contacts  Contacts
	Resources Resources
	Minutes   map[int64]int64    // number of sent messages by minute
	Waiting   []delivery.Waiting // campaigns that are scheduled for later, and contacts that have not confirmed yet
}

// Resources contains the number of resources by type.
type Resources struct {
	Lists      int `json:"lists" doc:"lists of contacts"`
	Templates  int `json:"templates" doc:"templates for messages"`
	Campaigns  int `json:"campaigns" doc:"campaigns in any state"`
	Workflows  int `json:"workflows" doc:"workflows, active or not"`
	Webhooks   int `json:"webhooks" doc:"webhooks, archived or not"`
	Suppressed int `json:"suppressed" doc:"suppressed addresses and patterns"`
}

// Overview returns the counts for an account, or for all accounts if the id is 0, and
// the number of messages in each minute from the first to the last, inclusive. The
// running time depends on the number of lists and campaigns, not on the number of
// messages or contacts.
func (p *Platform) Overview(only, from, until int64) Overview {
	out := Overview{Contacts: Contacts{}, Minutes: map[int64]int64{}}
	p.mu.Lock()
	defer p.mu.Unlock()
	for a := range p.accountsLocked(only) {
		out.addLocked(a)
		a.outcomes.minutes.Each(from, until, func(m, n int64) { out.Minutes[m] += n })
		for c := range a.Campaigns.all() {
			if c.Status == campaignScheduled {
				due := clock.Unix(c.ScheduledFor)
				out.Waiting = append(out.Waiting, delivery.Waiting{Why: delivery.WaitCampaign, N: 1, Until: due, CampaignID: c.CampaignID, Name: c.Name})
			}
		}
		for l := range a.Lists.all() {
			out.Contacts.add(l.contacts)
			if n := l.contacts.counts[statusPending]; n > 0 {
				out.Waiting = append(out.Waiting, delivery.Waiting{Why: delivery.WaitConfirmation, N: n, ListID: l.ListID, Name: l.Name})
			}
		}
	}
	return out
}

func (o *Overview) addLocked(a *account) {
	o.Messages.add(a.outcomes.all)
	o.Resources.Lists += a.Lists.len()
	o.Resources.Templates += a.Templates.len()
	o.Resources.Campaigns += a.Campaigns.len()
	o.Resources.Workflows += a.Workflows.len()
	o.Resources.Webhooks += a.Webhooks.len()
	o.Resources.Suppressed += a.Suppression.len()
}

func (o *Outcome) add(other Outcome) {
	o.Sent += other.Sent
	o.Bounced += other.Bounced
	o.Opened += other.Opened
	o.Clicked += other.Clicked
	o.Unsubscribed += other.Unsubscribed
	o.GlobalUnsubscribed += other.GlobalUnsubscribed
	o.ReportedAsSpam += other.ReportedAsSpam
}

// ListSummary is a list with counts of its contacts.
type ListSummary struct {
	ID             int64     `json:"id,string" doc:"the id of the list"`
	AccountID      int64     `json:"account_id" doc:"the account of the list"`
	Name           string    `json:"name" doc:"the name of the list"`
	PolicyAccepted bool      `json:"policy_accepted" doc:"whether the anti-spam policy is accepted"`
	CreatedOn      time.Time `json:"created_on" doc:"the time when the list was created"`
	Contacts       Contacts  `json:"contacts" doc:"the number of contacts in the list, by status"`
}

// Lists returns the lists of all accounts, newest first.
func (p *Platform) Lists() []ListSummary {
	return ofAll(p, func(a *account) *collection[int64, list] { return &a.Lists }, func(a *account, l *list) ListSummary {
		out := ListSummary{l.ListID, a.ID, l.Name, l.PolicyAccepted, clock.Unix(l.CreatedOn), Contacts{}}
		out.Contacts.add(l.contacts)
		return out
	}, func(l ListSummary) int64 { return l.ID })
}

// Sending describes a campaign or a workflow, and the results of its messages.
type Sending struct {
	ID           int64     `json:"id,string" doc:"the id of the campaign or workflow"`
	AccountID    int64     `json:"account_id" doc:"the account of the campaign or workflow"`
	Name         string    `json:"name" doc:"the name of the campaign or workflow"`
	ListID       int64     `json:"list_id,omitzero" doc:"the id of the list that contains the recipients"`
	ListName     string    `json:"list_name,omitzero" doc:"the name of the list"`
	FromEmail    string    `json:"from_email,omitzero" doc:"the sender's address"`
	Subject      string    `json:"subject,omitzero" doc:"the subject, with merge tags"`
	TemplateID   int64     `json:"template_id,omitzero" doc:"the id of the template"`
	Status       string    `json:"status" doc:"the status of the campaign or workflow"`
	CreatedOn    time.Time `json:"created_on" doc:"the time when the campaign or workflow was created"`
	ScheduledFor time.Time `json:"scheduled_for,omitzero" doc:"the scheduled time of a campaign"`
	Outcome      Outcome   `json:"outcome" doc:"the number of messages with each result"`
}

// Campaigns returns the campaigns of all accounts, newest first.
func (p *Platform) Campaigns() []Sending {
	return ofAll(p, func(a *account) *collection[int64, campaign] { return &a.Campaigns }, func(a *account, c *campaign) Sending {
		out := a.sending(c.CampaignID, c.Name, c.ListID, c.Sender, c.Content)
		out.Status, out.CreatedOn = c.Status, clock.Unix(c.CreatedOn)
		if c.ScheduledFor != 0 {
			out.ScheduledFor = clock.Unix(c.ScheduledFor)
		}
		return out
	}, func(s Sending) int64 { return s.ID })
}

// Workflows returns the workflows of all accounts, newest first.
func (p *Platform) Workflows() []Sending {
	return ofAll(p, func(a *account) *collection[int64, api.Workflow] { return &a.Workflows }, func(a *account, w *api.Workflow) Sending {
		out := a.sending(w.WorkflowID, w.Name, w.ListID, w.Sender, w.Content)
		out.Status, out.CreatedOn = w.Status, clock.Unix(w.CreatedOn)
		return out
	}, func(s Sending) int64 { return s.ID })
}

func (a *account) sending(id int64, name string, listID int64, from api.Sender, c api.MessageContent) Sending {
	out := Sending{
		ID:         id,
		AccountID:  a.ID,
		Name:       name,
		ListID:     listID,
		FromEmail:  from.Email,
		Subject:    c.Subject,
		TemplateID: c.TemplateID,
		Outcome:    a.outcomes.ofOrigin(id),
	}
	if l := a.Lists.get(listID); l != nil {
		out.ListName = l.Name
	}
	return out
}

// FilledTemplate returns the parts of a template in any account, rendered with the
// given attributes. If ok is false, the template does not exist.
func (p *Platform) FilledTemplate(id int64, attributes map[string]string) (html, text string, ok bool) {
	return p.filled(attributes, func(a *account) *api.MessageContent {
		if found := a.Templates.get(id); found != nil {
			return &api.MessageContent{HTML: found.Content.HTML, Text: found.Content.Text}
		}
		return nil
	})
}

// FilledCampaign returns the parts of a campaign in any account, rendered
// with the given attributes. If ok is false, the campaign does not exist.
func (p *Platform) FilledCampaign(id int64, attributes map[string]string) (html, text string, ok bool) {
	return p.filled(attributes, func(a *account) *api.MessageContent {
		if found := a.Campaigns.get(id); found != nil {
			return new((&tx{account: a}).withTemplateParts(found.Content))
		}
		return nil
	})
}

// filled searches all accounts for a template or a campaign, and renders its content.
func (p *Platform) filled(attributes map[string]string, of func(*account) *api.MessageContent) (html, text string, ok bool) {
	value := func(name string) string { return attributes[name] }
	p.mu.Lock()
	defer p.mu.Unlock()
	for _, a := range p.accounts {
		if c := of(a); c != nil {
			return mail.MergeHTML(c.HTML, value), mail.MergeText(c.Text, value), true
		}
	}
	return "", "", false
}

// ofAll returns views of resources from all accounts, newest first.
func ofAll[T, V any](
	p *Platform, of func(*account) *collection[int64, T], view func(*account, *T) V, id func(V) int64,
) []V {
	p.mu.Lock()
	defer p.mu.Unlock()
	out := []V{}
	for a := range p.accountsLocked(0) {
		for resource := range of(a).all() {
			out = append(out, view(a, resource))
		}
	}
	slices.SortFunc(out, func(x, y V) int { return cmp.Compare(id(y), id(x)) })
	return out
}
