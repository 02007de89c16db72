package mockserver

import (
	"example.com/emailplatform/webhook"
)

// SendEvent delivers a body of your own to a webhook, signed with its secret,
// in its turn and with its retries like any other delivery. An archived
// webhook gets it once it is unarchived.
// The body need not be an event, nor JSON. It returns the id of the delivery.
func (s *Server) SendEvent(webhookID string, body []byte) (deliveryID string, err error) {
	return s.world.Deliveries.Send(webhookID, body)
}

// SendEventTo delivers a body of your own to a URL without a webhook, signed
// with the secret. It is attempted once. The same rules say which addresses
// may be reached as for webhooks.
func (s *Server) SendEventTo(to string, secret webhook.Secret, body []byte) (deliveryID string, err error) {
	return s.world.SendEventTo(to, secret, body)
}
