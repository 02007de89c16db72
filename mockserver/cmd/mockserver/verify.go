package main

import (
	"errors"
	"flag"
	"fmt"
	"io"

	"example.com/emailplatform/mockserver"
	"example.com/emailplatform/webhook"
)

const verifyUsage = `Says whether the signature of a delivery is right, and if not, what was probably done wrong.

  mockserver verify --secret SECRET --signature X < body

The body must be the bytes as they came.

`

// maxDelivery is how much of a body is read.
const maxDelivery = 64 << 20

// verify judges a signature; one that is wrong is an error.
func verify(args []string, in io.Reader, out io.Writer) error {
	var secret webhook.Secret
	flags := flag.NewFlagSet("mockserver verify", flag.ContinueOnError)
	flags.SetOutput(out)
	flags.Usage = func() { _, _ = io.WriteString(out, verifyUsage); flags.PrintDefaults() }
	secretFlags(flags, &secret)
	signature := flags.String("signature", "", "the `value` of the header "+webhook.DefaultSignatureHeader)
	if err := flags.Parse(args); err != nil {
		return err
	}
	if flags.NArg() > 0 {
		return fmt.Errorf("unexpected argument %q: the body comes from the standard input", flags.Arg(0))
	}
	body, err := io.ReadAll(io.LimitReader(in, maxDelivery+1))
	if err != nil {
		return err
	}
	if len(body) > maxDelivery {
		return fmt.Errorf("the body is larger than %d bytes", maxDelivery)
	}
	if reason := mockserver.DiagnoseSignature(secret, body, *signature); reason != "" {
		return errors.New("the signature is wrong: " + reason)
	}
	_, err = fmt.Fprintf(out, "The signature is right: %s over %d bytes.\n", secret.Hash, len(body))
	return err
}
