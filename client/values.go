package client

import (
	"bytes"
	"encoding/json"
	"errors"
	"slices"
	"strings"
	"time"

	"example.com/emailplatform/internal/json/jsonscan"
	"example.com/emailplatform/internal/json/jsonwrite"
)

// readAnyID reads an id that may be encoded as a string or a number.
func readAnyID(c *jsonscan.Cursor) string {
	if b := c.Peek(); b == '-' || '0' <= b && b <= '9' {
		return strings.Clone(c.Number())
	}
	return c.String()
}

// The Unix times of the years 0 to 9999. Package time cannot encode other years as JSON.
const minUnix, maxUnix = -62_167_219_200, 253_402_300_799

// readTime reads Unix seconds. For null, 0 and a year that JSON cannot represent, it
// returns the zero time.
func readTime(c *jsonscan.Cursor) time.Time {
	n := c.Int()
	if n == 0 || n < minUnix || n > maxUnix {
		return time.Time{}
	}
	return time.Unix(n, 0).UTC()
}

// Attributes are the custom attributes of a contact or an email.
type Attributes []CustomAttribute

// Get returns the value of the attribute with the given name, or "" if there
// is none.
func (a Attributes) Get(name string) string {
	for _, attribute := range a {
		if attribute.Name == name {
			return attribute.Value
		}
	}
	return ""
}

// writeAttributes writes an object. A duplicate name is an error.
func writeAttributes(w *jsonwrite.Writer, attributes Attributes) {
	w.Open('{')
	for i, a := range attributes {
		w.Key(a.Name)
		if slices.ContainsFunc(attributes[:i], func(other CustomAttribute) bool { return other.Name == a.Name }) {
			w.Fail("is a duplicate")
		}
		w.String(a.Value)
	}
	w.Close('}')
}

// Nullable is a field of a partial update. The field can be omitted, set to null or
// set to a value. The zero Nullable is omitted.
type Nullable[T any] struct {
	value T
	state nullableState
}

type nullableState uint8

const (
	omitted nullableState = iota
	null
	given
)

// Value returns a Nullable with the value v.
func Value[T any](v T) Nullable[T] { return Nullable[T]{value: v, state: given} }

// Null returns a Nullable that is null, so the update removes the old value.
func Null[T any]() Nullable[T] { return Nullable[T]{state: null} }

// IsZero reports whether n is omitted.
func (n Nullable[T]) IsZero() bool { return n.state == omitted }

// Get returns the value, and reports whether n contains a value.
func (n Nullable[T]) Get() (T, bool) { return n.value, n.state == given }

// MarshalJSON implements [json.Marshaler]. MarshalJSON returns an error if n is
// omitted. Encoders skip an omitted Nullable if its field has the omitzero
// option.
func (n Nullable[T]) MarshalJSON() ([]byte, error) {
	switch n.state {
	case given:
		var b bytes.Buffer
		enc := json.NewEncoder(&b)
		enc.SetEscapeHTML(false) // the calling encoder decides whether to escape HTML
		err := enc.Encode(n.value)
		return bytes.TrimSpace(b.Bytes()), err
	case null:
		return []byte("null"), nil
	default:
		return nil, errors.New("the Nullable must contain a value or null")
	}
}

// UnmarshalJSON implements [json.Unmarshaler].
func (n *Nullable[T]) UnmarshalJSON(b []byte) error {
	if string(b) == "null" {
		*n = Null[T]()
		return nil
	}
	n.state = given
	return json.Unmarshal(b, &n.value)
}

func writeNullable(w *jsonwrite.Writer, n Nullable[string]) {
	switch n.state {
	case given:
		w.String(n.value)
	case null:
		w.Null()
	default:
		w.Missing()
	}
}
