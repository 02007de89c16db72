package platform

import (
	"fmt"
	"strings"

	"example.com/emailplatform/events"
	"example.com/emailplatform/mockserver/internal/activity"
)

// actOn simulates a recipient action on a sent message.
func (p *Platform) actOn(emailID string, act func(t *tx, m *message) error) error {
	err := p.withMessage(emailID, func(t *tx, m *message) error {
		if m.Status == messageRejected || m.Status == messageError {
			return fmt.Errorf("mockserver: email %s was not sent: %s", m.ID, m.Status)
		}
		t.messageID, t.changed = m.ID, []*message{m}
		return act(t, m)
	})
	p.Changes.Publish(activity.Records, nil)
	return err
}

// withMessage calls act() with a message that the function may change.
func (p *Platform) withMessage(id string, act func(t *tx, m *message) error) error {
	p.mu.Lock()
	m := p.message(id)
	p.mu.Unlock()
	if m == nil {
		return noEmail(id)
	}
	return p.transact(m.AccountID, nil, func(t *tx) error {
		place, ok := t.p.places[id] // a restore may have replaced all records
		if !ok || t.p.messages.At(place).AccountID != t.account.ID {
			return noEmail(id)
		}
		m := t.p.messages.Edit(place)
		t.account.outcomes.count(m, -1)
		defer t.account.outcomes.count(m, 1)
		return act(t, m)
	})
}

func noEmail(id string) error { return fmt.Errorf("mockserver: email %q does not exist", id) }

// contactOf returns the contact of a message and its list, or nil if there is none.
// The caller may change the returned contact.
func (t *tx) contactOf(m *message) (*list, *contact) {
	l := t.account.Lists.get(m.ListID)
	if l == nil {
		return nil, nil
	}
	c := l.contacts.find(m.ContactID)
	if c != nil {
		c = l.contacts.edit(c)
	}
	return l, c
}

// Bounce simulates a bounce of a message. For all recipient actions, see the methods
// of mockserver.Server with the same names.
func (p *Platform) Bounce(emailID string, category events.BounceCategory, diagnostic ...string) error {
	if !KnownCategory(category) {
		return fmt.Errorf("mockserver: bounce category %q does not exist", category)
	}
	return p.actOn(emailID, func(t *tx, m *message) error {
		t.bounce(m, category, strings.Join(diagnostic, " "))
		return nil
	})
}

// diagnostic returns a typical response from a receiving server.
func diagnostic(category events.BounceCategory) string {
	switch category {
	case events.BounceCategoryHard:
		return "550 5.1.1 The email account that you tried to reach does not exist"
	case events.BounceCategoryMailboxFull:
		return "452 4.2.2 The mailbox is full"
	case events.BounceCategoryBlocked:
		return "554 5.7.1 Message blocked by the policy of the recipient"
	case events.BounceCategoryTransient:
		return "451 4.3.0 Temporary failure, try again later"
	case events.BounceCategoryDNSFailure:
		return "550 5.1.2 Host not found"
	case events.BounceCategoryAutoReply:
		return "Automatic reply: I am out of the office"
	case events.BounceCategoryChallengeResponse:
		return "Please confirm that you are a person by answering this message"
	case events.BounceCategoryAddressChange:
		return "551 5.1.6 The user has moved"
	}
	return "450 4.2.0 The mailbox is not available now"
}

// KnownCategory reports whether c is a known bounce category.
func KnownCategory(c events.BounceCategory) bool { return c.Description() != string(c) }

func (t *tx) bounce(m *message, category events.BounceCategory, said string) {
	if said == "" {
		said = diagnostic(category)
	}
	m.Status, m.DeliveredOn = messageBounced, 0
	m.Bounce = &bounce{Category: category, Diagnostic: said, OccurredOn: t.unix()}
	l, c := t.contactOf(m)
	if c != nil {
		c.BouncesCount++
		c.LastBounceType = bounceType(category)
		if category.Hard() && c.Status != statusDeleted && c.Status != statusSpam {
			l.contacts.setStatus(c, statusBounced)
		}
	}
	t.emailBounced(m, l, c)
}

// Complain simulates a spam report.
func (p *Platform) Complain(emailID, provider string) error {
	return p.actOn(emailID, func(t *tx, m *message) error {
		t.complain(m, provider)
		return nil
	})
}

func (t *tx) complain(m *message, provider string) {
	if m.ReportedAsSpam {
		return
	}
	if provider == "" {
		provider = "Mailbox.example"
	}
	m.ReportedAsSpam = true
	t.suppress(m.To)
	l, c := t.contactOf(m)
	if c != nil && c.Status != statusDeleted {
		l.contacts.setStatus(c, statusSpam)
	}
	t.emailReported(m, l, c, provider)
}

// Open simulates a recipient opening a message.
func (p *Platform) Open(emailID string) error {
	return p.actOn(emailID, func(t *tx, m *message) error {
		t.open(m)
		return nil
	})
}

func (t *tx) open(m *message) {
	m.Opens++
	t.emailOpened(m)
}

// Click simulates a click on a link in a message.
func (p *Platform) Click(emailID, url string) error {
	return p.actOn(emailID, func(t *tx, m *message) error {
		t.click(m, url)
		return nil
	})
}

func (t *tx) click(m *message, url string) {
	m.Clicks++
	t.emailClicked(m, url)
}

// Unsubscribe simulates an unsubscribe from the list.
func (p *Platform) Unsubscribe(emailID string) error {
	return p.actOn(emailID, (*tx).unsubscribe)
}

func (t *tx) unsubscribe(m *message) error {
	l, c := t.contactOf(m)
	if c == nil || m.SentBy == events.SendingTypeTransactional {
		return fmt.Errorf("mockserver: email %s was not sent to a list contact", m.ID)
	}
	m.Unsubscribed = true
	if c.Status == statusUnsubscribed || c.Status == statusDeleted {
		return nil
	}
	if m.SentBy == events.SendingTypeEmailAPI {
		t.emailUnsubscribed(m, l, c) // first, because the event may contain the old status
	}
	l.contacts.setStatus(c, statusUnsubscribed)
	t.contactRemoved(l, c)
	t.contactUnsubscribed(l, c)
	return nil
}

// GlobalUnsubscribe simulates an unsubscribe from all email.
func (p *Platform) GlobalUnsubscribe(emailID string) error {
	return p.actOn(emailID, func(t *tx, m *message) error {
		t.globalUnsubscribe(m)
		return nil
	})
}

func (t *tx) globalUnsubscribe(m *message) {
	if m.GlobalUnsubscribed {
		return
	}
	m.GlobalUnsubscribed = true
	if t.suppress(m.To) {
		t.emailSuppressed(m.To)
	}
	switch m.SentBy {
	case events.SendingTypeEmailAPI:
		t.emailGloballyUnsubscribed(m)
	case events.SendingTypeCampaign, events.SendingTypeWorkflow:
		if l, c := t.contactOf(m); c.Status != statusUnsubscribed && c.Status != statusDeleted {
			l.contacts.setStatus(c, statusUnsubscribed)
			t.contactRemoved(l, c)
			t.contactUnsubscribed(l, c)
		}
	}
}
