package webhook

import (
	"crypto/sha256"
	"crypto/sha512"
	"errors"
	"fmt"
	"hash"
	"log/slog"
	"strings"
	"unique"
)

// HashFunction is the name of the hash function for the HMAC, from the field
// hash_function of a webhook (specification, "Authentication"). A receiver must take it
// from its own configuration, never from a request, because an attacker could send
// another name.
type HashFunction string

// The supported hash functions. [ParseSecret] rejects all others.
const (
	SHA256 HashFunction = "sha256" // the platform's default
	SHA512 HashFunction = "sha512"
)

func (h HashFunction) function() func() hash.Hash {
	switch h {
	case SHA256:
		return sha256.New
	case SHA512:
		return sha512.New
	}
	return nil
}

const redacted = "[redacted]"

// Secret is the secret and the hash function of one webhook. [ParseSecret] returns it, and only
// [Secret.Reveal] returns its text, so a program cannot print it by accident. Printed text, logs
// and JSON contain "[redacted]". There is one exception: if a Secret is in an unexported field of a
// struct, package fmt prints a memory address. Two Secrets are equal (==) if they have the same
// text and the same hash function. The zero Secret is invalid.
type Secret struct {
	text unique.Handle[string] // package fmt prints a pointer as an address if it does not call methods
	hash HashFunction
}

// ParseSecret returns a [Secret]. The arguments are the fields secret and hash_function
// of a webhook. The letter case of hashFunction is ignored, and its default is SHA256.
//
// ParseSecret returns an error if the hash function is not SHA256 or SHA512, if the text
// is empty, or if the text begins or ends with white space. White space, such as the line break at the end of
// a file, would invalidate every signature. In FIPS 140-only mode (GODEBUG=fips140=only), the text must be at
// least 14 bytes long. The error does not contain the secret.
func ParseSecret(text, hashFunction string) (Secret, error) {
	if strings.TrimSpace(text) == "" {
		return Secret{}, errors.New("webhook: secret must not be empty")
	}
	if strings.TrimSpace(text) != text {
		return Secret{}, errors.New("webhook: secret must not begin or end with white space")
	}
	s := Secret{unique.Make(text), HashFunction(strings.ToLower(hashFunction))}
	if s.hash == "" {
		s.hash = SHA256
	}
	if s.hash.function() == nil {
		return Secret{}, fmt.Errorf("webhook: hash function must be %s or %s, got %q", SHA256, SHA512, hashFunction)
	}
	if _, err := newKey(s); err != nil {
		return Secret{}, fmt.Errorf("webhook: %w", err)
	}
	return s, nil
}

// Reveal returns the text of the secret.
func (s Secret) Reveal() string {
	if s == (Secret{}) {
		return ""
	}
	return s.text.Value()
}

// HashFunction returns the hash function of the secret.
func (s Secret) HashFunction() HashFunction { return s.hash }

// String implements [fmt.Stringer].
func (Secret) String() string { return redacted }

// Format implements [fmt.Formatter].
func (Secret) Format(f fmt.State, _ rune) { _, _ = fmt.Fprint(f, redacted) }

// LogValue implements [slog.LogValuer].
func (Secret) LogValue() slog.Value { return slog.StringValue(redacted) }

// MarshalText implements [encoding.TextMarshaler], which encoding/json uses. The
// result does not contain the secret, so it cannot be unmarshaled.
func (Secret) MarshalText() ([]byte, error) { return []byte(redacted), nil }
