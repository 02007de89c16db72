package emailotel_test

import (
	"context"
	"errors"
	"net/http"
	"net/http/httptest"
	"strings"
	"testing"

	"example.com/emailplatform/client"
	"example.com/emailplatform/contrib/emailotel"
	"example.com/emailplatform/events"
	"example.com/emailplatform/webhook"
)

// TestNoPersonalData: no attribute contains an address, a token or a secret, whatever fails.
func TestNoPersonalData(t *testing.T) {
	srv := startServer(t)
	tell := func(r *recorder, c *client.Client) string {
		ctx := t.Context()
		_, _ = c.SuppressedEmails.Add(ctx, address)
		_ = c.SuppressedEmails.Remove(ctx, address)
		_ = c.SuppressedEmails.Remove(ctx, address) // 404
		list, err := c.Lists.Create(ctx, client.ListCreate{Name: address})
		fatal(t, err)
		_, _ = c.Contacts.Create(ctx, list.ID, client.ContactCreate{Email: address})
		_, _ = c.Contacts.Create(ctx, list.ID, client.ContactCreate{Email: address}) // 409
		_, _ = c.Contacts.List(ctx, list.ID, client.ListContactsParams{Filter: "email:" + address})
		_, _ = c.Emails.Get(ctx, address)
		r.receive(func(context.Context, *events.Event) error { return errors.New(address) }, opened)
		r.receive(succeed, opened, func(req *http.Request) {
			req.Header.Set(webhook.DefaultSignatureHeader, secret)
		})
		return strings.ToLower(r.everything())
	}
	forbidden := []string{"ada@", "ada%40", srv.Token(), secret}

	r := record(t)
	text := tell(r, r.client(srv, nil))
	for _, f := range forbidden {
		if i := strings.Index(text, f); i >= 0 {
			t.Errorf("%q is recorded: …%s…", f, text[max(0, i-100):min(len(text), i+100)])
		}
	}
	if !strings.Contains(text, "/suppressed-emails/redacted") || !strings.Contains(text, "filter=redacted") {
		t.Error("the paths are missing")
	}

	// Without Transport, otelhttp records the address.
	r = record(t)
	naked, err := client.New(client.Config{
		BaseURL: srv.URL(), Token: srv.Token(), Observe: r.ObserveCall, LookupLimiter: client.NoLookupLimit{},
		HTTPClient: &http.Client{Transport: r.wire(http.DefaultTransport)},
	})
	fatal(t, err)
	if text := tell(r, naked); !strings.Contains(text, "ada@") {
		t.Error("otelhttp writes no addresses any more: Transport is of no use")
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
			var saw string
			rt := emailotel.Transport(nil, func(next http.RoundTripper) http.RoundTripper { return seen{next, &saw} })
			req, err := http.NewRequestWithContext(t.Context(), http.MethodGet, srv.URL+tt.url, http.NoBody)
			fatal(t, err)
			resp, err := rt.RoundTrip(req)
			fatal(t, err)
			_ = resp.Body.Close()
			if saw != srv.URL+tt.want {
				t.Errorf("seen %s, want %s", saw, srv.URL+tt.want)
			}
			if asked != tt.url || req.URL.String() != srv.URL+tt.url || resp.Request != req {
				t.Errorf("requested %s with %s, response to %s", asked, req.URL, resp.Request.URL)
			}
		})
	}
}

func TestTransportRemovesCredentials(t *testing.T) {
	var saw string
	base := seen{http.DefaultTransport, new(string)}
	rt := emailotel.Transport(base, func(next http.RoundTripper) http.RoundTripper { return seen{next, &saw} })
	srv := httptest.NewServer(http.NotFoundHandler())
	defer srv.Close()
	req, err := http.NewRequestWithContext(t.Context(), http.MethodGet, strings.Replace(srv.URL, "//", "//user:"+secret+"@", 1)+"/x#"+secret, http.NoBody)
	fatal(t, err)
	resp, err := rt.RoundTrip(req)
	fatal(t, err)
	_ = resp.Body.Close()
	if saw != srv.URL+"/x" || !strings.Contains(*base.url, secret) {
		t.Errorf("seen %s, sent %s", saw, *base.url)
	}
}
