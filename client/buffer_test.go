package client

import (
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"reflect"
	"testing"

	"example.com/emailplatform/internal/json/jsonscan"
)

// TestBufferReuse overwrites the buffer of each response after decoding, as the next response does. No result shares
// memory with the buffer.
func TestBufferReuse(t *testing.T) {
	for _, a := range knownResponses() {
		x := exchange(func(_ context.Context, c *call) error {
			buffer := []byte(a.body)
			defer func() { copy(buffer, bytes.Repeat([]byte("x"), len(buffer))) }()
			return c.decode(buffer)
		})
		c := &Client{
			Templates: &Templates{x}, Lists: &Lists{x}, Contacts: &Contacts{x}, Tags: &Tags{x}, Emails: &Emails{x},
			Campaigns: &Campaigns{x}, Workflows: &Workflows{x}, SuppressedEmails: &SuppressedEmails{x}, Webhooks: &Webhooks{x},
		}
		if got, err := a.call(t.Context(), c); err != nil || !reflect.DeepEqual(got, a.want) {
			t.Errorf("%s: got %+v, %v, want %+v", a.op, got, err, a.want)
		}
	}
}

// FuzzFieldOrder: the readers of list elements expect the fields in the order of openapi.yaml and without white space,
// but they read every other JSON text in the same way.
func FuzzFieldOrder(f *testing.F) {
	for _, item := range []string{
		`{"id":1,"email":"a","status":"active","subscribed_on":7,"custom_attributes":[{"name":"n","value":"v"}],"tags":["t"],"interests":[],"last_bounce_type":"none","bounces_count":0}`,
		`{"email":"a","id":1,"custom_attributes":[{"value":"v","name":"n"}],"tags":["t"],"status":"active"}`,
		`{"id":1,"email":"a","id":2,"email":null,"tags":null}`,
		`{"email":"outer","data":{"id":1,"email":null,"status":"active"}}`,
		`{"id":1,"email":7,"status":{"email":"inner"}}`,
		`{"webhook_id":1,"url":"u","events":["e"],"rate_limit":1}`,
		`{"template_id":1,"name":"n","content":{},"created_on":1,"updated_on":null}`,
	} {
		f.Add(item)
		f.Add(`{"data":[` + item + `,` + item + `],"pagination":{"page":1}}`)
	}
	f.Fuzz(func(t *testing.T, text string) {
		var spaced bytes.Buffer // no name in it follows a comma immediately
		if len(text) > 2000 || json.Indent(&spaced, []byte(text), "", " ") != nil {
			return // an array of empty elements is limited by the length of the text
		}
		var dense bytes.Buffer
		if err := json.Compact(&dense, []byte(text)); err != nil {
			t.Fatal(err)
		}
		sameDecoded(t, dense, spaced, readContact)
		sameDecoded(t, dense, spaced, readContactPage)
		sameDecoded(t, dense, spaced, readWebhookPage)
		sameDecoded(t, dense, spaced, readTemplatePage)
		sameDecoded(t, dense, spaced, readCampaign)
	})
}

// sameDecoded fails if two texts differ in what they are decoded to, or in the path and kind of the error.
func sameDecoded[T any](t *testing.T, dense, spaced bytes.Buffer, read func(*jsonscan.Cursor) T) {
	t.Helper()
	got, gotErr := decode(dense.Bytes(), read)
	want, wantErr := decode(spaced.Bytes(), read)
	if !reflect.DeepEqual(got, want) || withoutOffset(gotErr) != withoutOffset(wantErr) {
		t.Errorf("%s: got %+v, %v, want %+v, %v", dense.Bytes(), got, gotErr, want, wantErr)
	}
}

func withoutOffset(err error) (e jsonscan.Error) {
	if p := new(jsonscan.Error); errors.As(err, &p) {
		e = *p
		e.Offset = 0
	}
	return e
}
