package client

import (
	"context"
	"net/http"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"example.com/emailplatform/internal/json/jsonwrite"
)

// TestInvalidRequestBodies: an invalid body is not sent, and the error names the first invalid field.
func TestInvalidRequestBodies(t *testing.T) {
	const latin1 = "M\xfcller"
	attributes := func(name, value string) *EmailSubmission {
		return &EmailSubmission{CustomAttributes: Attributes{{Name: "a"}, {Name: name, Value: value}}}
	}
	for want, b := range map[string]body{
		"name: must be valid UTF-8":                          &ListCreate{Name: latin1},
		"content.text: must be valid UTF-8":                  &TemplateUpdate{Content: &TemplateContentUpdate{Text: Value(latin1)}},
		"custom_attributes.b: must be valid UTF-8":           attributes("b", latin1),
		"custom_attributes.M\ufffdller: must be valid UTF-8": attributes(latin1, ""),
		"custom_attributes.a: is a duplicate":                attributes("a", ""),
		"custom_attributes.0.value: is missing":              &ContactUpdate{CustomAttributes: []CustomAttributeUpdate{{Name: "a"}}},
		"contacts: is missing":                               &ImportBatch{},
		"contacts.1.tags.0: must be valid UTF-8":             &ImportBatch{Contacts: []ImportContact{{}, {Tags: []string{latin1}}}},
		"contact_ids: is missing":                            &ContactTagging{Tags: []string{latin1}},
		"tags: is missing":                                   &ContactTagging{ContactIDs: []int64{1}},
		"events: is missing":                                 &WebhookCreate{},
	} {
		var w jsonwrite.Writer
		b.write(&w)
		assert.EqualError(t, w.Err(), want)
	}
	c := newTestClient(t, func(http.ResponseWriter, *http.Request) { t.Error("the body was sent") })
	_, err := c.Lists.Create(t.Context(), ListCreate{Name: latin1})
	var e *Error
	require.ErrorAs(t, err, &e)
	assert.ErrorIs(t, err, ErrValidation)
	assert.Zero(t, e.Attempts)
}

func TestPayloadReleasedWithoutRequest(t *testing.T) {
	ctx, cancel := context.WithCancel(t.Context())
	cancel()
	c := &call{request: request{op: "createList", body: &ListCreate{Name: "Customers"}}}
	err := withEncodedBody(func(context.Context, *call) error { t.Error("a request with a canceled context was sent"); return nil }, newEncoder())(ctx, c)
	assert.ErrorIs(t, err, context.Canceled)
	assert.Nil(t, c.payload.writer)
}
