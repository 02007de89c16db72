package platform

import (
	"cmp"
	"fmt"
	"slices"
	"strings"

	"example.com/emailplatform/events"
	"example.com/emailplatform/mockserver/internal/changes"
)

// actOn simulates a recipient action on a sent message.
func (p *Platform) actOn(messageID string, act func(t *tx, m *message) error) error {
	err := p.withMessage(messageID, func(t *tx, m *message) error {
		if m.Status == messageRejected || m.Status == messageError {
			return fmt.Errorf("message %s was not sent: %s", m.ID, m.Status)
		}
		t.messageID, t.target = m.ID, m
		return act(t, m)
	})
	p.Changes.Publish(changes.Records, nil)
	return err
}

// simulate simulates an action of the recipient on a sent message. If the message exists
// and was sent, the action cannot fail.
func (p *Platform) simulate(messageID string, act func(t *tx, m *message)) error {
	return p.actOn(messageID, func(t *tx, m *message) error {
		act(t, m)
		return nil
	})
}

// withMessage calls act() with a message that the function may change.
func (p *Platform) withMessage(id string, act func(t *tx, m *message) error) error {
	return p.transactAndRevise(nil, func(t *tx) error {
		i, ok := p.messageIndexes[id]
		if !ok {
			return noMessage(id)
		}
		m := p.messages.Edit(i)
		t.account = p.accountLocked(m.AccountID)
		t.account.counts.count(m, -1)
		defer t.account.counts.count(m, 1)
		return act(t, m)
	})
}

func noMessage(id string) error { return fmt.Errorf("message %q does not exist", id) }

// contactOf returns the contact and the list of a message, or nil if there are
// none. The caller may change the returned contact.
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

// Bounce simulates a bounce of a message. For the recipient actions, see the methods of
// mockserver.Server with the same names.
func (p *Platform) Bounce(messageID string, category events.BounceCategory, diagnostic ...string) error {
	if !knownCategory(category) {
		return fmt.Errorf("bounce category %q does not exist", category)
	}
	return p.simulate(messageID, func(t *tx, m *message) { t.bounce(m, category, strings.Join(diagnostic, " ")) })
}

// Diagnostic returns a typical response from a receiving server.
func Diagnostic(category events.BounceCategory) string {
	return map[events.BounceCategory]string{
		events.BounceCategoryHard:              "550 5.1.1 The email account that you tried to reach does not exist",
		events.BounceCategorySoft:              "450 4.2.0 The mailbox is temporarily unavailable",
		events.BounceCategoryMailboxFull:       "452 4.2.2 The mailbox is full",
		events.BounceCategoryBlocked:           "554 5.7.1 Message blocked by the policy of the recipient",
		events.BounceCategoryTransient:         "451 4.3.0 Temporary failure, try again later",
		events.BounceCategoryDNSFailure:        "550 5.1.2 Host not found",
		events.BounceCategoryAutoReply:         "Automatic reply: I am out of the office",
		events.BounceCategoryChallengeResponse: "Please confirm that you are a person by replying to this message",
		events.BounceCategoryAddressChange:     "551 5.1.6 The user has moved",
	}[category]
}

func knownCategory(c events.BounceCategory) bool {
	return slices.Contains(events.BounceCategories(), c)
}

func (t *tx) bounce(m *message, category events.BounceCategory, said string) {
	m.Status, m.DeliveredOn = messageBounced, 0
	m.Bounce = &bounce{Category: category, Diagnostic: cmp.Or(said, Diagnostic(category)), OccurredOn: t.unix()}
	l, c := t.contactOf(m)
	if c != nil {
		c.BouncesCount++
		c.LastBounceType = bounceType(category)
		if category.Hard() && !contactStatusNamed(c.effectiveStatus()).final {
			l.contacts.setStatusByRecipient(c, statusBounced)
		}
	}
	t.emailBounced(m, l, c)
}

// Complain simulates a spam report.
func (p *Platform) Complain(messageID, provider string) error {
	return p.simulate(messageID, func(t *tx, m *message) { t.complain(m, provider) })
}

func (t *tx) complain(m *message, provider string) {
	if m.ReportedAsSpam {
		return
	}
	m.ReportedAsSpam = true
	t.suppress(m.To)
	l, c := t.contactOf(m)
	if c != nil {
		l.contacts.setStatusByRecipient(c, statusSpam)
	}
	t.emailReported(m, l, c, cmp.Or(provider, "Mailbox.example"))
}

// Open simulates a recipient opening a message.
func (p *Platform) Open(messageID string) error { return p.simulate(messageID, (*tx).open) }

func (t *tx) open(m *message) {
	m.Opens++
	t.emailOpened(m)
}

// Click simulates a click on a link in a message.
func (p *Platform) Click(messageID, url string) error {
	return p.simulate(messageID, func(t *tx, m *message) { t.click(m, url) })
}

func (t *tx) click(m *message, url string) {
	m.Clicks++
	t.emailClicked(m, url)
}

// Unsubscribe simulates an unsubscribe from the list.
func (p *Platform) Unsubscribe(messageID string) error { return p.actOn(messageID, (*tx).unsubscribe) }

func (t *tx) unsubscribe(m *message) error {
	l, c := t.contactOf(m)
	if c == nil || m.SentBy == events.SendingTypeTransactional {
		return fmt.Errorf("message %s was not sent to a list contact", m.ID)
	}
	m.Unsubscribed = true
	if m.SentBy == events.SendingTypeEmailAPI && c.Status != statusUnsubscribed && c.Status != statusDeleted {
		t.emailUnsubscribed(m, l, c) // first, because the event may contain the old status
	}
	t.leaveList(l, c)
	return nil
}

// leaveList unsubscribes a contact from a list. A deleted contact has already left the list.
func (t *tx) leaveList(l *list, c *contact) {
	before := c.Status
	l.contacts.setStatusByRecipient(c, statusUnsubscribed)
	if before == statusUnsubscribed || before == statusDeleted {
		return
	}
	t.contactRemoved(l, c)
	t.contactUnsubscribed(l, c)
}

// GlobalUnsubscribe simulates an unsubscribe from all email.
func (p *Platform) GlobalUnsubscribe(messageID string) error {
	return p.simulate(messageID, (*tx).globalUnsubscribe)
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
		t.leaveList(t.contactOf(m))
	}
}
