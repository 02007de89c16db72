package platform

import (
	"cmp"
	"fmt"
	"strings"

	"example.com/emailplatform/events"
	"example.com/emailplatform/mockserver/internal/feed"
)

// diagnostic is what a receiving server typically says.
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

// KnownCategory reports whether messages can bounce in this category.
func KnownCategory(c events.BounceCategory) bool { return c.Description() != string(c) }

// bounceType is hard or soft, as lookups and contacts tell it.
func bounceType(c events.BounceCategory) string {
	if c.Hard() {
		return "hard"
	}
	return "soft"
}

// recipientActs lets the recipient of a message that was sent do something.
func (p *Platform) recipientActs(emailID string, act func(t *tx, m *message) error) error {
	p.mu.Lock()
	m := p.messages[emailID]
	p.mu.Unlock()
	if m == nil {
		return noEmail(emailID)
	}
	return p.recipientOf(m, act)
}

// recipientOf does so for a message that there was a moment ago: the state may
// have been replaced since.
func (p *Platform) recipientOf(m *message, act func(t *tx, m *message) error) error {
	_, err := transact(p, m.AccountID, nil, func(t *tx) (struct{}, error) {
		if t.messages[m.ID] != m {
			return struct{}{}, noEmail(m.ID)
		}
		if m.Status == messageRejected || m.Status == messageError {
			return struct{}{}, fmt.Errorf("mockserver: email %s was not sent: %s", m.ID, m.Status)
		}
		t.about, t.changed = m.ID, []*message{m}
		return struct{}{}, act(t, m)
	})
	p.changes.Tell(feed.Records, nil)
	return err
}

func noEmail(id string) error { return fmt.Errorf("mockserver: no email %q", id) }

// Bounce lets a message bounce, whatever way it was sent, and fires
// Email.Bounced in the shape of that way. A hard bounce makes the contact
// bounced; every bounce counts. diagnostic is what the receiving server says;
// the usual words of the category if left out. It is an error if there is no
// such message or it was not sent.
func (p *Platform) Bounce(emailID string, category events.BounceCategory, diagnostic ...string) error {
	if !KnownCategory(category) {
		return fmt.Errorf("mockserver: no bounce category %q", category)
	}
	return p.recipientActs(emailID, func(t *tx, m *message) error {
		t.bounce(m, category, strings.Join(diagnostic, " "))
		return nil
	})
}

func (t *tx) bounce(m *message, category events.BounceCategory, said string) {
	if said == "" {
		said = diagnostic(category)
	}
	m.Status, m.DeliveredOn = messageBounced, 0
	m.Bounce = &bounce{Category: category, Diagnostic: said, OccurredOn: t.unix()}
	l, c := t.contactOf(m)
	if c != nil {
		c.Bounces++
		c.LastBounceType = bounceType(category)
		if category.Hard() && c.Status != statusDeleted && c.Status != statusSpam {
			l.contacts.setStatus(c, statusBounced)
		}
	}
	t.emailBounced(m, l, c)
}

// Complain lets the recipient report a message as spam to the named mailbox
// provider. The contact's status becomes spam and the address is suppressed
// before Email.ReportedAsSpam fires. Complaining again changes nothing.
func (p *Platform) Complain(emailID, provider string) error {
	return p.recipientActs(emailID, func(t *tx, m *message) error {
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

// Open lets the recipient open a message and fires Email.Opened, every time.
func (p *Platform) Open(emailID string) error {
	return p.recipientActs(emailID, func(t *tx, m *message) error {
		t.open(m)
		return nil
	})
}

func (t *tx) open(m *message) {
	m.Opens++
	t.emailOpened(m)
}

// Click lets the recipient follow a link in a message and fires Email.Clicked,
// every time.
func (p *Platform) Click(emailID, url string) error {
	return p.recipientActs(emailID, func(t *tx, m *message) error {
		t.click(m, url)
		return nil
	})
}

func (t *tx) click(m *message, url string) {
	m.Clicks++
	t.emailClicked(m, url)
}

// Unsubscribe lets the recipient unsubscribe from the list, by the link or the
// List-Unsubscribe header. It fires Contact.Removed and Contact.Unsubscribed,
// and for a message of the Email API Email.Unsubscribed too. It is an error for
// a message that went to no list contact. Unsubscribing again changes nothing.
func (p *Platform) Unsubscribe(emailID string) error {
	return p.recipientActs(emailID, func(t *tx, m *message) error { return t.unsubscribe(m) })
}

func (t *tx) unsubscribe(m *message) error {
	l, c := t.contactOf(m)
	if c == nil || m.SentBy == events.SendingTypeTransactional {
		return fmt.Errorf("mockserver: email %s went to no list contact", m.ID)
	}
	m.Unsubscribed = true
	if c.Status == statusUnsubscribed || c.Status == statusDeleted {
		return nil
	}
	if m.SentBy == events.SendingTypeEmailAPI {
		t.emailUnsubscribed(m, l, c) // the status may still read active
	}
	l.contacts.setStatus(c, statusUnsubscribed)
	t.contactRemoved(l, c)
	t.contactUnsubscribed(l, c)
	return nil
}

// GlobalUnsubscribe lets the recipient unsubscribe from all email. The address
// is suppressed and SuppressedEmail.Added fires. A message of the Email API
// also fires Email.GlobalUnsubscribed and leaves the contact as it is; one of
// a campaign or workflow unsubscribes the contact, which fires Contact.Removed
// and Contact.Unsubscribed. Unsubscribing again changes nothing.
func (p *Platform) GlobalUnsubscribe(emailID string) error {
	return p.recipientActs(emailID, func(t *tx, m *message) error {
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

// Confirm lets the recipient follow the link in the confirmation email of a
// double opt-in: the contact becomes active, and Contact.Added fires. It is an
// error for any other message. Confirming again changes nothing.
func (p *Platform) Confirm(emailID string) error {
	return p.recipientActs(emailID, func(t *tx, m *message) error {
		if m.SentBy != events.SendingTypeWorkflow || m.WorkflowID != 0 {
			return fmt.Errorf("mockserver: email %s is no confirmation email", m.ID)
		}
		if l, c := t.contactOf(m); c.Status == statusPending {
			t.activate(l, c)
		}
		return nil
	})
}

// MagicDomain is the domain of recipients that do something by themselves, as
// soon as a message reaches them. The local part says what:
//
//	bounce@           bounces hard; bounce+hb@ … bounce+ac@ in that category
//	complaint@        reports the message as spam
//	error@            makes POST /v2/emails fail with an internal error
//	open@ click@      opens the message; follows a link in it
//	unsubscribe@      unsubscribes from the list
//	global-unsubscribe@
//	                  unsubscribes from all email
//
// Anything may follow after one more plus sign, so that there is no end of
// such addresses: complaint+7@, bounce+fm+7@.
const MagicDomain = "mock.test"

// magic returns the words of the local part of a magic address, or nil.
func magic(address string) []string {
	local, domain, _ := strings.Cut(strings.ToLower(address), "@")
	if domain != MagicDomain {
		return nil
	}
	return strings.Split(local, "+")
}

// simulate lets a magic recipient act on the message that reached it.
func (t *tx) simulate(m *message) {
	words := magic(m.To)
	if words == nil {
		return
	}
	user := t.user
	t.user, t.about = nil, m.ID // it is the recipient who acts
	defer func() { t.user, t.about = user, "" }()
	switch words[0] {
	case "bounce":
		category := events.BounceCategoryHard
		if len(words) > 1 {
			if named := events.BounceCategory("bounce_" + words[1]); KnownCategory(named) {
				category = named
			}
		}
		t.bounce(m, category, "")
	case "complaint":
		t.complain(m, "")
	case "open":
		t.open(m)
	case "click":
		t.click(m, "https://"+MagicDomain+"/")
	case "unsubscribe":
		_ = t.unsubscribe(m) // without a list contact there is nothing to do
	case "global-unsubscribe":
		t.globalUnsubscribe(m)
	}
}

// internalError returns what fails before a message is queued, or "".
func (t *tx) internalError(m *message) string {
	if words := magic(m.To); words != nil && words[0] == "error" {
		return "the message could not be queued"
	}
	if rule := t.faults.Message(); rule != nil {
		return cmp.Or(rule.Body, "the message could not be queued")
	}
	return ""
}
