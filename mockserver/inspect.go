package mockserver

import (
	"context"

	"example.com/emailplatform/mockserver/internal/contract"
	"example.com/emailplatform/mockserver/internal/record"
)

// Requests returns the requests that the API has answered, the oldest first:
// the latest 10,000, and no more than 32 MiB of them.
func (s *Server) Requests() []Request {
	return each(s.world.API.Log.All(), func(r record.Request) Request { return Request(r) })
}

// Outbox returns the messages that were sent, of all accounts and all sending
// types, the oldest first. Submissions that were refused are not among them.
func (s *Server) Outbox() []Message {
	return each(s.world.Platform.Outbox(), func(m record.Message) Message { return Message(m) })
}

// Deliveries returns what was delivered to webhooks or is to be, in the order
// in which the events fired.
func (s *Server) Deliveries() []Delivery {
	return each(s.world.Deliveries.Deliveries(), func(d record.Delivery) Delivery { return Delivery(d) })
}

// Events returns the events that fired, the oldest first: the latest 10,000.
// Those that no webhook hears are among them only with [Config.RecordEvents].
func (s *Server) Events() []FiredEvent {
	all := s.world.Deliveries.Events(func(*record.FiredEvent) bool { return true })
	return each(all, func(e record.FiredEvent) FiredEvent { return FiredEvent(e) })
}

// Redeliver puts a delivery into its webhook's queue once more, whatever
// became of it, with the same bytes. If it fails, the retries begin anew. It is
// an error if there is no such delivery or it is being attempted right now.
func (s *Server) Redeliver(deliveryID string) error {
	return s.world.Deliveries.Redeliver(deliveryID)
}

// Wait returns when every queue is idle, which is when nothing happens any more
// before more time passes: every campaign whose time has come is sent, and
// every event that fired has been attempted, unless its webhook is archived or
// its rate limit used up. What has failed and waits to be tried again, what
// waits for its rate limit and campaigns scheduled for later do not keep Wait;
// for those, let time pass (in a bubble of testing/synctest that costs
// nothing) or use [Server.Drain].
//
// It fails if ctx ends first.
func (s *Server) Wait(ctx context.Context) error { return s.world.Wait(ctx) }

// Drain returns when every delivery has been delivered or given up, however
// long its retries and rate limits take. Deliveries to archived webhooks do not
// count: nothing happens to them. It fails, saying what is left, if ctx ends
// first or the server is closed.
func (s *Server) Drain(ctx context.Context) error { return s.world.Drain(ctx) }

// Operations returns the operationIds of the API's document, sorted.
func Operations() []string { return contract.IDs() }
