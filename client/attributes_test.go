package client

import (
	"testing"

	"github.com/stretchr/testify/assert"

	"example.com/emailplatform/internal/json/jsonwrite"
)

func TestAttributes(t *testing.T) {
	attributes := Attributes{{Name: "z\"", Value: "<é>"}, {Name: "a", Value: ""}}
	email := EmailSubmission{CustomAttributes: attributes}
	var w jsonwrite.Writer
	email.write(&w)
	want := `{"email":"","content":{"subject":""},"custom_attributes":{"z\"":"<é>","a":""},"sender":{"email":""}}`
	assert.Equal(t, want, string(w.Bytes))
	assert.NoError(t, w.Err())
	assert.Equal(t, "<é>", attributes.Get(`z"`))
	assert.Empty(t, attributes.Get("a"))
	assert.Empty(t, attributes.Get("b"))
}

// TestAttributeForms: attributes can be an array or an object, and their values can be numbers or booleans.
func TestAttributeForms(t *testing.T) {
	for attributes, want := range map[string]Attributes{
		`[{"name":"age","value":42},{"value":1.50,"name":"sum"},{"name":"vip","value":true},{"name":"none","value":null}]`: {{"age", "42"}, {"sum", "1.50"}, {"vip", "true"}, {"none", ""}},
		`{"age":42,"na\u006de":"Ann", "vip": false ,"none":null}`:                                                          {{"age", "42"}, {"name", "Ann"}, {"vip", "false"}, {"none", ""}},
		`{"lost":{"a":1},"kept":"v","list":[1]}`:                                                                           {{"kept", "v"}}, `{"a":"1","b":2,"a":"3"}`: {{"a", "3"}, {"b", "2"}}, `{}`: {}, `[]`: {}, `null`: nil,
	} {
		c := newBubbleClient(t, inOrder(respond(200, `{"id":7,"custom_attributes":`+attributes+`,"tags":["t"]}`)))
		contact, err := c.Contacts.Get(t.Context(), 1, 7)
		assert.NoError(t, err)
		assert.Equal(t, want, contact.CustomAttributes, attributes)
		assert.Equal(t, []string{"t"}, contact.Tags, attributes)
	}
}
