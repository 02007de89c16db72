package platform

import (
	"iter"
	"strings"
	"time"

	"example.com/emailplatform/mockserver/internal/activity"
	"example.com/emailplatform/mockserver/internal/mail"
	"example.com/emailplatform/mockserver/internal/table"
	"example.com/emailplatform/mockserver/record"
)

// Record is a message with all details.
type Record struct {
	record.Message
	Reason string              `json:"reason,omitzero" doc:"the reason why the message was rejected"`
	Error  string              `json:"error,omitzero" doc:"the error message, if the status is error"`
	Links  []string            `json:"links" doc:"the targets of the links in the HTML part"`
	Events []record.FiredEvent `json:"events" doc:"the events of the message, oldest first"`
}

// Message returns all details of the message with the given id, or nil if there is
// none.
func (p *Platform) Message(id string) *Record {
	m := p.messageNow(id)
	if m == nil {
		return nil
	}
	out := &Record{Message: p.rendered(m), Reason: m.Reason, Error: m.Error}
	out.Links = orEmpty(out.Message.Links())
	out.Events = p.Deliveries.Events(func(e *record.FiredEvent) bool { return e.MessageID == id })
	return out
}

// Checks returns the probable problems in a message. If ok is false, the message does
// not exist.
func (p *Platform) Checks(id string) (found []mail.Finding, ok bool) {
	m := p.messageNow(id)
	if m == nil {
		return nil, false
	}
	return mail.Check(p.rendered(m), mail.Tags{
		Content: strings.Join([]string{m.Content.Subject, m.Content.HTML, m.Content.Text}, "\n"),
		Value:   m.merged(p.BaseURL()),
		Known:   m.tagNames(),
	}), true
}

// messageNow returns a copy of a message, or nil if it does not exist or was deleted.
// The copy and the message share only immutable parts.
func (p *Platform) messageNow(id string) *message {
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

// RestoreMessage returns a deleted message to the outbox.
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

// sent returns all messages, including messages outside the outbox, and the
// number of messages in the outbox.
func (p *Platform) sent() (messages table.Copy[message], n int) {
	p.mu.Lock()
	defer p.mu.Unlock()
	for _, a := range p.accounts {
		n += int(a.outcomes.all.Sent)
	}
	return p.messages.Snapshot(), n
}

// Outbox returns the sent messages, oldest first.
func (p *Platform) Outbox() []record.Message {
	return p.outbox(func(*message) bool { return true })
}

// OutboxTo returns the sent messages to an address, oldest first. It ignores letter
// case.
func (p *Platform) OutboxTo(address string) []record.Message {
	return p.outbox(func(m *message) bool { return strings.EqualFold(m.To, address) })
}

func (p *Platform) outbox(wanted func(*message) bool) []record.Message {
	messages, _ := p.sent()
	var found []*message // rendered messages are large, so avoid growing their slice
	for m := range messages.All() {
		if m.sent() && wanted(m) {
			found = append(found, m)
		}
	}
	out, base := make([]record.Message, len(found)), p.BaseURL()
	for i, m := range found {
		out[i] = m.rendered(base)
	}
	return out
}

// Sent is a message in the outbox that has not been rendered yet.
type Sent struct{ *message }

// Subject returns the rendered subject.
func (s Sent) Subject() string { return s.subject() }

// Summary returns the message without its parts.
func (s Sent) Summary() Summary { return s.summary() }

// NewestSent returns the number of sent messages, and an iterator over the
// messages, latest first.
func (p *Platform) NewestSent() (int, iter.Seq[Sent]) {
	messages, n := p.sent()
	return n, func(yield func(Sent) bool) {
		for m := range messages.Backward() {
			if m.sent() && !yield(Sent{m}) {
				return
			}
		}
	}
}

// Member is a contact in search results.
type Member struct {
	ID           int64     `json:"id,string" doc:"the id of the contact"`
	Email        string    `json:"email" doc:"the address of the contact"`
	Status       string    `json:"status" doc:"the status of the contact"`
	SubscribedOn time.Time `json:"subscribed_on" doc:"the time when the contact was added to the list"`
	Tags         []string  `json:"tags" doc:"the tags of the contact"`
}

// NewestMembers returns the number of contacts on a list in any account, and an
// iterator over the contacts, latest first. If ok is false, the list does not
// exist.
func (p *Platform) NewestMembers(listID int64) (n int, members iter.Seq[Member], ok bool) {
	all, ok := p.contactsOf(listID)
	return all.Len(), func(yield func(Member) bool) {
		for c := range all.Backward() {
			if !yield(Member{c.ID, c.Email, c.Status, time.Unix(c.SubscribedOn, 0).UTC(), c.Tags}) {
				return
			}
		}
	}, ok
}

func (p *Platform) contactsOf(listID int64) (all table.Copy[contact], ok bool) {
	p.mu.Lock()
	defer p.mu.Unlock()
	for _, a := range p.accounts {
		if l := a.Lists.get(listID); l != nil {
			return l.contacts.all.Snapshot(), true
		}
	}
	return all, false
}
