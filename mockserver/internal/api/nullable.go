package api

import (
	"bytes"
	"encoding/json"
)

// Nullable is a string field that a partial update can omit or set to null. The
// zero value represents an omitted field.
type Nullable struct {
	// Set means that the field is not omitted.
	Set bool
	// Value is the string, or "" for null.
	Value string
}

// IsZero reports whether the field is omitted; encoding/json calls it.
func (n Nullable) IsZero() bool { return !n.Set }

// MarshalJSON implements [json.Marshaler].
func (n Nullable) MarshalJSON() ([]byte, error) {
	if n.Value == "" {
		return []byte("null"), nil
	}
	return json.Marshal(n.Value)
}

// UnmarshalJSON implements [json.Unmarshaler].
func (n *Nullable) UnmarshalJSON(b []byte) error {
	*n = Nullable{Set: true}
	if bytes.Equal(b, []byte("null")) {
		return nil
	}
	return json.Unmarshal(b, &n.Value)
}
