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
// and returns the id of the delivery. The server retries the delivery like
// other deliveries. The body does not have to be an event or JSON. An archived
// webhook gets the delivery when it is unarchived.
func (s *Server) SendEvent(webhookID string, body []byte) (deliveryID string, err error) {
	return s.env.Deliveries.Send(webhookID, body)
}

// SendEventTo delivers any body once to a URL without a webhook, signed with
// secret. The rules for the addresses of webhooks apply to the URL.
func (s *Server) SendEventTo(to string, secret webhook.Secret, body []byte) (deliveryID string, err error) {
	return s.env.SendEventTo(to, secret, body)
}

// Redeliver queues a delivery again with the same bytes, regardless of its
// state. If the delivery fails, the retry schedule starts again. Redeliver
// returns an error if the delivery does not exist or if an attempt is in
// progress.
func (s *Server) Redeliver(deliveryID string) error {
	return s.env.Deliveries.Redeliver(deliveryID)
}

// DiagnoseSignature explains why a signature is invalid. If it finds a common
// cause, it returns a description of the cause. If the signature is valid,
// DiagnoseSignature returns "". The text contains neither the secret nor a
// signature. For the zero Secret, it describes the invalid secret.
func DiagnoseSignature(secret webhook.Secret, body []byte, given string) string {
	return signature.Diagnose(secret, body, given)
}
