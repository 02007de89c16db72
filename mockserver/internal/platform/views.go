package platform

import (
	"iter"
	"slices"
	"strings"
	"time"

	"example.com/emailplatform/events"
	"example.com/emailplatform/mockserver/internal/record"
)

// Record is everything about a message.
type Record struct {
	record.Message
	Reason string              `json:"reason,omitzero"` // why it was refused
	Error  string              `json:"error,omitzero"`
	Links  []string            `json:"links"`
	Events []record.FiredEvent `json:"events"` // about it, the oldest first
}

// Message returns everything about a message, or nil if there is none with the id.
func (p *Platform) Message(id string) *Record {
	out := func() *Record {
		p.mu.Lock()
		defer p.mu.Unlock()
		m := p.messages[id]
		if m == nil {
			return nil
		}
		return &Record{Message: p.rendered(m), Reason: m.Reason, Error: m.Error}
	}()
	if out == nil {
		return nil
	}
	out.Links = orEmpty(out.Message.Links())
	out.Events = p.deliveries.Events(func(e *record.FiredEvent) bool { return e.MessageID == id })
	return out
}

// Outbox returns the messages that were sent, the oldest first.
func (p *Platform) Outbox() []record.Message {
	p.mu.Lock()
	defer p.mu.Unlock()
	out := make([]record.Message, len(p.outbox))
	for i, m := range p.outbox {
		out[i] = p.rendered(m)
	}
	return out
}

// OutboxTo returns those of them that went to an address, compared without case.
func (p *Platform) OutboxTo(address string) []record.Message {
	p.mu.Lock()
	defer p.mu.Unlock()
	out := []record.Message{}
	for _, m := range p.outbox {
		if strings.EqualFold(m.To, address) {
			out = append(out, p.rendered(m))
		}
	}
	return out
}

// Sent is a message of the outbox as a list sees it before it shows it: nobody
// has rendered it yet. It is good for as long as the platform stands still.
type Sent struct {
	ID, To, Status string
	AccountID      int64
	SentBy         events.SendingType

	message *message
}

// Words are what a search looks through.
func (s Sent) Words() []string {
	m := s.message
	return []string{m.ID, m.To, m.subject(), m.From.Name, m.From.Email, m.Status}
}

// Summary is the message without its parts.
func (s Sent) Summary() Summary { return s.message.summary() }

// NewestSent iterates over the outbox, the latest message first. The platform
// stands still meanwhile: what is called may take no lock of its.
func (p *Platform) NewestSent() iter.Seq[Sent] {
	return func(yield func(Sent) bool) {
		p.mu.Lock()
		defer p.mu.Unlock()
		for _, m := range slices.Backward(p.outbox) {
			if !yield(Sent{m.ID, m.To, m.Status, m.AccountID, m.SentBy, m}) {
				return
			}
		}
	}
}

// Member is a contact of a list, as one sees it who looks for somebody.
type Member struct {
	ID           int64
	Email        string
	Status       string
	SubscribedOn time.Time
	Tags         []string // only to be read while the iterator stands here
}

// NewestMembers iterates over the contacts of a list of any account, the latest
// first. It is nil if there is no such list. The platform stands still while it
// runs: what is called may take no lock of its.
func (p *Platform) NewestMembers(listID int64) iter.Seq[Member] {
	p.mu.Lock()
	defer p.mu.Unlock()
	for _, a := range p.accounts {
		if l := a.Lists.byID[listID]; l != nil {
			return p.membersOf(l)
		}
	}
	return nil
}

func (p *Platform) membersOf(l *list) iter.Seq[Member] {
	return func(yield func(Member) bool) {
		p.mu.Lock()
		defer p.mu.Unlock()
		for _, c := range slices.Backward(l.contacts.all) {
			if !yield(Member{c.ID, c.Email, c.Status, time.Unix(c.SubscribedOn, 0).UTC(), c.Tags}) {
				return
			}
		}
	}
}
