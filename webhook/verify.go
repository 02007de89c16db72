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

// Errors of [Verifier.Verify]. They contain no key and no expected signature.
var (
	// ErrMissingSignature means that the delivery has no signature, or an empty
	// one.
	ErrMissingSignature = errors.New("webhook: missing signature")
	// ErrInvalidSignature means that the signature does not match any secret.
	ErrInvalidSignature = errors.New("webhook: invalid signature")
)

// Hash is the name of the hash function of the HMAC. The platform returns it as
// hash_function of the webhook (specification, "Authentication"). A receiver must
// take it from its own configuration, never from a request.
type Hash string

// The supported hash functions. [NewVerifier] rejects all others.
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

// Secret is the secret and the hash function of one webhook, as the platform returns
// them when you get the webhook. It does not print, log or marshal its key.
type Secret struct {
	// Key is the secret of the webhook, exactly as the platform returned it. It
	// must not be empty or blank.
	Key string
	// Hash is the hash_function of the webhook, SHA256 or SHA512. The default is
	// SHA256.
	Hash Hash
}

func (s Secret) String() string {
	return fmt.Sprintf("webhook.Secret{Key: redacted, Hash: %q}", string(s.Hash))
}

// Format implements [fmt.Formatter]. No verb prints the key, except %p, which go vet
// rejects: package fmt does not call Format for it.
func (s Secret) Format(f fmt.State, _ rune) { _, _ = f.Write([]byte(s.String())) }

// LogValue implements [slog.LogValuer].
func (s Secret) LogValue() slog.Value { return slog.StringValue(s.String()) }

// MarshalText implements [encoding.TextMarshaler], which encoding/json uses. The
// result does not contain the key, so it cannot be unmarshaled.
func (s Secret) MarshalText() ([]byte, error) { return []byte(s.String()), nil }

// ParseSecret returns the [Secret] with a key and a hash function, the fields secret
// and hash_function of a webhook. The default hash function is SHA256, and letter
// case is ignored. ParseSecret returns an error if [NewVerifier] rejects the secret,
// or if the key begins or ends with white space. A file or an environment variable
// often adds a line break, which makes every signature invalid. The error does not
// contain the key.
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

// Verifier verifies signatures of deliveries. It is immutable and safe for
// concurrent use. The zero Verifier has no secret and rejects every delivery.
type Verifier struct {
	keys []*key
}

// NewVerifier returns a Verifier that accepts a signature by any of the secrets. Pass
// several during a secret rotation, or if several webhooks use one URL. It returns an
// error if there is no secret, if a key is empty or blank, or if a hash function is
// not SHA256 or SHA512. In FIPS 140-only mode (GODEBUG=fips140=only) it also returns
// an error if a key is shorter than 14 bytes.
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

// Verify returns nil if signature is the signature of body, and otherwise
// [ErrMissingSignature] or [ErrInvalidSignature]. body must be the received bytes,
// not decoded and encoded again. The signature must be the HMAC in standard, padded
// base64 (specification, "Authentication"). Verify rejects any other encoding of the
// same HMAC.
//
// The duration of Verify depends on the length of the body, on the length of the
// signature and on which secret matches, not on the content of a wrong signature.
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
