package client

import (
	"slices"

	"example.com/emailplatform/internal/json/jsonwrite"
)

// Attributes are the custom attributes of a contact or an email.
type Attributes []CustomAttribute

// Get returns the value of the attribute with the name, or "" if no attribute
// has the name.
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
			w.Refuse("is a duplicate")
		}
		w.String(a.Value)
	}
	w.Close('}')
}
