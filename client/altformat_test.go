package client

import (
	"net/http"
	"os"

	"example.com/emailplatform/internal/tests/altformat"
)

// Spelled returns next. If EMAILPLATFORM_TEST_ALTFORMAT is set, it returns a transport that converts responses to the
// other known response format.
func Spelled(next http.RoundTripper) http.RoundTripper {
	if os.Getenv("EMAILPLATFORM_TEST_ALTFORMAT") == "" {
		return next
	}
	return altformat.Transport(next)
}
