package mockserver

import (
	"example.com/emailplatform/mockserver/internal/samples"
	"example.com/emailplatform/mockserver/internal/signature"
	"example.com/emailplatform/mockserver/record"
	"example.com/emailplatform/webhook"
)

// Sample is an example of an event. Package record documents its fields.
type Sample = record.Sample

// Samples returns an example of every event and payload in the specification,
// ordered by event and variant. Use it with [Server.SendEvent] to test a
// receiver.
func Samples() ([]Sample, error) { return samples.All() }

// SendEvent queues a delivery of any body, signed with the webhook's secret,
// and returns the id of the delivery. It is retried like other deliveries. The
// body does not have to be an event or JSON. An archived webhook gets the
// delivery when it is unarchived.
func (s *Server) SendEvent(webhookID string, body []byte) (deliveryID string, err error) {
	return s.env.Deliveries.Send(webhookID, body)
}

// SendEventTo delivers any body once to a URL without a webhook, signed with
// secret. It allows the same target addresses as webhooks.
func (s *Server) SendEventTo(to string, secret webhook.Secret, body []byte) (deliveryID string, err error) {
	return s.env.SendEventTo(to, secret, body)
}

// Redeliver queues a delivery again with the same bytes, regardless of its
// state. If the delivery fails, its retries start from the beginning. Redeliver
// returns an error if the delivery does not exist or is being attempted.
func (s *Server) Redeliver(deliveryID string) error {
	return s.env.Deliveries.Redeliver(deliveryID)
}

// DiagnoseSignature explains why a signature is not the signature of body with
// secret. If a common error causes this signature, it returns a
// description of the error. If the signature is valid, it returns "". The
// text contains neither the secret nor a signature. It also reports the zero
// Secret.
func DiagnoseSignature(secret webhook.Secret, body []byte, given string) string {
	return signature.Diagnose(secret, body, given)
}
