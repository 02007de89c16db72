package client

import (
	"net/http"
	"os"

	"example.com/emailplatform/internal/tests/altformat"
)

// Spelled returns next, or if EMAILPLATFORM_TEST_ALTFORMAT is set, a transport that
// respells its answers: all tests of this package then run against a platform
// that spells its answers in the other known way.
func Spelled(next http.RoundTripper) http.RoundTripper {
	if os.Getenv("EMAILPLATFORM_TEST_ALTFORMAT") == "" {
		return next
	}
	return altformat.Transport(next)
}
