package client

import (
	"context"
	"errors"
	"io"
	"iter"
	"net/http"
	"slices"
	"strings"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
)

func TestRequest(t *testing.T) {
	var got *http.Request
	var body string
	c := newTestClient(t, func(w http.ResponseWriter, r *http.Request) {
		b, _ := io.ReadAll(r.Body)
		got, body = r, string(b)
		respondWith(201, "application/json", `{"template_id":7,"name":"n","unknown":{"x":[1]}}`)(w, r)
	}, func(cfg *Config) {
		cfg.BaseURL += "/mail/v9/"
		cfg.UserAgent = "shop/2.1"
	})
	tpl, err := c.Templates.Create(t.Context(), TemplateCreate{Name: "n", Content: TemplateContent{HTML: "<b>&</b>"}})
	require.NoError(t, err)
	require.EqualValues(t, 7, tpl.ID)
	require.Equal(t, "n", tpl.Name)
	assert.Equal(t, "POST", got.Method)
	assert.Equal(t, "/mail/v9/templates", got.URL.Path)
	assert.Equal(t, `{"content":{"html":"<b>&</b>"},"name":"n"}`, strings.TrimSpace(body), "body")
	for name, want := range map[string]string{
		"Authorization": "Bearer " + testToken, "Content-Type": "application/json",
		"Accept": "application/json", "User-Agent": "shop/2.1 emailplatform-go/" + version, "Idempotency-Key": "",
	} {
		assert.Equal(t, want, got.Header.Get(name), name)
	}
}

// TestInvalidArguments: a call with invalid arguments sends nothing, and its error names the first of them.
func TestInvalidArguments(t *testing.T) {
	c := newTestClient(t, func(_ http.ResponseWriter, r *http.Request) { t.Errorf("sent %s %s", r.Method, r.URL) })
	ctx, noContext := t.Context(), context.Context(nil)
	contacts := func(listID int64, params ListContactsParams) error { return last(c.Contacts.List(ctx, listID, params)) }
	for _, tc := range []struct {
		err  error
		want string
	}{
		{last(c.Templates.Get(ctx, 0)), "template_id: must be a positive id, got 0"},
		{last(c.Templates.Get(noContext, 1)), "the context must not be nil"},
		{last(c.Templates.Find(noContext, "Welcome")), "the context must not be nil"},
		{last(c.Webhooks.Ensure(noContext, WebhookCreate{URL: "https://shop.example/hook"})), "the context must not be nil"},
		{last(c.Emails.Wait(noContext, "1", Email.Settled)), "the context must not be nil"},
		{last(c.Contacts.Import(noContext, 1, func(func(ImportContact, error) bool) {}, ImportOptions{})), "the context must not be nil"},
		{last(c.Contacts.ImportBatch(noContext, 1, ImportBatch{})), "the context must not be nil"},
		{last(c.Contacts.Import(ctx, 1, nil, ImportOptions{})), "the source must not be nil"},
		{last(c.Emails.Wait(ctx, "1", nil)), "the function until must not be nil"},
		{last(c.Campaigns.Wait(ctx, 1, nil)), "the function until must not be nil"},
		{last(c.Templates.Update(ctx, 0, TemplateUpdate{Name: new("n")})), "template_id: must be a positive id, got 0"},
		{c.Contacts.Delete(ctx, 1, -1), "contact_id: must be a positive id, got -1"},
		{last(c.Contacts.Get(ctx, 0, -1)), "list_id: must be a positive id, got 0"},
		{last(c.Webhooks.Get(ctx, "")), "webhook_id: "},
		{c.SuppressedEmails.Remove(ctx, "."), "email: "},
		{last(c.Emails.Get(ctx, "..")), "email_id: "},
		{last(c.Emails.Get(ctx, "M\xfcller")), "email_id: must be valid UTF-8"},
		{last(c.Tags.List(ctx, ListTagsParams{Page: -1})), ": page: must be a positive number, got -1"},
		{contacts(1, ListContactsParams{PerPage: -1, Sort: "\xff"}), ": per_page: must be a positive number, got -1"},
		{contacts(1, ListContactsParams{Sort: "\xff", Filter: "\xff"}), "sort: must be valid UTF-8"},
		{contacts(0, ListContactsParams{Page: -1, Sort: "\xff"}), "list_id: must be a positive id"},
	} {
		var e *Error
		require.ErrorAs(t, tc.err, &e, "%+v", tc)
		assert.ErrorIs(t, tc.err, ErrValidation, "%+v", tc)
		assert.Zero(t, e.Attempts, "%+v", tc)
		assert.ErrorContains(t, tc.err, tc.want, "%+v", tc)
	}
}

// TestNilArguments: an iterator with a nil argument yields one error, and optional functions may be nil.
func TestNilArguments(t *testing.T) {
	requests := 0
	c := newTestClient(t, func(w http.ResponseWriter, r *http.Request) {
		requests++
		respondWith(200, "application/json", `{"data":[]}`)(w, r)
	})
	emails := func(ctx context.Context, ids iter.Seq[string]) (errs []error) {
		for _, err := range c.Emails.GetAll(ctx, ids) {
			errs = append(errs, err)
		}
		return errs
	}
	contacts := func(source iter.Seq2[ImportContact, error]) (errs []error) {
		for _, err := range source {
			errs = append(errs, err)
		}
		return errs
	}
	for want, errs := range map[string][]error{
		"the context must not be nil":        emails(nil, slices.Values([]string{"1", "2"})),
		"the ids must not be nil":            emails(t.Context(), nil),
		"the source must not be nil":         contacts(new(ImportReport).Remaining(nil)),
		"the addresses must not be nil":      contacts(ContactsFromAddresses(nil)),
		"line 1: the reader must not be nil": contacts(ContactsFromCSV(nil, CSVOptions{})),
	} {
		assert.Len(t, errs, 1, want)
		require.ErrorContains(t, errors.Join(errs...), want)
	}
	assert.Zero(t, requests)
	for _, err := range c.Lists.All(WithResponseHook(t.Context(), nil), ListListsParams{}, nil) {
		require.NoError(t, err)
	}
	assert.Equal(t, 1, requests)
}

// TestNilResponse: a transport that returns neither a response nor an error does not cause a panic.
func TestNilResponse(t *testing.T) {
	c := newBubbleClient(t, func(*http.Request) (*http.Response, error) { return nil, nil }) //nolint:nilnil // on purpose
	_, err := c.Emails.Send(t.Context(), EmailSubmission{})
	require.ErrorIs(t, err, ErrOutcomeUnknown)
	require.ErrorContains(t, err, "nil *Response")
}

func TestPathEscaped(t *testing.T) {
	var path string
	c := newTestClient(t, func(w http.ResponseWriter, r *http.Request) {
		path = r.URL.EscapedPath()
		w.WriteHeader(204)
	})
	for in, want := range map[string]string{
		"a/b":           "/suppressed-emails/a%2Fb",
		"../lists":      "/suppressed-emails/..%2Flists",
		"*@example.com": "/suppressed-emails/%2A@example.com",
		"a?b#c d%2e":    "/suppressed-emails/a%3Fb%23c%20d%252e",
		"a+b@x":         "/suppressed-emails/a%2Bb@x",
		"+":             "/suppressed-emails/%2B",
		"ä@example.com": "/suppressed-emails/%C3%A4@example.com",
	} {
		err := c.SuppressedEmails.Remove(t.Context(), in)
		require.NoError(t, err, in)
		assert.Equal(t, want, path, in)
	}
}

func TestQuery(t *testing.T) {
	var query string
	c := newTestClient(t, func(w http.ResponseWriter, r *http.Request) {
		query = r.URL.RawQuery
		respondWith(200, "application/json", `{"data":[],"pagination":{"page":1,"per_page":50}}`)(w, r)
	})
	for want, params := range map[string]ListContactsParams{
		"": {},
		"page=2&per_page=100&with_count=true&sort=email%3Aasc&filter=status%3Aa%26b": {Page: 2, PerPage: 100, WithCount: true, Sort: "email:asc", Filter: "status:a&b"},
		"filter=tag%3Aa%20b%2Bc": {Filter: "tag:a b+c"},
	} {
		_, err := c.Contacts.List(t.Context(), 1, params)
		require.NoError(t, err, want)
		assert.Equal(t, want, query, want)
	}
}
