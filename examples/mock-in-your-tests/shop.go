// Package shop is a small application that sends email. Its tests, in
// shop_test.go, use the mock server.
package shop

import (
	"context"
	"errors"
	"net/http"
	"strings"
	"sync"

	"example.com/emailplatform/client"
	"example.com/emailplatform/events"
	"example.com/emailplatform/webhook"
)

// ErrUndeliverable is returned for an address that bounced hard.
var ErrUndeliverable = errors.New("shop: the address does not exist")

// Shop confirms orders by email. It sends no more email to addresses that bounced
// hard.
type Shop struct {
	platform *client.Client
	template int64

	bounced sync.Map // addresses that bounced hard, in lower case
	orders  sync.Map // orders whose email was sent or may have been sent, and whether a person must check it
}

// New returns a shop that sends the template.
func New(platform *client.Client, template int64) *Shop {
	return &Shop{platform: platform, template: template}
}

// Confirm sends the confirmation of an order, at most once. After an error other
// than ErrOutcomeUnknown, such as ErrNotQueued, it can be called again.
func (s *Shop) Confirm(ctx context.Context, order, address string) error {
	if _, bounced := s.bounced.Load(strings.ToLower(address)); bounced {
		return ErrUndeliverable
	}
	if _, tried := s.orders.LoadOrStore(order, false); tried {
		return nil
	}
	_, err := s.platform.Emails.Send(ctx, client.EmailSubmission{
		To:               address,
		Sender:           client.Sender{Name: "Shop", Email: "orders@shop.example"},
		Content:          client.EmailContent{Subject: "Your order {{order}}", TemplateID: s.template, Type: client.EmailTypeTransactional},
		CustomAttributes: client.Attributes{{Name: "order", Value: order}},
	})
	switch {
	case errors.Is(err, client.ErrOutcomeUnknown):
		s.orders.Store(order, true) // not sent again: a person must check
	case err != nil:
		s.orders.Delete(order) // not sent
	}
	return err
}

// ToCheck returns the orders whose confirmation has an unknown outcome.
func (s *Shop) ToCheck() (orders []string) {
	for order, check := range s.orders.Range {
		if check.(bool) {
			orders = append(orders, order.(string))
		}
	}
	return orders
}

// Webhook returns the handler for the platform's events.
func (s *Shop) Webhook(v *webhook.Verifier) http.Handler {
	return webhook.NewHandler(v, s.handle, webhook.Options{})
}

// handle looks up bounces, because bounce events of the Email API do not
// contain the reason. The platform allows one lookup per second, so deliveries
// must be limited too.
func (s *Shop) handle(ctx context.Context, ev *events.Event) error {
	bounce, ok := ev.Data.(*events.EmailAPIBounce)
	if !ok {
		return nil
	}
	email, err := s.platform.Emails.Get(ctx, bounce.Email.ID)
	if err != nil {
		return err // the platform delivers the event again
	}
	if email.Bounce != nil && email.Bounce.Type == "hard" {
		s.bounced.Store(strings.ToLower(email.To), true)
	}
	return nil
}
