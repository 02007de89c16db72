package main

import (
	"context"
	"errors"
	"strings"
	"sync"

	"example.com/emailplatform/client"
)

// shop confirms orders by email.
type shop struct {
	platform *client.Client

	// A real shop keeps this state in its database.
	orders  sync.Map // orders whose email was sent or may have been sent, and whether a person must check it
	bounced sync.Map // addresses that bounced hard, in lower case; see bounce.go
}

var errUndeliverable = errors.New("the address does not exist")

// confirm sends the confirmation of an order, at most once. After an error other
// than ErrOutcomeUnknown, such as ErrNotQueued, it can be called again.
func (s *shop) confirm(ctx context.Context, order, address string) error {
	if _, bounced := s.bounced.Load(strings.ToLower(address)); bounced {
		return errUndeliverable
	}
	if _, tried := s.orders.LoadOrStore(order, false); tried {
		return nil
	}
	_, err := s.platform.Emails.Send(ctx, client.EmailSubmission{
		To:     address,
		Sender: client.Sender{Name: "Shop", Email: "orders@shop.example"},
		Content: client.EmailContent{
			Type:    client.EmailTypeTransactional,
			Subject: "Your order {{order}}",
			Text:    "Thank you for order {{order}}.",
		},
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

// toCheck returns the orders whose confirmation has an unknown outcome.
func (s *shop) toCheck() (orders []string) {
	for order, check := range s.orders.Range {
		if check.(bool) {
			orders = append(orders, order.(string))
		}
	}
	return orders
}
