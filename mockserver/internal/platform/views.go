package platform

import (
	"iter"
	"slices"

	"example.com/emailplatform/events"
	"example.com/emailplatform/mockserver/internal/record"
	"example.com/emailplatform/webhook"
)

// Summary is a message without its parts.
type Summary struct {
	record.Message
	Headers *struct{} `json:"headers,omitempty"` // hides the message's
}

func (m *message) glance() Summary {
	full := m.rendered()
	full.HTML, full.Text = "", ""
	return Summary{Message: full}
}

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
		return &Record{Message: m.rendered(), Reason: m.Reason, Error: m.Error}
	}()
	if out == nil {
		return nil
	}
	out.Links = orEmpty(out.Message.Links())
	out.Events = p.deliver.Events(func(e *record.FiredEvent) bool { return e.MessageID == id })
	return out
}

// Outbox returns the messages that were sent, the oldest first.
func (p *Platform) Outbox() []record.Message {
	p.mu.Lock()
	defer p.mu.Unlock()
	out := make([]record.Message, len(p.outbox))
	for i, m := range p.outbox {
		out[i] = m.rendered()
	}
	return out
}

// Sent is a message of the outbox that nobody has rendered yet.
type Sent struct{ m *message }

// Is tells what a list asks of a message before it shows it.
func (s Sent) Is() (id string, accountID int64, to, status string, by events.SendingType) {
	return s.m.ID, s.m.AccountID, s.m.To, s.m.Status, s.m.SentBy
}

// Words are what a search looks through.
func (s Sent) Words() []string {
	return []string{s.m.ID, s.m.To, s.m.subject(), s.m.From.Name, s.m.From.Email, s.m.Status}
}

// Summary is the message without its parts.
func (s Sent) Summary() Summary { return s.m.glance() }

// NewestSent iterates over the outbox. The platform stands still meanwhile.
func (p *Platform) NewestSent() iter.Seq[Sent] {
	return func(yield func(Sent) bool) {
		p.mu.Lock()
		defer p.mu.Unlock()
		for _, m := range slices.Backward(p.outbox) {
			if !yield(Sent{m}) {
				return
			}
		}
	}
}

// Lookups says how lookups are counted.
func (p *Platform) Lookups() LookupLimit {
	p.mu.Lock()
	defer p.mu.Unlock()
	return p.options.Lookups
}

// SetLookups says how lookups are counted from now on.
func (p *Platform) SetLookups(limit LookupLimit) {
	p.mu.Lock()
	defer p.mu.Unlock()
	p.options.Lookups = limit
}

// Hash is the function that signs deliveries.
func (p *Platform) Hash() webhook.Hash { return p.options.Hash }
