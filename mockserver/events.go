package mockserver

import (
	"example.com/emailplatform/mockserver/internal/samples"
	"example.com/emailplatform/mockserver/internal/signature"
	"example.com/emailplatform/mockserver/record"
	"example.com/emailplatform/webhook"
)

// Sample is an example of an event. For the fields, see [record.Sample].
type Sample = record.Sample

// Samples returns an example of every event and payload in the specification,
// ordered by event and variant. To test a receiver, send the samples with
// [Server.SendEvent].
func Samples() ([]Sample, error) { return samples.All() }

// SendEvent queues a delivery with any body, signed with the webhook's secret,
// and returns the id of the delivery. The server retries the delivery like any
// other delivery. The body does not have to be an event or JSON. If the webhook
// is archived, the delivery waits until the webhook is unarchived.
func (s *Server) SendEvent(webhookID string, body []byte) (deliveryID string, err error) {
	return s.env.Deliveries.Send(webhookID, body)
}

// SendEventTo signs any body with the given secret, and makes one attempt to
// deliver the body to a URL without a webhook. The URL must be an absolute http
// or https URL. The limits in [Config.AllowTargets] apply to the URL.
func (s *Server) SendEventTo(to string, secret webhook.Secret, body []byte) (deliveryID string, err error) {
	return s.env.SendEventTo(to, secret, body)
}

// Redeliver queues a delivery again with the same bytes, regardless of its
// state. If the delivery fails, the retry schedule starts from the beginning.
// Redeliver returns an error if the delivery does not exist or if an attempt is
// in progress.
func (s *Server) Redeliver(deliveryID string) error {
	return s.env.Deliveries.Redeliver(deliveryID)
}

// DiagnoseSignature explains why a signature is invalid. The result describes
// the detected cause, or states that no common cause was detected. If the
// signature is valid, the result is "". The result contains neither the
// secret nor a signature. If the secret is invalid, such as the zero Secret,
// the result describes the error in the secret.
func DiagnoseSignature(secret webhook.Secret, body []byte, given string) string {
	return signature.Diagnose(secret, body, given)
}
