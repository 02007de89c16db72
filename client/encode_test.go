package client

import (
	"errors"
	"io"
	"net/http"
	"strings"
	"testing"

	"example.com/emailplatform/internal/json/jsonwrite"
)

// TestInvalidRequestBodies: an invalid body is not sent, and the error names the field.
func TestInvalidRequestBodies(t *testing.T) {
	const latin1 = "M\xfcller"
	c := newTestClient(t, func(http.ResponseWriter, *http.Request) { t.Error("it was sent") })
	ctx := t.Context()
	for want, send := range map[string]func() error{
		"contacts.1.custom_attributes.0.value: is not UTF-8": func() error {
			_, err := c.Contacts.ImportBatch(ctx, 1, ImportBatch{Contacts: []ImportContact{
				{Email: "a@example.org"},
				{Email: "b@example.org", CustomAttributes: Attributes{{Name: "name", Value: latin1}}},
			}})
			return err
		},
		"contacts: is missing": func() error {
			_, err := c.Contacts.ImportBatch(ctx, 1, ImportBatch{})
			return err
		},
		"tags: is missing": func() error { return c.Contacts.Tag(ctx, 1, ContactTagging{ContactIDs: []int64{1}}) },
		"events: is missing": func() error {
			_, err := c.Webhooks.Create(ctx, WebhookCreate{URL: "https://example.org"})
			return err
		},
		"custom_attributes.1.value: is missing": func() error {
			_, err := c.Contacts.Update(ctx, 1, 1, ContactUpdate{CustomAttributes: []CustomAttributeUpdate{{"a", Null[string]()}, {Name: "b"}}})
			return err
		},
		"content.text: is not UTF-8": func() error {
			_, err := c.Templates.Update(ctx, 1, TemplateUpdate{Content: &TemplateContentUpdate{Text: Value(latin1)}})
			return err
		},
		"custom_attributes.name: is not UTF-8": func() error {
			_, err := c.Emails.Send(ctx, EmailSubmission{To: "a@example.org", CustomAttributes: Attributes{{Name: "name", Value: latin1}}})
			return err
		},
		"custom_attributes.a: is a duplicate": func() error {
			attributes := Attributes{{Name: "a", Value: "1"}, {Name: "b"}, {Name: "a", Value: "2"}}
			_, err := c.Emails.Send(ctx, EmailSubmission{To: "a@example.org", CustomAttributes: attributes})
			return err
		},
		"email: is not UTF-8": func() error {
			_, err := c.SuppressedEmails.Add(ctx, latin1)
			return err
		},
		"custom_attributes.M\ufffdller: is not UTF-8": func() error {
			_, err := c.Emails.Send(ctx, EmailSubmission{To: "a@example.org", CustomAttributes: Attributes{{Name: latin1, Value: "name"}}})
			return err
		},
		"contacts.0.tags.1: is not UTF-8": func() error {
			_, err := c.Contacts.ImportBatch(ctx, 1, ImportBatch{Contacts: []ImportContact{{Email: "a@x", Tags: []string{"\ufffd", latin1}}}})
			return err
		},
		"email_id: is not UTF-8": func() error {
			_, err := c.Emails.Get(ctx, latin1)
			return err
		},
		"filter: is not UTF-8": func() error {
			_, err := c.Contacts.List(ctx, 1, ListContactsParams{Filter: "email:" + latin1})
			return err
		},
	} {
		err := send()
		var e *Error
		if !errors.As(err, &e) || !errors.Is(err, ErrValidation) || e.Attempts != 0 || !strings.HasSuffix(err.Error(), ": "+want) {
			t.Errorf("got %v, want %s", err, want)
		}
	}
}

// TestReplacementCharacterIsSent: valid text that resembles replaced or null text is sent unchanged.
func TestReplacementCharacterIsSent(t *testing.T) {
	const text = "\ufffd, \\ufffd and \":null"
	sent := ""
	c := newTestClient(t, func(w http.ResponseWriter, r *http.Request) {
		b, _ := io.ReadAll(r.Body)
		sent = string(b)
		respondWith(http.StatusOK, "application/json", `{"template_id":1}`)(w, r)
	})
	update := TemplateUpdate{Name: new(text), Content: &TemplateContentUpdate{Text: Null[string]()}}
	must(t)(c.Templates.Update(t.Context(), 1, update))
	if want := `{"content":{"text":null},"name":"` + "\ufffd" + `, \\ufffd and \":null"}`; strings.TrimSpace(sent) != want {
		t.Errorf("sent %s, want %s", sent, want)
	}
}

func TestAttributes(t *testing.T) {
	attributes := Attributes{{Name: "z\"", Value: "<é>"}, {Name: "a", Value: ""}}
	email := EmailSubmission{CustomAttributes: attributes}
	var w jsonwrite.Writer
	email.write(&w)
	if want := `{"email":"","content":{"subject":""},"custom_attributes":{"z\"":"<é>","a":""},"sender":{"email":""}}`; string(w.Bytes) != want || w.Err() != nil {
		t.Errorf("got  %s, %v\nwant %s", w.Bytes, w.Err(), want)
	}
	if attributes.Get(`z"`) != "<é>" || attributes.Get("a") != "" || attributes.Get("b") != "" {
		t.Error(attributes)
	}
}
