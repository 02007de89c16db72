package main

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"strings"
	"sync"
	"time"

	"example.com/emailplatform/client"
	"example.com/emailplatform/events"
)

// state is the known state of the email about an order.
type state string

const (
	sent    state = "sent"    // the platform has it, and its id is known
	unknown state = "unknown" // the platform may have it, or not
)

// entry is one email. An application keeps entries in its database.
type entry struct {
	state   state
	address string
	since   time.Time
	emailID string
}

// outbox sends at most one email about each order. Events resolve unknown outcomes.
// If no event arrives, a person decides.
type outbox struct {
	platform *client.Client

	mu      sync.Mutex
	entries map[string]*entry // by order
}

func newOutbox(c *client.Client) *outbox { return &outbox{platform: c, entries: map[string]*entry{}} }

// subject contains the order, which identifies an email: a lookup returns the
// subject, but no custom attributes.
func subject(order string) string { return "Your order " + order }

// confirm sends the email about an order, unless an earlier call tried to.
func (o *outbox) confirm(ctx context.Context, order, address string) error {
	if !o.begin(order, address) {
		return nil
	}
	email, err := o.platform.Emails.Send(ctx, client.EmailSubmission{
		To:     address,
		Sender: client.Sender{Name: "Shop", Email: "orders@shop.example"},
		Content: client.EmailContent{
			Subject: subject(order),
			HTML:    `<a href="https://shop.example/orders/{{order}}">Your order</a>`, // Email.Clicked has the link
			Type:    client.EmailTypeTransactional,
		},
		CustomAttributes: client.Attributes{{Name: "order", Value: order}},
	})
	switch {
	case err == nil:
		o.found(order, email.ID)
	case errors.Is(err, client.ErrOutcomeUnknown):
		return fmt.Errorf("order %s: not sent again until the outcome is known: %w", order, err)
	default: // certainly not sent, for example ErrNotQueued: confirm can be called again
		o.release(order)
	}
	return err
}

// begin records an email before it is sent, because a crash also
// leaves an unknown outcome.
func (o *outbox) begin(order, address string) bool {
	o.mu.Lock()
	defer o.mu.Unlock()
	if o.entries[order] != nil {
		return false
	}
	o.entries[order] = &entry{state: unknown, address: address, since: time.Now()}
	return true
}

// handle finds out from an event of an unknown email whether the email was
// sent. Events of the Email API contain the email's id, and a lookup returns
// the order.
func (o *outbox) handle(ctx context.Context, ev *events.Event) error {
	id := ev.EmailID()
	if id == "" || !o.isUnknown(id) {
		return nil
	}
	email, err := o.platform.Emails.Get(ctx, id)
	if errors.Is(err, client.ErrNotFound) {
		return nil // not an email of this account's
	}
	if err != nil {
		return err // the platform delivers the event again
	}
	switch order := o.orderOf(email); {
	case order == "":
	case email.Status == client.EmailStatusRejected, email.Status == client.EmailStatusError:
		o.release(order) // the platform rejected it
	default:
		o.found(order, id)
	}
	return nil
}

// isUnknown reports whether the email may be one whose outcome is unknown.
func (o *outbox) isUnknown(id string) bool {
	o.mu.Lock()
	defer o.mu.Unlock()
	open := false
	for _, e := range o.entries {
		if e.emailID == id {
			return false
		}
		open = open || e.state == unknown
	}
	return open
}

func (o *outbox) orderOf(email client.Email) string {
	o.mu.Lock()
	defer o.mu.Unlock()
	for order, e := range o.entries {
		if e.state == unknown && strings.EqualFold(e.address, email.To) && email.Subject == subject(order) {
			return order
		}
	}
	return ""
}

func (o *outbox) found(order, emailID string) {
	o.mu.Lock()
	defer o.mu.Unlock()
	if e := o.entries[order]; e != nil { // not removed in the meantime
		e.state, e.emailID = sent, emailID
	}
}

// release allows an order to be confirmed again. Call it if no email was sent,
// or if a duplicate is acceptable.
func (o *outbox) release(order string) {
	o.mu.Lock()
	defer o.mu.Unlock()
	delete(o.entries, order)
}

// unconfirmed returns the orders without an event for this time. If a recipient
// never opens the email or clicks a link, no event arrives. So a missing event does not
// prove that the email was not sent.
func (o *outbox) unconfirmed(after time.Duration) (orders []string) {
	o.mu.Lock()
	defer o.mu.Unlock()
	for order, e := range o.entries {
		if e.state == unknown && time.Since(e.since) >= after {
			orders = append(orders, order)
		}
	}
	slices.Sort(orders)
	return orders
}
