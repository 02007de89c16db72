package webhook

import (
	"bytes"
	"context"
	"fmt"
	"net/http"
)

// DefaultSignatureHeader is the header that carries the signature of a delivery
// (specification, "Authentication").
const DefaultSignatureHeader = "X-Service-Signature"

// Sign returns the signature for body: the base64-encoded HMAC, keyed with the
// secret. Use Sign in tests and in servers that simulate the platform. Sign
// returns an error if secret is the zero Secret.
func Sign(secret Secret, body []byte) (string, error) {
	k, err := newKey(secret)
	if err != nil {
		return "", fmt.Errorf("webhook: %w", err)
	}
	return k.sign(body), nil
}

// NewRequest returns a delivery for tests: a POST of body to url, with the signature
// in [DefaultSignatureHeader]. Pass the request to a handler's ServeHTTP method or
// send the request with an [http.Client]. NewRequest returns an error if secret is
// the zero Secret or the URL is invalid.
func NewRequest(ctx context.Context, url string, secret Secret, body []byte) (*http.Request, error) {
	k, err := newKey(secret)
	if err != nil {
		return nil, fmt.Errorf("webhook: %w", err)
	}
	req, err := http.NewRequestWithContext(ctx, http.MethodPost, url, bytes.NewReader(body))
	if err != nil {
		return nil, fmt.Errorf("webhook: %w", err)
	}
	req.Header.Set("Content-Type", "application/json")
	req.Header.Set(DefaultSignatureHeader, k.sign(body))
	return req, nil
}
