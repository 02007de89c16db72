package main

import (
	"errors"
	"fmt"
	"io"

	"example.com/emailplatform/mockserver"
	"example.com/emailplatform/webhook"
)

const verifyUsage = `Verifies the signature of a delivery. If the signature is invalid, it explains why.

  mockserver verify -secret SECRET -signature X < body

The body must be the exact bytes that were delivered.

`

// maxDelivery is the maximum size of a body, in bytes.
const maxDelivery = 64 << 20

// verify verifies a signature. An invalid signature is an error.
func verify(args []string, in io.Reader, out io.Writer) error {
	flags := newFlags("mockserver verify", verifyUsage, out)
	parsed := secretFlags(flags)
	signature := flags.String("signature", "", "the `value` of the header "+webhook.DefaultSignatureHeader)
	if err := flags.parseAll(args); err != nil {
		return usageError{err}
	}
	secret, err := parsed()
	if err != nil {
		return usageError{err}
	}
	body, err := io.ReadAll(io.LimitReader(in, maxDelivery+1))
	if err != nil {
		return err
	}
	if len(body) > maxDelivery {
		return fmt.Errorf("the body is larger than %d bytes", maxDelivery)
	}
	if reason := mockserver.DiagnoseSignature(secret, body, *signature); reason != "" {
		return errors.New("invalid signature: " + reason)
	}
	_, err = fmt.Fprintf(out, "The signature is valid: %s over %d bytes.\n", secret.HashFunction(), len(body))
	return err
}
