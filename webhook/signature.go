package webhook

import (
	"bytes"
	"context"
	"crypto/fips140"
	"crypto/hmac"
	"crypto/sha512"
	"crypto/subtle"
	"encoding/base64"
	"errors"
	"fmt"
	"hash"
	"net/http"
	"slices"
	"sync"
)

// Errors from [Verifier.Verify] contain neither a key nor an expected signature.
var (
	// ErrMissingSignature means that the delivery has no signature or an empty
	// signature.
	ErrMissingSignature = errors.New("webhook: missing signature")
	// ErrInvalidSignature means that the signature does not match any secret.
	ErrInvalidSignature = errors.New("webhook: invalid signature")
	// ErrNoSecrets means that no call to the function of [NewVerifierFunc] has succeeded yet.
	// See [SourceOptions].Lazy.
	ErrNoSecrets = errors.New("webhook: secrets not available yet")
)

// Verifier verifies signatures of deliveries. It is safe for concurrent use. The zero
// Verifier has no secret, so it rejects every delivery.
type Verifier struct {
	keys   []*key
	source *source // nil unless NewVerifierFunc made the Verifier
}

// NewVerifier returns a Verifier that accepts signatures with any of the secrets. If
// several webhooks use one URL, pass the secrets of all these webhooks. If the secrets
// change while the program runs, use [NewVerifierFunc]. NewVerifier returns an error if
// there is no secret, or if a secret is the zero Secret.
func NewVerifier(secrets ...Secret) (*Verifier, error) {
	keys, err := newKeys(secrets)
	if err != nil {
		return nil, err
	}
	return &Verifier{keys: keys}, nil
}

// Verify returns nil if the signature of body is valid, and otherwise
// [ErrMissingSignature], [ErrInvalidSignature] or [ErrNoSecrets]. The body must be the
// received bytes, because JSON that was decoded and encoded again may differ from them.
// The signature must be the HMAC in standard, padded base64 (specification,
// "Authentication").
//
// For a Verifier from [NewVerifierFunc], Verify can call the function that
// returns the secrets.
//
// The duration of Verify depends only on the lengths of the body and the
// signature, and on which secret matches.
func (v *Verifier) Verify(body []byte, signature string) error {
	if signature == "" {
		return ErrMissingSignature
	}
	keys := v.current()
	if keys == nil && v.source != nil {
		return ErrNoSecrets
	}
	if matches(keys, body, signature) || v.source != nil && matches(v.source.newer(keys), body, signature) {
		return nil
	}
	return ErrInvalidSignature
}

// current returns nil if the source has not returned secrets yet.
func (v *Verifier) current() []*key {
	if v.source != nil {
		return v.source.current()
	}
	return v.keys
}

// matches reports whether signature is the signature of body with one of the
// keys.
func matches(keys []*key, body []byte, signature string) bool {
	return slices.ContainsFunc(keys, func(k *key) bool { return k.signed(body, signature) })
}

// key contains HMAC states that have already hashed the key. For a short body, hashing the
// key again would take half of the time of a verification.
type key struct {
	textLen int // length of a signature in base64
	states  sync.Pool
}

// state is reusable memory for one verification, so Verify does not allocate.
type state struct {
	mac  hash.Hash
	sum  [sha512.Size]byte
	text [(sha512.Size + 2) / 3 * 4]byte
	got  [(sha512.Size + 2) / 3 * 4]byte
}

// minKeyFIPS is the minimum length of a key in FIPS 140-only mode: 112 bits.
const minKeyFIPS = 112 / 8

func newKey(s Secret) (*key, error) {
	secret, function := []byte(s.Reveal()), s.hash.function()
	switch {
	case len(secret) == 0:
		return nil, errors.New("secret must not be empty")
	case len(secret) < minKeyFIPS && fips140.Enforced(): // otherwise crypto/hmac would panic
		return nil, fmt.Errorf("the secret must be at least %d bytes long in FIPS 140-only mode", minKeyFIPS)
	}
	return &key{
		textLen: base64.StdEncoding.EncodedLen(function().Size()),
		states:  sync.Pool{New: func() any { return &state{mac: hmac.New(function, secret)} }},
	}, nil
}

// signed reports whether the argument signature is the signature of body with the
// key. It compares the base64 texts, because several texts can be decoded to the same
// HMAC.
func (k *key) signed(body []byte, signature string) bool {
	if len(signature) != k.textLen {
		return false
	}
	st := k.states.Get().(*state)
	defer k.states.Put(st)
	got := st.got[:copy(st.got[:], signature)]
	return subtle.ConstantTimeCompare(st.encode(body, k.textLen), got) == 1
}

// encode returns the signature of body, which is valid only until the next use of the
// state.
func (st *state) encode(body []byte, textLen int) []byte {
	st.mac.Reset()
	st.mac.Write(body)
	text := st.text[:textLen]
	base64.StdEncoding.Encode(text, st.mac.Sum(st.sum[:0]))
	return text
}

// DefaultSignatureHeader is the header with the signature of a delivery
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
	st := k.states.Get().(*state)
	return string(st.encode(body, k.textLen)), nil
}

// NewRequest returns a delivery for tests: a POST of body to url, with the signature in
// [DefaultSignatureHeader]. Pass it to a handler's ServeHTTP method or send it with an
// [http.Client]. NewRequest returns an error if secret is the zero Secret or the URL is
// invalid.
func NewRequest(ctx context.Context, url string, secret Secret, body []byte) (*http.Request, error) {
	signature, err := Sign(secret, body)
	if err != nil {
		return nil, err
	}
	req, err := http.NewRequestWithContext(ctx, http.MethodPost, url, bytes.NewReader(body))
	if err != nil {
		return nil, fmt.Errorf("webhook: %w", err)
	}
	req.Header.Set("Content-Type", "application/json")
	req.Header.Set(DefaultSignatureHeader, signature)
	return req, nil
}
