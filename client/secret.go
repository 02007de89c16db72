package client

import (
	"errors"
	"fmt"
	"log/slog"
	"unique"

	"example.com/emailplatform/internal/json/jsonscan"
)

const redacted = "[redacted]"

// Secret is a string whose value only [Secret.Reveal] returns, so a program cannot print
// it by accident. Printed text, logs and JSON contain "[redacted]" instead, even if the
// Secret is the key of a map. There is one exception: for a Secret in an unexported
// field of a struct, package fmt prints a memory address. The == operator compares the
// contents of two Secrets. The zero Secret is the empty string.
type Secret struct {
	text unique.Handle[string] // package fmt prints a pointer as an address if it does not call methods
}

// NewSecret returns a Secret with the given text.
func NewSecret(text string) Secret {
	if text == "" {
		return Secret{}
	}
	return Secret{unique.Make(text)}
}

// Reveal returns the text.
func (s Secret) Reveal() string {
	if s == (Secret{}) {
		return ""
	}
	return s.text.Value()
}

// String implements [fmt.Stringer].
func (Secret) String() string { return redacted }

// Format implements [fmt.Formatter].
func (Secret) Format(f fmt.State, _ rune) { _, _ = fmt.Fprint(f, redacted) }

// LogValue implements [slog.LogValuer].
func (Secret) LogValue() slog.Value { return slog.StringValue(redacted) }

// MarshalText implements [encoding.TextMarshaler].
func (Secret) MarshalText() ([]byte, error) { return []byte(redacted), nil }

// UnmarshalText implements [encoding.TextUnmarshaler]. It returns an error for the
// placeholder "[redacted]". MarshalText writes this placeholder instead of the value,
// so the value is lost.
func (s *Secret) UnmarshalText(b []byte) error {
	if string(b) == redacted {
		return errors.New("the secret is a placeholder, because secrets are redacted when they are encoded")
	}
	*s = NewSecret(string(b))
	return nil
}

func readSecret(c *jsonscan.Cursor) Secret { return NewSecret(c.String()) }
