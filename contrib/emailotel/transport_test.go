package emailotel_test

import (
	"context"
	"errors"
	"net/http"
	"net/http/httptest"
	"net/url"
	"strings"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"example.com/emailplatform/client"
	"example.com/emailplatform/contrib/emailotel"
	"example.com/emailplatform/events"
	"example.com/emailplatform/webhook"
)

// TestNoPersonalData: no attribute contains an address, a token or a secret, whatever fails.
func TestNoPersonalData(t *testing.T) {
	srv := startServer(t)
	r, ctx := record(t), t.Context()
	c := r.client(srv, nil)
	_, _ = c.SuppressedEmails.Add(ctx, address)
	_ = c.SuppressedEmails.Remove(ctx, address)
	_ = c.SuppressedEmails.Remove(ctx, address) // 404
	list, err := c.Lists.Create(ctx, client.ListCreate{Name: address})
	require.NoError(t, err)
	_, _ = c.Contacts.Create(ctx, list.ID, client.ContactCreate{Email: address})
	_, _ = c.Contacts.Create(ctx, list.ID, client.ContactCreate{Email: address}) // 409
	_, _ = c.Contacts.List(ctx, list.ID, client.ListContactsParams{Filter: "email:" + address})
	_, _ = c.Emails.Get(ctx, address)
	r.receive(func(context.Context, *events.Event) error { return errors.New(address) }, opened)
	r.receive(succeed, opened, func(req *http.Request) {
		req.Header.Set(webhook.DefaultSignatureHeader, secret)
	})
	text := strings.ToLower(r.everything())
	for _, f := range []string{"ada@", "ada%40", srv.Token(), secret} {
		if i := strings.Index(text, f); i >= 0 {
			t.Errorf("%q is recorded: …%s…", f, text[max(0, i-100):min(len(text), i+100)])
		}
	}
	if !strings.Contains(text, "/suppressed-emails/redacted") || !strings.Contains(text, "filter=redacted") {
		t.Error("the paths are missing")
	}
}

// seen records the URL that an instrument gets.
type seen struct {
	next http.RoundTripper
	url  *string
}

func (s seen) RoundTrip(r *http.Request) (*http.Response, error) {
	*s.url = r.URL.String()
	return s.next.RoundTrip(r)
}

func TestTransportRedactsURL(t *testing.T) {
	var asked string
	srv := httptest.NewServer(http.HandlerFunc(func(_ http.ResponseWriter, r *http.Request) { asked = r.URL.String() }))
	defer srv.Close()
	for _, tt := range []struct{ url, want string }{
		{"/lists/7/contacts?page=2&per_page=100&sort=email:asc&with_count=true", "/lists/7/contacts?page=2&per_page=100&sort=email%3Aasc&with_count=true"},
		{"/lists/7/contacts?filter=email:ada@example.org", "/lists/7/contacts?filter=REDACTED"},
		{"/lists/7/contacts?x=1&x=2", "/lists/7/contacts?x=REDACTED&x=REDACTED"},
		{"/suppressed-emails/ada@example.org", "/suppressed-emails/REDACTED"},
		{"/suppressed-emails/ada%40example.org", "/suppressed-emails/REDACTED"},
		{"/suppressed-emails/ada", "/suppressed-emails/REDACTED"},
		{"/suppressed-emails/a%2Fb", "/suppressed-emails/REDACTED"},
		{"/suppressed-emails", "/suppressed-emails"},
		{"/suppressed-emails?page=1", "/suppressed-emails?page=1"},
		{"/v2/emails/ada%40example.org", "/v2/emails/REDACTED"},
		{"/v2/emails/0b0c?a=%zz", "/v2/emails/0b0c"},
		{"/v2/emails/a%2Fb", "/v2/emails/a%2Fb"},
		{"/", "/"},
	} {
		t.Run(tt.url, func(t *testing.T) {
			var saw, sent string
			rt := emailotel.Transport(seen{http.DefaultTransport, &sent}, func(next http.RoundTripper) http.RoundTripper {
				return seen{next, &saw}
			})
			req, err := http.NewRequestWithContext(t.Context(), http.MethodGet, srv.URL+tt.url, http.NoBody)
			require.NoError(t, err)
			req.URL.User, req.URL.Fragment = url.UserPassword("user", secret), secret
			original := req.URL.String()
			resp, err := rt.RoundTrip(req)
			require.NoError(t, err)
			_ = resp.Body.Close()
			assert.Equal(t, srv.URL+tt.want, saw, "seen")
			if asked != tt.url || sent != original || req.URL.String() != original || resp.Request != req {
				t.Errorf("requested %s with %s and %s, response to %s", asked, sent, req.URL, resp.Request.URL)
			}
		})
	}
}
