package platform

import (
	"iter"
	"slices"
	"strings"

	"example.com/emailplatform/mockserver/internal/changes"
	"example.com/emailplatform/mockserver/internal/mail"
	"example.com/emailplatform/mockserver/model"
)

// MessageDetails is a message with its links and events.
type MessageDetails struct {
	model.Message
	Reason string             `json:"reason,omitzero" doc:"the reason why the message was rejected"`
	Error  string             `json:"error,omitzero" doc:"the error message, if the status is error"`
	Links  []string           `json:"links" doc:"the targets of the links in the HTML part, then the other URLs in the text part"`
	Events []model.FiredEvent `json:"events" doc:"the events of the message, oldest first"`
}

// Message returns all details of the message with the given id, or nil if there is
// none.
func (p *Platform) Message(id string) *MessageDetails {
	m := p.copyOfMessage(id)
	if m == nil {
		return nil
	}
	out := &MessageDetails{Message: m.rendered(p.BaseURL()), Reason: m.Reason, Error: m.Error}
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
			return noMessage(id)
		}
		m.Deleted = deleted
		return nil
	})
	p.Changes.Publish(changes.State, nil)
	return err
}

// snapshotMessages returns all messages, including messages outside the outbox, and the
// number of messages in the outbox.
func (p *Platform) snapshotMessages() (messages []*message, n int) {
	p.mu.Lock()
	defer p.mu.Unlock()
	for _, a := range p.accounts {
		n += int(a.counts.all.Sent)
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
func (s OutboxMessage) Summary() MessageSummary { return s.summary() }

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
