package conformance_test

import (
	"slices"
	"strings"

	"example.com/emailplatform/events"
)

// model implements the rules of the specification about statuses, the suppression list, policies, webhooks and events,
// without ids, time and HTTP.
type model struct {
	lists      []*modelList
	suppressed map[string]bool
	archived   []bool // by webhook
	messages   []*modelMessage
	additions  int

	fired []string       // since the last step
	sent  []modelMessage // since the last step
}

type modelList struct {
	id       int64
	accepted bool
	workflow bool // whether its workflow is active
	contacts []*modelContact
}

type modelContact struct {
	id            int64
	email, status string
	before        string // status that a deleted contact would have otherwise
	barred        bool   // complained or bounced since it was active
	added         int    // number of this addition, counted across all lists
}

type modelMessage struct {
	id               string
	by               events.SendingType
	to               string
	contact          *modelContact
	list             *modelList
	confirmation     bool
	complained, gone bool // gone: unsubscribed from all email by this message
}

func (m *model) fire(name, who string) { m.fired = append(m.fired, name+" "+who) }

func (m *model) isSuppressed(email string) bool {
	local, domain, _ := strings.Cut(email, "@")
	return m.suppressed[email] || m.suppressed["*@"+domain] || m.suppressed[local+"@*"]
}

func (l *modelList) at(email string) *modelContact {
	i := slices.IndexFunc(l.contacts, func(c *modelContact) bool { return c.email == email })
	if i < 0 {
		return nil
	}
	return l.contacts[i]
}

func (m *model) send(msg modelMessage) { m.sent = append(m.sent, msg) }

// add adds an address to a list.
func (m *model) add(l *modelList, email string) *modelContact {
	c := l.at(email)
	if c == nil {
		c = &modelContact{email: email, status: "new"}
		l.contacts = append(l.contacts, c)
	}
	m.additions++
	c.added = m.additions
	return c
}

// set changes the status of a contact.
func (c *modelContact) set(status string) {
	c.before = ""
	if status == "deleted" {
		c.before = c.status
	}
	c.status = status
	c.barred = status != "active" && (c.barred || status == "spam" || status == "bounced")
}

// react changes the status after an action of the recipient.
func (c *modelContact) react(status string) {
	if c.status != "deleted" {
		c.set(status)
		return
	}
	c.before, c.barred = status, c.barred || status != "unsubscribed"
}

// was returns the status that counts when an address is added again.
func (c *modelContact) was() string {
	if c.status == "deleted" {
		return c.before
	}
	return c.status
}

func (m *model) activate(l *modelList, c *modelContact) {
	c.set("active")
	m.fire("Contact.Added", c.email)
	if l.workflow && !m.isSuppressed(c.email) {
		m.send(modelMessage{by: events.SendingTypeWorkflow, to: c.email, contact: c, list: l})
	}
}

// create returns the status code of POST /lists/{list_id}/contacts, and the contact.
func (m *model) create(l *modelList, email string, optIn, resubscribe bool) (int, *modelContact) {
	c := l.at(email)
	if optIn && !l.accepted || c != nil && c.status != "unsubscribed" && c.status != "deleted" ||
		c != nil && c.was() == "unsubscribed" && !resubscribe {
		return 409, nil
	}
	c = m.add(l, email)
	switch {
	case !optIn:
		m.activate(l, c)
	default:
		c.set("pending")
		if !m.isSuppressed(email) {
			m.send(modelMessage{by: events.SendingTypeWorkflow, to: email, contact: c, list: l, confirmation: true})
		}
	}
	return 201, c
}

// leave unsubscribes or deletes a contact.
func (m *model) leave(c *modelContact, status string) int {
	switch c.status {
	case "deleted":
		return 404
	case status:
		return 204
	}
	m.remove(c, status)
	return 204
}

func (m *model) remove(c *modelContact, status string) {
	c.set(status)
	m.fire("Contact.Removed", c.email+" "+status)
	if status == "unsubscribed" {
		m.fire("Contact.Unsubscribed", c.email)
	}
}

// importOne imports one entry. It reports whether the contact is new.
func (m *model) importOne(l *modelList, email, status string, resubscribe bool) bool {
	c := l.at(email)
	isNew := c == nil
	switch {
	case isNew && status == "active":
		m.activate(l, m.add(l, email))
	case isNew:
		m.add(l, email).status = status
	case c.status == status:
	case status != "active": // fires no event
		c.set(status)
	case c.barred:
	case (c.was() == "unsubscribed" || c.was() == "pending") && !resubscribe:
	case c.status == "pending":
		m.activate(l, c)
	case c.status == "unsubscribed" || c.status == "deleted":
		m.activate(l, m.add(l, email))
	}
	return isNew
}

func (m *model) suppress(email string) {
	if !m.suppressed[email] {
		m.suppressed[email] = true
		m.fire("SuppressedEmail.Added", email)
	}
}

// addedLast returns the contact with this address that was added last.
func (m *model) addedLast(email string) (list *modelList, last *modelContact) {
	for _, l := range m.lists {
		if c := l.at(email); c != nil && (last == nil || c.added > last.added) {
			list, last = l, c
		}
	}
	return list, last
}

// submit submits an email. If no list is given, it goes to the contact that was added last.
func (m *model) submit(email string, l *modelList, transactional bool) (code int, status string) {
	var c *modelContact
	switch {
	case l == nil:
		l, c = m.addedLast(email)
	case !l.accepted:
		return 409, ""
	default:
		c = l.at(email)
	}
	reason := m.rejectionReason(email, c, transactional)
	if reason == "" {
		m.send(modelMessage{by: events.SendingTypeEmailAPI, to: email, contact: c, list: l})
		return 201, "queued"
	}
	m.fire("Email.Rejected", whoOf(c)+" "+reason)
	return 201, "rejected"
}

// whoOf returns the recipient as in events of the Email API.
func whoOf(c *modelContact) string {
	if c == nil {
		return "-"
	}
	return c.email
}

func (m *model) rejectionReason(email string, c *modelContact, transactional bool) string {
	if c != nil && c.status != "active" && (c.status != "unsubscribed" || !transactional) {
		return c.status
	}
	if m.isSuppressed(email) {
		return "suppressed"
	}
	return ""
}

// sendCampaign creates a campaign and schedules it for now.
func (m *model) sendCampaign(l *modelList) int {
	if !l.accepted {
		return 409
	}
	m.fire("Campaign.Scheduled", "-")
	for _, c := range l.contacts {
		if c.status == "active" && !m.isSuppressed(c.email) {
			m.send(modelMessage{by: events.SendingTypeCampaign, to: c.email, contact: c, list: l})
		}
	}
	m.fire("Campaign.Sent", "-")
	return 200
}

func (m *model) bounce(msg *modelMessage, hard bool) {
	c := msg.contact
	if hard && c != nil && c.was() != "spam" {
		c.react("bounced")
	}
	m.fire("Email.Bounced", shownRecipient(msg))
}

// shownRecipient returns the recipient as in Email.Bounced.
func shownRecipient(msg *modelMessage) string {
	if msg.by == events.SendingTypeEmailAPI {
		return whoOf(msg.contact)
	}
	return msg.to
}

func (m *model) complain(msg *modelMessage) {
	if msg.complained {
		return
	}
	msg.complained = true
	m.suppressed[msg.to] = true // fires no event
	if c := msg.contact; c != nil {
		c.react("spam")
	}
	who := msg.to
	if msg.by == events.SendingTypeEmailAPI {
		who = "-"
	}
	m.fire("Email.ReportedAsSpam", who)
}

// unsubscribe follows the link in a message. It reports whether the message has a link.
func (m *model) unsubscribe(msg *modelMessage) bool {
	if msg.by == events.SendingTypeTransactional || msg.contact == nil {
		return false
	}
	if c := msg.contact; c.status != "unsubscribed" && c.status != "deleted" {
		if msg.by == events.SendingTypeEmailAPI {
			m.fire("Email.Unsubscribed", c.email)
		}
		m.remove(c, "unsubscribed")
	} else {
		c.react("unsubscribed")
	}
	return true
}

func (m *model) globalUnsubscribe(msg *modelMessage) {
	if msg.gone {
		return
	}
	msg.gone = true
	m.suppress(msg.to)
	switch c := msg.contact; {
	case msg.by == events.SendingTypeEmailAPI:
		m.fire("Email.GlobalUnsubscribed", "-")
	case msg.by == events.SendingTypeTransactional:
	case c.status != "unsubscribed" && c.status != "deleted":
		m.remove(c, "unsubscribed")
	default:
		c.react("unsubscribed")
	}
}

// confirm follows the link in a confirmation email.
func (m *model) confirm(msg *modelMessage) bool {
	if msg.confirmation && msg.contact.status == "pending" {
		m.activate(msg.list, msg.contact)
	}
	return msg.confirmation
}
