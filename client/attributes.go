package client

import (
	"slices"

	"example.com/emailplatform/internal/json/jsonscan"
	"example.com/emailplatform/internal/json/jsonwrite"
)

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

// readAttributes reads attributes from an array. It also accepts an object, because some platforms return an
// object, as in the requests that send email.
func readAttributes(c *jsonscan.Cursor, read func(*jsonscan.Cursor) CustomAttribute) []CustomAttribute {
	return jsonscan.Named(c, read, func(name, value string) CustomAttribute { return CustomAttribute{Name: name, Value: value} })
}
