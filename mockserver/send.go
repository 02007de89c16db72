package mockserver

import (
	"example.com/emailplatform/mockserver/internal/signature"
	"example.com/emailplatform/webhook"
)

// SendEvent queues a delivery with any body, signed with the webhook's secret,
// and returns the id of the delivery. The body does not have to be an event or
// JSON.
func (s *Server) SendEvent(webhookID string, body []byte) (deliveryID string, err error) {
	deliveryID, err = s.engine.Deliveries.Send(webhookID, body)
	return deliveryID, prefixed("send the event", err)
}

// SendEventTo signs any body with the secret, and makes one attempt to deliver it to an
// absolute http or https URL, without a webhook. [Config.AllowTargets] limits the URLs.
func (s *Server) SendEventTo(to string, secret webhook.Secret, body []byte) (deliveryID string, err error) {
	deliveryID, err = s.engine.SendEventTo(0, to, secret, body)
	return deliveryID, prefixed("send the event", err)
}

// Redeliver queues a delivery again with the same bytes, whatever its state is. If the
// delivery fails, the retry schedule starts from the beginning. If the delivery does
// not exist or an attempt is in progress, Redeliver returns an error.
func (s *Server) Redeliver(deliveryID string) error {
	return prefixed("redeliver", s.engine.Deliveries.Redeliver(deliveryID))
}

// DiagnoseSignature explains why a signature or the secret is invalid. The result
// describes a common cause, or states that none was detected, or is "" if the signature
// is valid. You can log it, because it contains neither the secret nor a signature.
func DiagnoseSignature(secret webhook.Secret, body []byte, given string) string {
	return signature.Diagnose(secret, body, given)
}
