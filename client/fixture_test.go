package client

import (
	"bytes"
	"cmp"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"iter"
	"log/slog"
	"math"
	"math/rand/v2"
	"net/http"
	"net/http/httptest"
	"net/url"
	"os"
	"reflect"
	"strconv"
	"strings"
	"sync"
	"testing"
	"testing/synctest"
	"time"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"example.com/emailplatform/events"
	"example.com/emailplatform/internal/tests/check"
	"example.com/emailplatform/mockserver"
)

// TestMain discards the log records of clients without a logger, in all tests of this package.
func TestMain(m *testing.M) {
	slog.SetDefault(slog.New(slog.DiscardHandler))
	os.Exit(m.Run())
}

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

// roundTrip is a function that implements http.RoundTripper. Unlike http.Transport, it calls no httptrace
// hooks.
type roundTrip func(*http.Request) (*http.Response, error)

func (f roundTrip) RoundTrip(r *http.Request) (*http.Response, error) { return f(r) }

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

func last[T any](_ T, err error) error { return err }

func kinds(c *Client) map[string]func(context.Context) error {
	return map[string]func(context.Context) error{
		"read":   func(ctx context.Context) error { return last(c.Templates.Get(ctx, 1)) },
		"update": func(ctx context.Context) error { return last(c.Templates.Update(ctx, 1, TemplateUpdate{})) },
		"delete": func(ctx context.Context) error { return c.Templates.Delete(ctx, 1) },
		"state":  func(ctx context.Context) error { return c.Webhooks.Archive(ctx, "1") },
		"create": func(ctx context.Context) error { return last(c.Templates.Create(ctx, TemplateCreate{Name: "n"})) },
	}
}

// hijack writes raw to the connection and closes it.
func hijack(t *testing.T, w http.ResponseWriter, raw string) {
	conn, _, err := w.(http.Hijacker).Hijack()
	if err != nil {
		t.Error(err)
		return
	}
	_, _ = io.WriteString(conn, raw)
	_ = conn.Close()
}

// platform is a mock server without a socket. Its client clean has a transport without faults and no lookup limit.
type platform struct {
	*mockserver.Server
	clean *Client
	t     testing.TB
}

// newPlatform returns a platform that rejects unknown fields and parameters, and reports each violation of openapi.yaml as
// a test error.
func newPlatform(t testing.TB) *platform {
	t.Helper()
	receiver := http.HandlerFunc(func(w http.ResponseWriter, _ *http.Request) { w.WriteHeader(http.StatusNoContent) })
	p := &platform{t: t, Server: mockserver.New(mockserver.Config{
		Targets: map[string]http.Handler{"hooks.test": receiver}, RejectUnknownFields: true, OnViolation: func(err error) { t.Error(err) },
	})}
	p.clean = p.client(p.Transport())
	return p
}

// withPlatform runs f on virtual time with a platform.
func withPlatform(t *testing.T, f func(t *testing.T, p *platform)) {
	t.Helper()
	synctest.Test(t, func(t *testing.T) {
		p := newPlatform(t)
		defer p.Close()
		f(t, p)
	})
}

func (p *platform) client(transport http.RoundTripper, change ...func(*Config)) *Client {
	p.t.Helper()
	change = append([]func(*Config){func(cfg *Config) { cfg.Token, cfg.LookupLimiter = p.Token(), NoLookupLimit{} }}, change...)
	return newBubbleClient(p.t, transport.RoundTrip, change...)
}

// records contains the ids of the records that operations use.
type records struct {
	list, contact, template, campaign int64
	workflow, webhook, email          string
	n                                 int // number of names that the method name has returned
}

// knownRecords contains the ids of the known responses.
func knownRecords() *records {
	return &records{list: 3, contact: 9, template: 7, campaign: 5, workflow: "w-4", webhook: "h-2", email: "e-1"}
}

func (p *platform) createRecords() *records {
	p.t.Helper()
	ctx, c, rec := p.t.Context(), p.clean, &records{}
	rec.list = check.Need(c.Lists.Create(ctx, ListCreate{Name: "Customers"}))(p.t).ID
	require.NoError(p.t, c.Lists.AcceptPolicy(ctx, rec.list))
	rec.contact = check.Need(c.Contacts.Create(ctx, rec.list, ContactCreate{Email: "ann@example.com", Tags: []string{"vip"}}))(p.t).ID
	template := TemplateCreate{Name: "T", Content: TemplateContent{HTML: "<p>{{name}}</p>"}}
	rec.template = check.Need(c.Templates.Create(ctx, template))(p.t).ID
	message := MessageContent{Subject: "Hello", TemplateID: rec.template}
	campaign := CampaignCreate{Name: "C", ListID: rec.list, Sender: shop(), Content: message}
	rec.campaign = check.Need(c.Campaigns.Create(ctx, campaign))(p.t).ID
	workflow := WorkflowCreate{Name: "W", ListID: rec.list, Trigger: WorkflowTriggerSubscribed, Sender: shop(), Content: message}
	rec.workflow = check.Need(c.Workflows.Create(ctx, workflow))(p.t).ID
	hook := WebhookCreate{URL: "http://hooks.test/", Events: []events.Name{events.NameEmailBounced}}
	rec.webhook = check.Need(c.Webhooks.Create(ctx, hook))(p.t).ID
	rec.email = check.Need(c.Emails.Send(ctx, rec.submission()))(p.t).ID
	check.Need(c.SuppressedEmails.Add(ctx, "gone@example.com"))(p.t)
	return rec
}

func shop() Sender { return Sender{Name: "Shop", Email: "shop@example.com"} }

func (rec *records) submission() EmailSubmission {
	return EmailSubmission{
		To: "ann@example.com", Sender: shop(), CustomAttributes: Attributes{{Name: "name", Value: "Ann"}},
		Content: EmailContent{Subject: "Hello", TemplateID: rec.template, Type: EmailTypeTransactional},
	}
}

func (rec *records) name() string {
	rec.n++
	return fmt.Sprintf("new-%d", rec.n)
}

type tagPages struct {
	pages   [][]string // page n is pages[n-1]; later pages are empty
	perPage int64      // per_page of the response; 0 is like a missing value
	count   int64
	counts  []int64 // count of each page; overrides count
	page    func(asked int64) int64
	silent  bool  // the response contains no page number
	fail    int64 // number of the page with the status failWith, by default 403

	failWith int

	mu    sync.Mutex
	asked []int64
}

func (p *tagPages) RoundTrip(r *http.Request) (*http.Response, error) {
	if err := r.Context().Err(); err != nil {
		return nil, err
	}
	n := int64(1)
	if s := r.URL.Query().Get("page"); s != "" {
		n, _ = strconv.ParseInt(s, 10, 64)
	}
	p.mu.Lock()
	p.asked = append(p.asked, n)
	p.mu.Unlock()
	if n == p.fail {
		return respond(cmp.Or(p.failWith, 403), ""), nil
	}
	if p.page != nil {
		n = p.page(n)
	}
	out := TagPage{Data: []Tag{}, Pagination: Pagination{Page: n, PerPage: p.perPage, Count: p.count}}
	if p.silent {
		out.Pagination.Page = 0
	}
	if n >= 1 && n <= int64(len(p.counts)) {
		out.Pagination.Count = p.counts[n-1]
	}
	if n >= 1 && n <= int64(len(p.pages)) {
		for _, name := range p.pages[n-1] {
			out.Data = append(out.Data, Tag{Name: name})
		}
	}
	b, err := json.Marshal(out)
	return respond(200, string(b)), err
}

// collect returns the names that Tags.All yields and the error at its end.
func collect(t testing.TB, c *Client, params ListTagsParams, opts ...IterOption) (names []string, err error) {
	t.Helper()
	for tag, e := range c.Tags.All(t.Context(), params, opts...) {
		assert.NoError(t, err, "the iterator continues after an error")
		if err = e; err == nil {
			names = append(names, tag.Name)
		}
	}
	return names, err
}

// pagesOf returns pages of the given sizes with different items.
func pagesOf(sizes ...int) [][]string {
	pages := make([][]string, len(sizes))
	n := 0
	for i, size := range sizes {
		for range size {
			pages[i] = append(pages[i], strconv.Itoa(n))
			n++
		}
	}
	return pages
}

// lookupServer rejects a lookup that arrives less than a second after an accepted one.
type lookupServer struct {
	latency time.Duration

	mu       sync.Mutex
	accepted time.Time
	lookups  int
	rejected int
}

func (s *lookupServer) RoundTrip(r *http.Request) (*http.Response, error) {
	if err := r.Context().Err(); err != nil {
		return nil, err
	}
	time.Sleep(s.latency / 2)
	defer time.Sleep(s.latency / 2)
	s.mu.Lock()
	defer s.mu.Unlock()
	id := r.URL.Path[len("/v2/emails/"):]
	if now := time.Now(); now.Sub(s.accepted) < time.Second {
		s.rejected++
		return respond(429, "", "Retry-After", "1"), nil
	}
	s.accepted = time.Now()
	s.lookups++
	if id == "gone" {
		return respond(404, ""), nil
	}
	return respond(200, `{"id":"`+id+`","status":"delivered"}`), nil
}

// numbered yields n contacts. Every bad-th contact has an invalid address.
func numbered(n, bad int) iter.Seq2[ImportContact, error] {
	return func(yield func(ImportContact, error) bool) {
		for i := range n {
			c := ImportContact{Email: fmt.Sprintf("c%d@example.com", i), Line: i + 2}
			if bad > 0 && i%bad == bad-1 {
				c.Email = fmt.Sprintf("bad%d", i)
			}
			if !yield(c, nil) {
				return
			}
		}
	}
}

// randomFields sets all required fields and some optional fields of a value to random values.
type randomFields struct {
	*rand.Rand

	all  bool   // no field is zero
	more string // an additional text
}

func (r randomFields) text() string {
	some := []string{
		"a", "é", "<b>", "&", "\"", "\\", "/", "\n", "\x00", "\x1f", "\x7f", "\u2028", "\u2029", "\ufffd", "\U0010ffff", "😀", "long enough for eight",
		"null", `\ufffd`, "\b", "\f", "\t", "\r", "Müller", "<!-- {{name}} -->", r.more,
	}
	s := ""
	for r.all && s == "" || r.IntN(6) > 0 {
		s += some[r.IntN(len(some))]
	}
	return s
}

func (r randomFields) fill(v reflect.Value) {
	switch to := v.Addr().Interface().(type) {
	case *Nullable[string]:
		*to = []Nullable[string]{Null[string](), Value(""), Value(r.text())}[r.IntN(3)]
		return
	case *Secret:
		*to = NewSecret("text")
		return
	case *time.Time:
		*to = time.Unix(1+r.Int64N(1e6), 0).UTC()
		return
	}
	switch v.Kind() {
	case reflect.String:
		v.SetString(r.text())
	case reflect.Int64, reflect.Int:
		v.SetInt([]int64{1, -1, 1 + r.Int64N(math.MaxInt64), math.MinInt64}[r.IntN(4)])
	case reflect.Bool:
		v.SetBool(true)
	case reflect.Pointer:
		v.Set(reflect.New(v.Type().Elem()))
		r.fill(v.Elem())
	case reflect.Slice:
		n := r.IntN(3)
		if r.all {
			n = 2
		}
		v.Set(reflect.MakeSlice(v.Type(), n, n))
		for i := range n {
			r.fill(v.Index(i))
		}
	case reflect.Struct:
		for field, member := range v.Fields() {
			optional := strings.HasSuffix(field.Tag.Get("json"), ",omitzero")
			if r.all || !optional || r.IntN(2) == 0 {
				r.fill(member)
			}
		}
	default:
		panic("no random value for " + v.Type().String())
	}
}

// refusing returns a client of a platform that refuses a request if refused returns the name of a parameter.
func refusing(t *testing.T, status int, named bool, refused func(url.Values) string, page string) (_ *Client, queries *[]string) {
	t.Helper()
	queries = new([]string)
	return newBubbleClient(t, func(r *http.Request) (*http.Response, error) {
		*queries = append(*queries, r.URL.RawQuery)
		switch name := refused(r.URL.Query()); {
		case name != "" && named:
			return respond(status, `{"detail":[{"loc":["query","`+name+`"],"msg":"unknown","type":"t"}]}`), nil
		case name != "":
			return respond(status, ""), nil
		case r.Method == http.MethodPost:
			return respond(201, `{"id":7,"email":"new@x"}`), nil
		case r.URL.Query().Get("page") > "1":
			return respond(200, `{"data":[]}`), nil
		}
		return respond(200, page), nil
	}), queries
}
