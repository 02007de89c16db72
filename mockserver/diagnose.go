package mockserver

import (
	"example.com/emailplatform/mockserver/internal/signature"
	"example.com/emailplatform/webhook"
)

// DiagnoseSignature tells how somebody came to a signature that is not the one
// of this body and secret: which of the usual mistakes gives just that value. It
// is empty if the signature is right. The answer holds neither the secret nor
// any signature. A secret that is empty or has an unknown hash function is an
// answer as well.
func DiagnoseSignature(secret webhook.Secret, body []byte, given string) string {
	return signature.Diagnose(secret, body, given)
}
