package client

import (
	"slices"

	"example.com/emailplatform/internal/json/jsonwrite"
)

// Attributes are the custom attributes of a contact or an email.
type Attributes []CustomAttribute

// Get returns the value of the attribute with a name, or "" if there is none.
func (a Attributes) Get(name string) string {
	for _, attribute := range a {
		if attribute.Name == name {
			return attribute.Value
		}
	}
	return ""
}

// writeAttributes writes an object. A name that occurs again is an error.
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
