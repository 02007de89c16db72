package mockserver

import (
	"example.com/emailplatform/mockserver/internal/samples"
	"example.com/emailplatform/mockserver/internal/signature"
	"example.com/emailplatform/mockserver/record"
	"example.com/emailplatform/webhook"
)

// Sample is an example of an event. Package record documents its fields.
type Sample = record.Sample

// DefaultVariant is the variant ("default") of a sample whose event has no
// others, or the usual one of them.
const DefaultVariant = samples.DefaultVariant

// Samples returns an example of every event in every shape that the
// specification shows, ordered by event and variant, to send to a receiver
// under test; see [Server.SendEvent].
func Samples() ([]Sample, error) { return samples.All() }

// SendEvent delivers a body of your own to a webhook, signed with its secret,
// in its turn and with its retries like any other delivery. An archived
// webhook gets it once it is unarchived.
// The body need not be an event, nor JSON. It returns the id of the delivery.
func (s *Server) SendEvent(webhookID string, body []byte) (deliveryID string, err error) {
	return s.env.Deliveries.Send(webhookID, body)
}

// SendEventTo delivers a body of your own to a URL without a webhook, signed
// with the secret. It is attempted once. The same rules say which addresses
// may be reached as for webhooks.
func (s *Server) SendEventTo(to string, secret webhook.Secret, body []byte) (deliveryID string, err error) {
	return s.env.SendEventTo(to, secret, body)
}

// Redeliver puts a delivery into its webhook's queue once more, whatever
// became of it, with the same bytes. If it fails, the retries begin anew. It is
// an error if there is no such delivery or it is being attempted right now.
func (s *Server) Redeliver(deliveryID string) error {
	return s.env.Deliveries.Redeliver(deliveryID)
}

// DiagnoseSignature explains why a signature is not that of a body and a secret: it
// returns the mistake that results in this signature, if it is a common one, and ""
// if the signature is right. The text contains neither the secret nor a signature.
// It also reports a secret that is empty or has an unknown hash function.
func DiagnoseSignature(secret webhook.Secret, body []byte, given string) string {
	return signature.Diagnose(secret, body, given)
}
