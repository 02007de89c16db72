package platform

import (
	"fmt"

	"example.com/emailplatform/events"
	"example.com/emailplatform/mockserver/internal/api"
	"example.com/emailplatform/mockserver/internal/apierror"
)

// addContact adds a new contact to a list, or adds a deleted contact again. It adds an
// unsubscribed contact again only if resubscribe is set.
func (t *tx) addContact(l *list, in api.ContactCreate, doubleOptIn, resubscribe bool) (*contact, error) {
	if doubleOptIn {
		if err := l.mayBeSentTo("path", "list_id"); err != nil {
			return nil, err
		}
	}
	c := l.contacts.editAt(in.Email)
	switch {
	case c == nil:
		c = t.newContact(l, in.Email, statusPending)
	case c.effectiveStatus() == statusUnsubscribed && !resubscribe:
		return nil, apierror.Conflict("contact_exists", fmt.Sprintf("%s has unsubscribed from the list", c.Email), "body", "email")
	case c.Status == statusUnsubscribed || c.Status == statusDeleted:
		t.addAgain(l, c)
		l.contacts.setStatus(c, statusPending)
	default:
		text := fmt.Sprintf("the list already contains %s, with the status %s", c.Email, c.Status)
		return nil, apierror.Conflict("contact_exists", text, "body", "email")
	}
	t.addDetails(c, in.CustomAttributes, in.Tags, in.Interests)
	if doubleOptIn {
		t.sendConfirmation(l, c)
	} else {
		t.activate(l, c)
	}
	return c, nil
}

func (t *tx) newContact(l *list, email, status string) *contact {
	id := t.newContactID(email)
	added := id
	if added < t.p.lastID { // fixed ids can be in any order
		added = t.nextID()
	}
	c := &contact{Contact: api.Contact{ID: id, Email: email, Status: status, SubscribedOn: t.unix()}, Added: added}
	l.contacts.add(c)
	t.account.indexContact(l, c)
	return c
}

func (t *tx) addAgain(l *list, c *contact) {
	c.Added = t.nextID()
	t.account.indexContact(l, c)
}

func (t *tx) addDetails(c *contact, attributes []api.CustomAttribute, tags, interests []string) {
	changes := make([]api.CustomAttributeUpdate, len(attributes))
	for i, a := range attributes {
		changes[i] = api.CustomAttributeUpdate{Name: a.Name, Value: &attributes[i].Value}
	}
	c.CustomAttributes = setAttributes(c.CustomAttributes, changes)
	c.Tags, c.Interests = union(c.Tags, tags), union(c.Interests, interests)
	for _, tag := range tags {
		t.account.Tags[tag] = true
	}
}

// activate sets the status of a contact to active, and runs the list's active
// workflows.
func (t *tx) activate(l *list, c *contact) {
	l.contacts.setStatus(c, statusActive)
	if c.SubscribedOn != t.unix() {
		l.contacts.setDate(c, t.unix())
	}
	t.contactAdded(l, c)
	t.runWorkflows(l, c)
}

// sendConfirmation sends the confirmation email of a double opt-in. The email has the
// sending type workflow, but its sender is the list (specification, "Shape of data by
// sending type").
func (t *tx) sendConfirmation(l *list, c *contact) {
	if t.account.Suppression.matches(c.Email) {
		return // suppressed addresses never receive email
	}
	m := t.newMessage(events.SendingTypeWorkflow, api.Sender{Name: l.Name, Email: "no-reply@platform.example"}, api.MessageContent{
		Subject: "Please confirm your subscription to " + l.Name,
		HTML:    "<p><a href=\"{{" + tagConfirm + "}}\">Confirm your subscription</a></p>\n",
		Text:    "Follow this link to confirm your subscription: {{" + tagConfirm + "}}\n",
	})
	m.setRecipient(c.Email, l, c)
	t.deliver(m)
}

// Confirm simulates a click on the link in the confirmation email of a double
// opt-in.
func (p *Platform) Confirm(messageID string) error {
	return p.actOn(messageID, func(t *tx, m *message) error {
		if !m.confirms() {
			return fmt.Errorf("message %s is not a confirmation email", m.ID)
		}
		if l, c := t.contactOf(m); c.Status == statusPending {
			t.activate(l, c)
		}
		m.Confirmed = true
		return nil
	})
}
