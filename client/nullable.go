package client

import (
	"bytes"
	"encoding/json"
	"errors"

	"example.com/emailplatform/internal/json/jsonwrite"
)

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

// MarshalJSON implements [json.Marshaler]. It returns an error if n is omitted, because no JSON value
// represents an omitted field. If the field has the option omitzero, encoders skip an omitted Nullable and
// do not call MarshalJSON.
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
