package client

import (
	"bytes"
	"errors"
	"fmt"
	"log/slog"
	"strings"

	"example.com/emailplatform/internal/jsonscan"
)

const redacted = "[redacted]"

// Secret is a text that shows itself to nobody: it prints, logs and encodes to
// JSON as "[redacted]". Convert it to a string to use it.
type Secret string

// Format implements [fmt.Formatter].
func (Secret) Format(f fmt.State, _ rune) { _, _ = fmt.Fprint(f, redacted) }

// LogValue implements [slog.LogValuer].
func (Secret) LogValue() slog.Value { return slog.StringValue(redacted) }

// MarshalText implements [encoding.TextMarshaler].
func (Secret) MarshalText() ([]byte, error) { return []byte(redacted), nil }

// UnmarshalText implements [encoding.TextUnmarshaler].
func (s *Secret) UnmarshalText(b []byte) error {
	*s = Secret(b)
	return nil
}

func readSecret(c *jsonscan.Cursor) Secret { return Secret(c.String()) }

// redact returns s without token.
func redact(s, token string) string {
	if token == "" {
		return s
	}
	return strings.ReplaceAll(s, token, redacted)
}

// redactBytes returns b without token.
func redactBytes(b []byte, token string) []byte {
	if token == "" {
		return b
	}
	return bytes.ReplaceAll(b, []byte(token), []byte(redacted))
}

// redactError returns err, or an error that shows err without token.
func redactError(err error, token string) error {
	if err == nil || token == "" || !strings.Contains(err.Error(), token) {
		return err
	}
	return &redactedError{text: redact(err.Error(), token), err: err}
}

// redactedError stands for an error whose text held a token.
type redactedError struct {
	text string
	err  error
}

func (e *redactedError) Error() string { return e.text }

// Is reports whether the hidden error is target. There is no Unwrap: what
// could be unwrapped could be printed.
func (e *redactedError) Is(target error) bool { return errors.Is(e.err, target) }

// Format implements [fmt.Formatter].
func (e *redactedError) Format(f fmt.State, _ rune) { _, _ = fmt.Fprint(f, e.text) }
