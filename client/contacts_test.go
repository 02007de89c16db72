package client

import (
	"net/http"
	"net/url"
	"testing"

	"github.com/stretchr/testify/assert"
)

// TestRefusedResubscribe: if the platform does not know the parameter, Create adds only an address that the list does not
// contain.
func TestRefusedResubscribe(t *testing.T) {
	refused := func(q url.Values) string {
		if q.Has("resubscribe") {
			return "resubscribe"
		}
		return ""
	}
	for _, status := range []int{400, 422} {
		c, queries := refusing(t, status, true, refused, `{"data":[{"id":1,"email":"old@x","status":"unsubscribed"}]}`)
		got, err := c.Contacts.Create(t.Context(), 1, ContactCreate{Email: "new@x"})
		assert.EqualValues(t, 7, got.ID)
		assert.NoError(t, err)
		*queries = nil
		got, err = c.Contacts.Create(t.Context(), 1, ContactCreate{Email: "Old@x"})
		assert.Zero(t, got.ID, "requests %v", *queries)
		assert.ErrorIs(t, err, ErrContactExists)
		assert.NotErrorIs(t, err, ErrOutcomeUnknown)
	}
}

// TestRefusedConsent: Create sends one request if the error can be about the consent of the contact.
func TestRefusedConsent(t *testing.T) {
	for body, status := range map[string]int{
		`{"detail":[{"loc":["body","email"],"msg":"contact unsubscribed; resubscribe not allowed"}]}`:                            422,
		`{"detail":[{"loc":["body","resubscribe"],"msg":"not allowed"}]}`:                                                        422,
		`{"detail":[{"loc":["resubscribe"],"msg":"not allowed"}]}`:                                                               400,
		`{"detail":[{"loc":["query","resubscribe"],"msg":"unknown"},{"loc":["body","email"],"msg":"contact has unsubscribed"}]}`: 422,
		`{"detail":"resubscribe"}`:               422,
		`{"message":"contact has unsubscribed"}`: 400,
		``:                                       422,
	} {
		var requests []string
		c := newBubbleClient(t, func(r *http.Request) (*http.Response, error) {
			requests = append(requests, r.Method+" "+r.URL.RawQuery)
			return respond(status, body), nil
		})
		_, err := c.Contacts.Create(t.Context(), 1, ContactCreate{Email: "a@x"})
		assert.ErrorIs(t, err, ErrValidation, body)
		assert.Equal(t, []string{"POST resubscribe=false"}, requests, body)
	}
}
