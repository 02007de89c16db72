package webhook

import (
	"crypto/fips140"
	"crypto/hmac"
	"crypto/sha256"
	"crypto/sha512"
	"crypto/subtle"
	"encoding/base64"
	"errors"
	"fmt"
	"hash"
	"log/slog"
	"strings"
	"sync"
)

// Reasons why a delivery is refused. Neither says more: no key, no expected
// signature.
var (
	// ErrMissingSignature means that the delivery has no signature, or an empty
	// one.
	ErrMissingSignature = errors.New("webhook: missing signature")
	// ErrInvalidSignature means that no secret gives the signature that the
	// delivery has.
	ErrInvalidSignature = errors.New("webhook: invalid signature")
)

// Hash names the function that the HMAC of a body is made with. The platform
// calls it hash_function and returns it with the webhook (specification,
// "Authentication"). A receiver takes it from its own configuration, never from
// a request.
type Hash string

// The functions that the platform signs with. Weaker ones are refused.
const (
	SHA256 Hash = "sha256" // the platform's default
	SHA512 Hash = "sha512"
)

func (h Hash) function() func() hash.Hash {
	switch h {
	case SHA256, "":
		return sha256.New
	case SHA512:
		return sha512.New
	}
	return nil
}

// Secret is what the platform and the receiver share for one webhook: the
// secret and hash_function that the platform returns when the webhook is
// retrieved. It keeps its key to itself when it is printed, logged or
// marshalled.
type Secret struct {
	// Key is the webhook's secret, byte for byte as the platform returned it
	// when the webhook was created or retrieved. It may not be empty or blank.
	Key string
	// Hash is the webhook's hash_function: SHA256 when empty, or SHA512.
	Hash Hash
}

func (s Secret) String() string {
	return fmt.Sprintf("webhook.Secret{Key: redacted, Hash: %q}", string(s.Hash))
}

// Format implements [fmt.Formatter], so that the key comes out with no verb
// that go vet accepts.
func (s Secret) Format(f fmt.State, _ rune) { _, _ = f.Write([]byte(s.String())) }

// LogValue implements [slog.LogValuer].
func (s Secret) LogValue() slog.Value { return slog.StringValue(s.String()) }

// MarshalText implements [encoding.TextMarshaler], which encoding/json and
// others use. There is no way back.
func (s Secret) MarshalText() ([]byte, error) { return []byte(s.String()), nil }

// ParseSecret returns the secret of a webhook from what the platform returns with
// it: the members secret and hash_function, which is SHA256 if empty, and may be
// written in capitals. It refuses what NewVerifier does, and a key with white space
// around it: a file or an environment variable often adds a line's end, with which
// no signature is ever right. The error does not show the key.
func ParseSecret(key, hashFunction string) (Secret, error) {
	s := Secret{Key: key, Hash: Hash(strings.ToLower(hashFunction))}
	if s.Hash == "" {
		s.Hash = SHA256
	}
	if _, err := newKey(s); err != nil {
		return Secret{}, fmt.Errorf("webhook: %w", err)
	}
	if strings.TrimSpace(key) != key {
		return Secret{}, errors.New("webhook: the key has white space around it")
	}
	return s, nil
}

// Verifier tells the platform's deliveries from forged ones. It is immutable
// and safe for concurrent use. The zero value has no secret and refuses
// everything.
type Verifier struct {
	keys []*key
}

// NewVerifier returns a Verifier that accepts what any of the secrets has
// signed: several while a secret is being replaced, or when several webhooks
// deliver to one URL. It fails when there is no secret, when a key is empty or
// blank (with such a key anyone can sign), and when a hash function is not one
// of SHA256 and SHA512. In FIPS 140-only mode (GODEBUG=fips140=only) it also fails
// when a key is shorter than 14 bytes.
func NewVerifier(secrets ...Secret) (*Verifier, error) {
	if len(secrets) == 0 {
		return nil, errors.New("webhook: no secret: at least one is required")
	}
	v := &Verifier{}
	for i, s := range secrets {
		k, err := newKey(s)
		if err != nil {
			return nil, fmt.Errorf("webhook: secret %d: %w", i+1, err)
		}
		v.keys = append(v.keys, k)
	}
	return v, nil
}

// Verify reports whether signature is that of body, which must be the bytes as
// they came, not decoded and encoded again. The signature is the standard,
// padded base64 encoding of the HMAC (specification, "Authentication"); any
// other way to write the same HMAC is refused. The error is
// ErrMissingSignature, ErrInvalidSignature or nil.
//
// The time that Verify takes depends on the length of the body and on which
// secret fits, not on how much of a wrong signature is right.
func (v *Verifier) Verify(body []byte, signature string) error {
	if signature == "" {
		return ErrMissingSignature
	}
	for _, k := range v.keys {
		if k.signed(body, signature) {
			return nil
		}
	}
	return ErrInvalidSignature
}

// key holds HMAC states that have already taken in the key, which is half of
// the work for a short body.
type key struct {
	textLen int // of a signature, in base64
	states  sync.Pool
}

// state is what one verification needs, kept together so that it allocates
// nothing.
type state struct {
	mac  hash.Hash
	sum  [sha512.Size]byte
	text [(sha512.Size + 2) / 3 * 4]byte
	got  [(sha512.Size + 2) / 3 * 4]byte
}

// minKeyFIPS is the minimum length of a key in FIPS 140-only mode: 112 bits.
const minKeyFIPS = 112 / 8

func newKey(s Secret) (*key, error) {
	function := s.Hash.function()
	switch {
	case function == nil:
		return nil, fmt.Errorf("unknown or weak hash function %q: want %q or %q", string(s.Hash), SHA256, SHA512)
	case strings.TrimSpace(s.Key) == "":
		return nil, errors.New("the key is empty")
	case len(s.Key) < minKeyFIPS && fips140.Enforced(): // or crypto/hmac panics
		return nil, fmt.Errorf("the key must have at least %d bytes in FIPS 140-only mode", minKeyFIPS)
	}
	secret := []byte(s.Key)
	return &key{
		textLen: base64.StdEncoding.EncodedLen(function().Size()),
		states:  sync.Pool{New: func() any { return &state{mac: hmac.New(function, secret)} }},
	}, nil
}

// signed compares texts: an HMAC has exactly one canonical text, so there is no
// lenient decoder to fool.
func (k *key) signed(body []byte, signature string) bool {
	if len(signature) != k.textLen {
		return false
	}
	st := k.states.Get().(*state)
	defer k.states.Put(st)
	got := st.got[:copy(st.got[:], signature)]
	return subtle.ConstantTimeCompare(st.encode(body, k.textLen), got) == 1
}

func (k *key) sign(body []byte) string {
	st := k.states.Get().(*state)
	defer k.states.Put(st)
	return string(st.encode(body, k.textLen))
}

// encode returns the signature of body; it is valid until the state is used
// again.
func (st *state) encode(body []byte, textLen int) []byte {
	st.mac.Reset()
	st.mac.Write(body)
	text := st.text[:textLen]
	base64.StdEncoding.Encode(text, st.mac.Sum(st.sum[:0]))
	return text
}
