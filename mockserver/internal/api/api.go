// Package api is the server side of the platform's API, generated from
// openapi.yaml: models, the interface that handlers implement, and routes.
package api

import (
	"bytes"
	"encoding/json"
)

// Nullable is a string field that a partial update can omit or set to null. The
// zero value represents an omitted field.
type Nullable struct {
	// Set reports whether the field is present.
	Set bool
	// Value is the string, or "" for null.
	Value string
}

// UnmarshalJSON implements [json.Unmarshaler].
func (n *Nullable) UnmarshalJSON(b []byte) error {
	*n = Nullable{Set: true}
	if bytes.Equal(b, []byte("null")) {
		return nil
	}
	return json.Unmarshal(b, &n.Value)
}

// The sizes of a page (specification, "Limits").
const (
	DefaultPerPage = 50
	MaxPerPage     = 100
)

// MaxImport is the maximum number of contacts in an import (specification, "Limits").
// The code generator creates no constant for maxItems, so MaxImport must equal maxItems
// in the OpenAPI document.
const MaxImport = 1000
