package client

import (
	"bytes"
	"encoding/json"
	"errors"
)

// Nullable is a field of a partial update that can be omitted, null or a value. The
// zero Nullable is omitted.
type Nullable[T any] struct {
	value T
	state nullableState
}

type nullableState uint8

const (
	leftOut nullableState = iota
	null
	given
)

// Value returns a Nullable with the value v.
func Value[T any](v T) Nullable[T] { return Nullable[T]{value: v, state: given} }

// Null returns a Nullable that is null, which removes the old value.
func Null[T any]() Nullable[T] { return Nullable[T]{state: null} }

// IsZero reports whether n is omitted.
func (n Nullable[T]) IsZero() bool { return n.state == leftOut }

// Get returns the value, and reports whether there is a value.
func (n Nullable[T]) Get() (T, bool) { return n.value, n.state == given }

// MarshalJSON implements [json.Marshaler]. It returns an error for an omitted
// Nullable. Encoders omit such a field if it has the option omitzero.
func (n Nullable[T]) MarshalJSON() ([]byte, error) {
	switch n.state {
	case given:
		var b bytes.Buffer
		enc := json.NewEncoder(&b)
		enc.SetEscapeHTML(false) // the calling encoder decides about HTML escaping
		err := enc.Encode(n.value)
		return bytes.TrimSpace(b.Bytes()), err
	case null:
		return []byte("null"), nil
	default:
		return nil, errors.New("neither a value nor null is set")
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
