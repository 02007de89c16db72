package client

import (
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"log/slog"
	"math"
	"net"
	"net/http"
	"net/http/httptest"
	"reflect"
	"strings"
	"testing"
	"testing/synctest"
	"time"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
)

const testToken = "secret-token-7d1f"

// newClient returns a client that sends its requests to the platform at base.
func newClient(t testing.TB, base string, transport http.RoundTripper, change ...func(*Config)) *Client {
	t.Helper()
	cfg := Config{BaseURL: base, Token: testToken, HTTPClient: &http.Client{Transport: transport}}
	for _, c := range change {
		c(&cfg)
	}
	c, err := New(cfg)
	require.NoError(t, err)
	return c
}

// newTestClient returns a client of a server with the handler h. The client does not pause between attempts.
func newTestClient(t *testing.T, h http.HandlerFunc, change ...func(*Config)) *Client {
	t.Helper()
	srv := httptest.NewServer(h)
	t.Cleanup(srv.Close)
	atOnce := func(cfg *Config) { cfg.LookupLimiter, cfg.Retry.BaseDelay = NoLookupLimit{}, -1 }
	return newClient(t, srv.URL, srv.Client().Transport, append([]func(*Config){atOnce}, change...)...)
}

// newBubbleClient returns a client without a socket. f responds to its requests.
func newBubbleClient(t testing.TB, f roundTrip, change ...func(*Config)) *Client {
	t.Helper()
	return newClient(t, "https://example.com", f, change...)
}

func withoutRetries(cfg *Config) { cfg.Retry.MaxAttempts = 1 }

func withoutPauses(cfg *Config) { cfg.Retry.BaseDelay = -1 }

func withPromised503(cfg *Config) { cfg.Retry.Unprocessed503WithRetryAfter = true }

// withSource sets a token source instead of the token.
func withSource(source TokenSource) func(*Config) {
	return func(cfg *Config) { cfg.Token, cfg.TokenSource = "", source }
}

// respondWith returns a handler that always returns the same response.
func respondWith(status int, contentType, body string) http.HandlerFunc {
	return func(w http.ResponseWriter, _ *http.Request) {
		w.Header().Set("Content-Type", contentType)
		w.Header().Set("X-Request-Id", "req-1")
		w.WriteHeader(status)
		_, _ = io.WriteString(w, body)
	}
}

func TestNewRejectsConfig(t *testing.T) {
	source := func(context.Context) (Token, error) { return Token{Value: "t"}, nil }
	for name, tc := range map[string]struct {
		cfg  Config
		want string
	}{
		"no base URL":             {Config{Token: "t"}, "BaseURL: must not be empty"},
		"relative base URL":       {Config{BaseURL: "api.example.com/x", Token: "t"}, "absolute"},
		"other scheme":            {Config{BaseURL: "ftp://example.com", Token: "t"}, "absolute http or https"},
		"no host":                 {Config{BaseURL: "https:///x", Token: "t"}, "absolute"},
		"not a URL":               {Config{BaseURL: "https://user:" + testToken + "@[::1", Token: "t"}, "BaseURL"},
		"with a password":         {Config{BaseURL: "https://u:" + testToken + "@example.com", Token: "t"}, "username or password"},
		"with a space at its end": {Config{BaseURL: "https://example.com/v1 ", Token: "t"}, "BaseURL: must not contain white space"},
		"with a query":            {Config{BaseURL: "https://example.com?x=1", Token: "t"}, "query"},
		"with a fragment":         {Config{BaseURL: "https://example.com#x", Token: "t"}, "fragment"},
		"plain http":              {Config{BaseURL: "http://example.com", Token: "t"}, "plain http"},
		"no token":                {Config{BaseURL: "https://example.com"}, "Token: access token must not be empty"},
		"token with a line break": {Config{BaseURL: "https://example.com", Token: testToken + "\n"}, "byte 17"},
		"token beyond ASCII":      {Config{BaseURL: "https://example.com", Token: testToken + "\x7f"}, "byte 17"},
		"token with a space":      {Config{BaseURL: "https://example.com", Token: testToken + " "}, "byte 17"},
		"token after a space":     {Config{BaseURL: "https://example.com", Token: " " + testToken}, "byte 0"},
		"with an empty query":     {Config{BaseURL: "https://example.com?", Token: "t"}, "query"},
		"plain http by address":   {Config{BaseURL: "http://192.0.2.1", Token: "t"}, "plain http"},
		"user agent beyond ASCII": {Config{BaseURL: "https://example.com", Token: "t", UserAgent: "a\x7f"}, "UserAgent"},
		"token and source":        {Config{BaseURL: "https://example.com", Token: "t", TokenSource: source}, "both"},
		"negative limit":          {Config{BaseURL: "https://example.com", Token: "t", MaxResponseBytes: -1}, "MaxResponseBytes"},
		"bad user agent":          {Config{BaseURL: "https://example.com", Token: "t", UserAgent: "a\r\nb"}, "UserAgent"},
	} {
		t.Run(name, func(t *testing.T) {
			_, err := New(tc.cfg)
			if err == nil || !strings.Contains(err.Error(), tc.want) {
				t.Errorf("New = %v, want an error with %q", err, tc.want)
			}
			if err != nil && strings.Contains(err.Error(), testToken) {
				t.Errorf("the error shows the token: %v", err)
			}
		})
	}
}

func TestNewAcceptsConfig(t *testing.T) {
	for _, base := range []string{
		"https://example.com", "https://example.com/", "https://example.com/mail/", "http://localhost:1", "http://LOCALHOST",
		"http://127.0.0.1", "http://127.8.8.8:80", "http://[::1]:80",
	} {
		if _, err := New(Config{BaseURL: base, Token: "t"}); err != nil {
			t.Errorf("New with %s: %v", base, err)
		}
	}
	if _, err := New(Config{BaseURL: "https://example.com", Token: "!~", UserAgent: "~ a/1"}); err != nil {
		t.Errorf("New with all visible ASCII characters: %v", err)
	}
	if _, err := New(Config{BaseURL: "http://example.com", Token: "t", AllowPlainHTTP: true}); err != nil {
		t.Errorf("New with AllowPlainHTTP: %v", err)
	}
}

// TestTolerantReader: each 2xx is a success, and unknown fields and null are ignored.
func TestTolerantReader(t *testing.T) {
	for status, good := range map[int]bool{200: true, 201: true, 299: true, 300: false, 399: false, 400: false} {
		c := newTestClient(t, respondWith(status, "application/json", `{"x":{"y":[null]},"template_id":1,"name":null,"z":1e9}`))
		if got, err := c.Templates.Create(t.Context(), TemplateCreate{Name: "n"}); (err == nil) != good || good && got != (Template{ID: 1}) {
			t.Errorf("status %d: %+v, %v, want success: %v", status, got, err, good)
		}
	}
	for body, good := range map[string]bool{"": true, " \n": true, "<p>": false} { // a proxy may set a type on an empty body
		c := newTestClient(t, respondWith(200, "text/html", body))
		if err := c.SuppressedEmails.Remove(t.Context(), "a@example.com"); (err == nil) != good {
			t.Errorf("a 2xx response with %q as HTML: %v, want success: %v", body, err, good)
		}
	}
}

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
	if err != nil || tpl.ID != 7 || tpl.Name != "n" {
		t.Fatalf("Create = %+v, %v", tpl, err)
	}
	if got.Method != "POST" || got.URL.Path != "/mail/v9/templates" {
		t.Errorf("sent %s %s", got.Method, got.URL)
	}
	assert.Equal(t, `{"content":{"html":"<b>&</b>"},"name":"n"}`, strings.TrimSpace(body), "body")
	for name, want := range map[string]string{
		"Authorization": "Bearer " + testToken, "Content-Type": "application/json",
		"Accept": "application/json", "User-Agent": "shop/2.1 emailplatform-go/" + version, "Idempotency-Key": "",
	} {
		assert.Equal(t, want, got.Header.Get(name), name)
	}
}

func TestNullable(t *testing.T) {
	for text, want := range map[string]Nullable[string]{`{}`: {}, `{"text":null}`: Null[string](), `{"text":""}`: Value(""), `{"text":"x"}`: Value("x")} {
		var got TemplateContentUpdate
		if err := json.Unmarshal([]byte(text), &got); err != nil || got.Text != want {
			t.Errorf("%s: %+v, %v; want %+v", text, got.Text, err, want)
		}
		if b, err := json.Marshal(got); err != nil || string(b) != text {
			t.Errorf("%s becomes %s, %v", text, b, err)
		}
		v, ok := got.Text.Get()
		assert.Equal(t, want == Value(v), ok, "%s: Get", text)
	}
	if b, err := json.Marshal(CustomAttributeUpdate{Name: "a"}); err == nil {
		t.Errorf("without the required value: got %s, want an error", b)
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
		if !errors.As(tc.err, &e) || !errors.Is(tc.err, ErrValidation) || e.Attempts != 0 || !strings.Contains(tc.err.Error(), tc.want) {
			t.Errorf("got %v, want an ErrValidation with %q without an attempt", tc.err, tc.want)
		}
	}
}

func TestPauseEndsWithContext(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		ended, cancel := context.WithCancel(t.Context())
		cancel()
		for range 50 { // a select would choose at random between a timer of 0 and a canceled context
			require.ErrorIs(t, pause(ended, 0), context.Canceled, "pause did not return context.Canceled")
		}
		soon, cancel := context.WithTimeout(t.Context(), time.Second)
		defer cancel()
		for d, ends := range map[time.Duration]bool{time.Second - 1: false, time.Second: true, time.Second + 1: true} {
			assert.Equal(t, ends, endsWithin(soon, d), "a context with a deadline in 1 s ends within %v", d)
		}
		if !endsWithin(ended, time.Second) || endsWithin(t.Context(), time.Hour) {
			t.Error("an ended context does not end within 1 s, or a context without a deadline ends within 1 h")
		}
	})
}

// TestMaxResponseBytes: the limit applies with and without a Content-Length.
func TestMaxResponseBytes(t *testing.T) {
	const body = `{"list_id":7,"name":"n"}`
	for name, announce := range map[string]http.HandlerFunc{
		"announced":     func(http.ResponseWriter, *http.Request) {},
		"not announced": func(w http.ResponseWriter, _ *http.Request) { w.(http.Flusher).Flush() },
	} {
		for limit, want := range map[int64]error{int64(len(body)): nil, int64(len(body)) - 1: ErrInvalidResponse} {
			c := newTestClient(t, func(w http.ResponseWriter, r *http.Request) {
				announce(w, r)
				_, _ = io.WriteString(w, body)
			}, func(cfg *Config) { cfg.MaxResponseBytes = limit })
			if _, err := c.Lists.Get(t.Context(), 7); !errors.Is(err, want) {
				t.Errorf("%s, %d bytes with a limit of %d: %v, want %v", name, len(body), limit, err, want)
			}
		}
	}
}

// TestMaximumConfigValues: the largest values do not overflow.
func TestMaximumConfigValues(t *testing.T) {
	c := newTestClient(t, respondWith(201, "application/json", `{"list_id":7,"name":"n"}`), func(cfg *Config) { cfg.MaxResponseBytes = math.MaxInt64 })
	if l, err := c.Lists.Create(t.Context(), ListCreate{Name: "n"}); err != nil || l.ID != 7 {
		t.Errorf("Create = %+v, %v", l, err)
	}
	c = newTestClient(t, respondWith(503, "application/json", ""), func(cfg *Config) {
		cfg.Retry = RetryConfig{BaseDelay: math.MaxInt64, MaxDelay: math.MaxInt64}
	})
	ctx, cancel := context.WithTimeout(t.Context(), time.Minute)
	defer cancel()
	if _, err := c.Lists.Get(ctx, 7); !errors.Is(err, ErrServer) {
		t.Errorf("Get: %v", err)
	}
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
		if err := c.SuppressedEmails.Remove(t.Context(), in); err != nil || path != want {
			t.Errorf("Remove(%q) requested %s, want %s (%v)", in, path, want, err)
		}
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
		if _, err := c.Contacts.List(t.Context(), 1, params); err != nil || query != want {
			t.Errorf("List(%+v) asked %q, want %q (%v)", params, query, want, err)
		}
	}
}

// TestFieldTypeMismatch: a field of another type does not affect the other fields.
func TestFieldTypeMismatch(t *testing.T) {
	for name, tc := range map[string]struct {
		body string
		want List
		path string // path of the field in the error; empty: no error
	}{
		"optional integer":     {`{"list_id":7,"created_on":"in May","name":"n"}`, List{ID: 7, Name: "n"}, ""},
		"optional boolean":     {`{"list_id":7,"name":"n","policy_accepted":2}`, List{ID: 7, Name: "n"}, ""},
		"integer as a string":  {`{"list_id":"7","created_on":"8","name":"n"}`, List{ID: 7, CreatedOn: time.Unix(8, 0).UTC(), Name: "n"}, ""},
		"required string":      {`{"name":5,"list_id":7,"created_on":8}`, List{ID: 7, CreatedOn: time.Unix(8, 0).UTC()}, ""},
		"required integer":     {`{"list_id":"x7","name":"n"}`, List{Name: "n"}, "list_id"},
		"fraction":             {`{"list_id":7.5,"name":"n"}`, List{Name: "n"}, "list_id"},
		"both":                 {`{"list_id":"","created_on":[],"name":"n"}`, List{Name: "n"}, "list_id"},
		"both, optional first": {`{"created_on":[],"name":"n","list_id":{}}`, List{Name: "n"}, "list_id"},
	} {
		t.Run(name, func(t *testing.T) {
			c := newTestClient(t, respondWith(201, "application/json", tc.body))
			got, err := c.Lists.Create(t.Context(), ListCreate{Name: "n"})
			if got != tc.want || errors.Is(err, ErrInvalidResponse) != (tc.path != "") || errors.Is(err, ErrOutcomeUnknown) != (tc.path != "") {
				t.Errorf("got %+v, %v; want %+v", got, err, tc.want)
			}
			if err != nil && !strings.Contains(err.Error(), tc.path) {
				t.Errorf("%v does not name %q", err, tc.path)
			}
		})
	}
}

func TestFieldTypeMismatchInItems(t *testing.T) {
	for _, id := range []string{"0", "9"} {
		c := newTestClient(t, respondWith(200, "application/json",
			`{"webhook_id":`+id+`,"url":"u","events":"all","rate_limit":{},"secret":"s","status":"active"}`))
		hook, err := c.Webhooks.Get(t.Context(), id)
		hook.Events = nil
		if want := (Webhook{ID: id, URL: "u", Secret: NewSecret("s"), Status: WebhookStatusActive}); !reflect.DeepEqual(hook, want) || !errors.Is(err, ErrInvalidResponse) {
			t.Errorf("Get = %+v, %v", hook, err)
		}
	}
	c := newTestClient(t, respondWith(200, "application/json",
		`{"data":[{"id":1,"email":"a","status":"active","tags":["a",5,"b"]},{"id":true,"email":"b"}],"pagination":{"page":1,"per_page":50}}`))
	page, err := c.Contacts.List(t.Context(), 1, ListContactsParams{})
	if err == nil || !strings.Contains(err.Error(), "data[1]") || !strings.Contains(err.Error(), `"id"`) {
		t.Errorf("List: %v", err)
	}
	assert.Equal(t, []Contact{{ID: 1, Email: "a", Status: "active", Tags: []string{"a", "b"}}, {Email: "b"}}, page.Data, "List")
	c = newTestClient(t, respondWith(200, "application/json", `{"name":"n","list_id":7,`))
	if l, err := c.Lists.Get(t.Context(), 7); l != (List{}) || !errors.Is(err, ErrInvalidResponse) {
		t.Errorf("a body that is not JSON: %+v, %v", l, err)
	}
}

func TestResponseHook(t *testing.T) {
	c := newTestClient(t, respondWith(200, "application/json", `{"webhook_id":"1","secret":"`+testToken+`","new":1}`))
	var got []Response
	ctx := WithResponseHook(t.Context(), func(r Response) { got = append(got, r) })
	wh, err := c.Webhooks.Get(ctx, "1")
	if err != nil || wh.Secret.Reveal() != testToken {
		t.Fatalf("Get = %v, %v", wh, err)
	}
	if len(got) != 1 || got[0].Op != "getWebhook" || got[0].StatusCode != 200 || got[0].RequestID != "req-1" || !bytes.Contains(got[0].Body, []byte(`"new":1`)) ||
		fmt.Sprint(got[0]) != "client.Response{getWebhook: 200, attempt 1, request req-1}" {
		t.Errorf("WithResponseHook saw %+v", got)
	}
	if hidesToken(t, got[0], wh); !strings.Contains(fmt.Sprintf("%+v", wh), "ID:1 ") {
		t.Errorf("%+v does not contain the id of the webhook", wh)
	}
}

// hidesToken fails if fmt or slog prints testToken.
func hidesToken(t *testing.T, values ...any) {
	t.Helper()
	for _, v := range values {
		var log bytes.Buffer
		slog.New(slog.NewTextHandler(&log, nil)).Info("m", "v", v)
		slog.New(slog.NewJSONHandler(&log, nil)).Info("m", "v", v)
		for _, verb := range []string{"%v", "%+v", "%#v", "%s", "%q", "%d", "%x"} {
			fmt.Fprintf(&log, verb, v)
			fmt.Fprintf(&log, verb, []any{v})
		}
		if strings.Contains(log.String(), testToken) || strings.Contains(log.String(), fmt.Sprintf("%x", testToken)) {
			t.Errorf("%T shows the token: %s", v, log.String())
		}
	}
}

func TestTokenHidden(t *testing.T) {
	var log bytes.Buffer
	logger := slog.New(slog.NewTextHandler(&log, &slog.HandlerOptions{Level: slog.LevelDebug}))
	c := newTestClient(t, func(w http.ResponseWriter, r *http.Request) {
		if r.Method == "GET" { // a proxy that echoes the token
			w.Header().Set("X-Request-Id", r.Header.Get("Authorization"))
			respondWith(403, "text/plain", strings.Repeat("x", maxErrorBody-8)+r.Header.Get("Authorization"))(w, r)
			return
		}
		respondWith(422, "application/json", `{"detail":[{"loc":["header"],"msg":"bad `+r.Header.Get("Authorization")+`"}]}`)(w, r)
	}, func(cfg *Config) { cfg.Logger = logger })
	_, err1 := c.Templates.Get(t.Context(), 1)
	_, err2 := c.Templates.Create(t.Context(), TemplateCreate{Name: "n"})
	leaky := newTestClient(t, nil, func(cfg *Config) {
		cfg.Logger = logger
		cfg.HTTPClient = &http.Client{Transport: roundTrip(func(r *http.Request) (*http.Response, error) {
			return nil, fmt.Errorf("cannot send %v: %w", r.Header, io.ErrClosedPipe)
		})}
	})
	_, err3 := leaky.Templates.Get(t.Context(), 1)
	assert.ErrorIs(t, err3, io.ErrClosedPipe, "does not wrap its cause")
	for _, err := range []error{err1, err2, err3} {
		var e *Error
		if !errors.As(err, &e) {
			t.Fatalf("%T is not an *Error", err)
		}
		assert.NotContains(t, string(e.Body), "secret-t", "the body shows the token")
		hidesToken(t, e, *e, e.Details)
	}
	cfg := Config{BaseURL: "https://u:" + testToken + "@example.com", Token: testToken}
	hidesToken(t, c, *c, cfg, &cfg, Webhook{Secret: NewSecret(testToken)}, NewSecret(testToken), struct{ s Secret }{NewSecret(testToken)}, errors.Unwrap(err3))
	assert.NotContains(t, log.String(), testToken, "the log shows the token")
}

// roundTrip is a function that implements http.RoundTripper. Unlike http.Transport, it calls no httptrace
// hooks.
type roundTrip func(*http.Request) (*http.Response, error)

func (f roundTrip) RoundTrip(r *http.Request) (*http.Response, error) { return f(r) }

// TestCloseIdleConnections: the client closes its connection, and remains usable.
func TestCloseIdleConnections(t *testing.T) {
	closed := make(chan struct{}, 10)
	srv := httptest.NewUnstartedServer(respondWith(200, "application/json", `{"template_id":1}`))
	srv.Config.ConnState = func(_ net.Conn, s http.ConnState) {
		if s == http.StateClosed {
			closed <- struct{}{}
		}
	}
	srv.Start()
	defer srv.Close()
	for _, hc := range []*http.Client{nil, {Transport: &http.Transport{}}} {
		c := newClient(t, srv.URL, nil, func(cfg *Config) { cfg.HTTPClient = hc })
		for range 2 {
			must(t)(c.Templates.Get(t.Context(), 1))
			c.CloseIdleConnections()
			select {
			case <-closed:
			case <-time.After(time.Minute):
				t.Fatal("the connection is still open")
			}
		}
	}
}

func TestHTTPClientIsNotChanged(t *testing.T) {
	hc := &http.Client{}
	c := newTestClient(t, respondWith(302, "text/plain", ""), func(cfg *Config) { cfg.HTTPClient = hc })
	_, err := c.Templates.Get(t.Context(), 1)
	assert.ErrorIs(t, err, ErrInvalidResponse, "a redirect")
	if hc.CheckRedirect != nil || hc.Transport != nil || hc.Timeout != 0 || hc.Jar != nil {
		t.Errorf("the caller's client was changed: %+v", hc)
	}
}

// respond returns a response with headers given in pairs.
func respond(status int, body string, headers ...string) *http.Response {
	h := http.Header{"Content-Type": {"application/json"}}
	for i := 0; i < len(headers); i += 2 {
		h.Set(headers[i], headers[i+1])
	}
	return &http.Response{StatusCode: status, Header: h, ContentLength: -1, Body: io.NopCloser(strings.NewReader(body))}
}

// inOrder returns a transport that returns the responses in order.
func inOrder(responses ...*http.Response) roundTrip {
	return func(*http.Request) (*http.Response, error) {
		if len(responses) == 0 {
			return nil, errors.New("more requests than responses")
		}
		next := responses[0]
		responses = responses[1:]
		return next, nil
	}
}

// must returns a function that ends the test if a call fails.
func must(t testing.TB) func(any, error) {
	return func(_ any, err error) {
		t.Helper()
		require.NoError(t, err)
	}
}

// need returns a function that ends the test if a call fails, and otherwise returns the result.
func need[T any](t testing.TB) func(T, error) T {
	return func(v T, err error) T {
		t.Helper()
		require.NoError(t, err)
		return v
	}
}

func last[T any](_ T, err error) error { return err }
