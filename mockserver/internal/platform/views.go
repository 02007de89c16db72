package platform

import (
	"iter"
	"slices"
	"strings"
	"time"

	"example.com/emailplatform/events"
	"example.com/emailplatform/mockserver/internal/activity"
	"example.com/emailplatform/mockserver/internal/clock"
	"example.com/emailplatform/mockserver/record"
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
	m := p.messageNow(id)
	if m == nil {
		return nil
	}
	out := &Record{Message: p.rendered(m), Reason: m.Reason, Error: m.Error}
	out.Links = orEmpty(out.Message.Links())
	out.Events = p.deliveries.Events(func(e *record.FiredEvent) bool { return e.MessageID == id })
	return out
}

// messageNow returns a message as it is now, or nil. What a copy shares with the
// message is never changed.
func (p *Platform) messageNow(id string) *message {
	p.mu.Lock()
	defer p.mu.Unlock()
	if m := p.messages[id]; m != nil && !m.Deleted {
		return new(*m)
	}
	return nil
}

// DeleteMessage takes a message out of what is seen of it here: the outbox and its
// record. The API knows its email, and its events and deliveries stay.
func (p *Platform) DeleteMessage(id string) error {
	m := p.messageNow(id)
	if m == nil {
		return noEmail(id)
	}
	_, err := transact(p, m.AccountID, nil, func(t *tx) (struct{}, error) {
		m := t.p.messages[id]
		if m == nil || m.Deleted {
			return struct{}{}, noEmail(id)
		}
		t.p.changing.Changing(m)
		t.account.outcomes.count(m, -1)
		m.Deleted = true
		return struct{}{}, nil
	})
	p.changes.Publish(activity.State, nil)
	return err
}

// step is how many messages or contacts are copied while the platform stands still:
// it goes on between two steps, and while what was copied is looked at.
const step = 256

// sent returns what is in the outbox, deleted or not, and how many messages are not.
// The slice only grows, until another one takes its place.
func (p *Platform) sent() (messages []*message, n int) {
	p.mu.Lock()
	defer p.mu.Unlock()
	for _, a := range p.accounts {
		n += int(a.outcomes.all.Sent)
	}
	return p.outbox, n
}

// asTheyAre puts copies of those messages into a slice that are wanted.
func (p *Platform) asTheyAre(messages []*message, wanted func(*message) bool, into []message) []message {
	p.mu.Lock()
	defer p.mu.Unlock()
	for _, m := range messages {
		if wanted(m) {
			into = append(into, *m)
		}
	}
	return into
}

// Outbox returns the messages that were sent, the oldest first, each as it is when
// its turn comes: the platform goes on meanwhile.
func (p *Platform) Outbox() []record.Message { return p.outboxOf((*message).sent) }

// OutboxTo returns those of them that went to an address, compared without case.
func (p *Platform) OutboxTo(address string) []record.Message {
	return p.outboxOf(func(m *message) bool { return m.sent() && strings.EqualFold(m.To, address) })
}

func (p *Platform) outboxOf(wanted func(*message) bool) []record.Message {
	out, copies := []record.Message{}, make([]message, 0, step)
	sent, _ := p.sent()
	for some := range slices.Chunk(sent, step) {
		found := p.asTheyAre(some, wanted, copies)
		for i := range found {
			out = append(out, p.rendered(&found[i]))
		}
	}
	return out
}

// Sent is a message of the outbox as a list sees it before it shows it: nobody
// has rendered it yet. It is good until the next one comes.
type Sent struct {
	ID, To, Status string
	AccountID      int64
	SentBy         events.SendingType
	CampaignID     int64
	WorkflowID     int64

	message *message
}

// Words are what a search looks through.
func (s Sent) Words() []string {
	m := s.message
	return []string{m.ID, m.To, m.subject(), m.From.Name, m.From.Email, m.Status}
}

// Summary is the message without its parts.
func (s Sent) Summary() Summary { return s.message.summary() }

// NewestSent returns how many messages were sent, and iterates over them, the latest
// first, each as it is when its turn comes: the platform goes on meanwhile.
func (p *Platform) NewestSent() (int, iter.Seq[Sent]) {
	sent, n := p.sent()
	return n, func(yield func(Sent) bool) {
		copies := make([]message, 0, min(step, len(sent)))
		for end := len(sent); end > 0; end -= step {
			some := p.asTheyAre(sent[max(0, end-step):end], (*message).sent, copies)
			for i := range slices.Backward(some) {
				m := &some[i]
				if !yield(Sent{m.ID, m.To, m.Status, m.AccountID, m.SentBy, m.CampaignID, m.WorkflowID, m}) {
					return
				}
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
	Tags         []string
}

// NewestMembers returns how many contacts a list of any account has, and iterates
// over them, the latest first, each as it is when its turn comes: the platform goes
// on meanwhile. Not ok means that there is no such list.
func (p *Platform) NewestMembers(listID int64) (n int, members iter.Seq[Member], ok bool) {
	all, ok := p.contactsOf(listID)
	return len(all), func(yield func(Member) bool) {
		copies := make([]Member, 0, min(step, len(all)))
		for end := len(all); end > 0; end -= step {
			for _, m := range slices.Backward(p.membersNow(all[max(0, end-step):end], copies)) {
				if !yield(m) {
					return
				}
			}
		}
	}, ok
}

// contactsOf returns the contacts of a list. The slice only grows.
func (p *Platform) contactsOf(listID int64) ([]*contact, bool) {
	p.mu.Lock()
	defer p.mu.Unlock()
	for _, a := range p.accounts {
		if l := a.Lists.byID[listID]; l != nil {
			return l.contacts.all, true
		}
	}
	return nil, false
}

// membersNow puts contacts as they are into a slice. Their tags are never changed
// in place.
func (p *Platform) membersNow(contacts []*contact, into []Member) []Member {
	p.mu.Lock()
	defer p.mu.Unlock()
	for _, c := range contacts {
		into = append(into, Member{c.ID, c.Email, c.Status, clock.Unix(c.SubscribedOn), c.Tags})
	}
	return into
}
