package client

import (
	"bytes"
	"encoding/json"
	"errors"
)

// Nullable is a member of a partial update that can be left out, set to null,
// or set to a value. The zero Nullable is left out.
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

// Value returns a Nullable that sets v.
func Value[T any](v T) Nullable[T] { return Nullable[T]{value: v, state: given} }

// Null returns a Nullable that sets null, which removes what was there.
func Null[T any]() Nullable[T] { return Nullable[T]{state: null} }

// IsZero reports whether n is left out.
func (n Nullable[T]) IsZero() bool { return n.state == leftOut }

// Get returns the value, and whether there is one.
func (n Nullable[T]) Get() (T, bool) { return n.value, n.state == given }

// MarshalJSON implements [json.Marshaler]. A member that may not be left out
// must have been given a value or null.
func (n Nullable[T]) MarshalJSON() ([]byte, error) {
	switch n.state {
	case given:
		var b bytes.Buffer
		enc := json.NewEncoder(&b)
		enc.SetEscapeHTML(false) // that is for the encoder to say that asks
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

// Ptr returns a pointer to v, for the members of a partial update: a nil
// pointer leaves a member as it is.
//
//go:fix inline
func Ptr[T any](v T) *T { return new(v) }
