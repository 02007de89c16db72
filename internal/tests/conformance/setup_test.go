package conformance_test

import (
	"encoding/json"
	"fmt"
	"net/http"
	"slices"
	"strings"
	"testing"
	"testing/synctest"
	"time"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"example.com/emailplatform/internal/tests/rawhttp"
	"example.com/emailplatform/mockserver"
)

// Access tokens that the mock server accepts in all tests.
const (
	owner        = "token-of-owner"
	sameOwner    = "other-token-of-owner"   // another token of the same user
	colleague    = "token-of-colleague"     // another user of the same account
	reader       = "token-of-reader"        // read-only
	otherAccount = "token-of-other-account" // another account

	ownerUser = `{"id":31,"email":"ops@shop.example","account_id":1204}`
	noUser    = `{"id":null,"email":null,"account_id":null}`
)

func people() []mockserver.Token {
	return []mockserver.Token{
		{Value: owner, UserID: 31, UserEmail: "ops@shop.example", AccountID: 1204},
		{Value: sameOwner, UserID: 31, UserEmail: "ops@shop.example", AccountID: 1204},
		{Value: colleague, UserID: 32, UserEmail: "dev@shop.example", AccountID: 1204},
		{Value: reader, UserID: 33, UserEmail: "audit@shop.example", AccountID: 1204, ReadOnly: true},
		{Value: otherAccount, UserID: 41, UserEmail: "ops@rival.example", AccountID: 2000},
	}
}

// fixture is a server with a client and a receiver. Every response and every delivered body is validated against
// openapi.yaml.
type fixture struct {
	*testing.T
	srv      *mockserver.Server
	client   *http.Client
	token    string
	receiver *listener

	suppressed int // number of addresses that suppress has added
}

// withFixture runs a test with a fixture in a synctest bubble.
func withFixture(test func(f *fixture), configure ...func(*mockserver.Config)) func(*testing.T) {
	return func(t *testing.T) {
		synctest.Test(t, func(t *testing.T) { test(setup(t, configure...)) })
	}
}

func setup(t *testing.T, configure ...func(*mockserver.Config)) *fixture {
	r := &listener{t: t, secrets: map[string]string{}}
	cfg := mockserver.Config{
		Tokens:      people(),
		Targets:     map[string]http.Handler{"hook.test": r},
		OnViolation: func(err error) { t.Errorf("violation of openapi.yaml: %v", err) },
	}
	for _, c := range configure {
		c(&cfg)
	}
	srv := mockserver.New(cfg)
	t.Cleanup(srv.Close)
	client := &http.Client{Transport: srv.Transport(), Timeout: time.Hour} // an event stream has no end
	return &fixture{T: t, srv: srv, client: client, token: owner, receiver: r}
}

// as returns the same server with another token.
func (f *fixture) as(token string) *fixture {
	other := *f
	other.token = token
	return &other
}

// reply is a complete response.
type reply struct {
	f       *fixture
	request string
	status  int
	header  http.Header
	raw     []byte
}

func (f *fixture) get(path string) reply    { f.Helper(); return f.do(http.MethodGet, path, "") }
func (f *fixture) delete(path string) reply { f.Helper(); return f.do(http.MethodDelete, path, "") }

func (f *fixture) post(path, body string) reply { f.Helper(); return f.do(http.MethodPost, path, body) }

func (f *fixture) do(method, path, body string) reply {
	f.Helper()
	return f.send(f.request(method, path, body))
}

func (f *fixture) request(method, path, body string) *http.Request {
	f.Helper()
	return rawhttp.NewRequest(f, method, f.srv.URL()+path, f.token, body)
}

func (f *fixture) send(req *http.Request) reply {
	f.Helper()
	res, body := rawhttp.Send(f, f.client, req)
	if !strings.HasPrefix(req.URL.Path, "/_") && res.Header.Get("X-Request-Id") == "" {
		f.Errorf("%s %s: the response has no X-Request-Id", req.Method, req.URL.Path)
	}
	return reply{f, req.Method + " " + req.URL.Path, res.StatusCode, res.Header, []byte(body)}
}

// is checks the status and compares the body with a pattern. "" means no body.
func (r reply) is(status int, pattern string) reply {
	r.f.Helper()
	if r.status != status {
		r.f.Fatalf("%s: status %d, want %d: %s", r.request, r.status, status, r.raw)
	}
	if pattern == "" {
		if len(r.raw) != 0 {
			r.f.Errorf("%s: the body is %q, want none", r.request, r.raw)
		}
		return r
	}
	assert.Equal(r.f, "application/json", r.header.Get("Content-Type"), "%s: the content type", r.request)
	r.f.matches(r.request, r.json(), pattern)
	return r
}

// ok checks that the request succeeded.
func (r reply) ok() reply {
	r.f.Helper()
	require.Equal(r.f, 2, r.status/100, "%s: status %d: %s", r.request, r.status, r.raw)
	return r
}

// problem checks that the response is an error with a detail of this type and location.
func (r reply) problem(status int, kind, loc string) reply {
	r.f.Helper()
	r.is(status, `{"detail":"<array>"}`)
	var body struct {
		Detail []struct {
			Loc  []any
			Msg  string
			Type string
		}
	}
	r.f.must(json.Unmarshal(r.raw, &body))
	for _, d := range body.Detail {
		if d.Type == kind && d.Msg != "" && strings.Trim(strings.ReplaceAll(fmt.Sprint(d.Loc), " ", "."), "[]") == loc {
			return r
		}
	}
	r.f.Errorf("%s: want a detail of type %s at %s: %s", r.request, kind, loc, r.raw)
	return r
}

func (r reply) json() any {
	r.f.Helper()
	value, err := parse(r.raw)
	if err != nil {
		r.f.Fatalf("%s: %v: %s", r.request, err, r.raw)
	}
	return value
}

// int returns a field that is an integer.
func (r reply) int(name string) int64 {
	r.f.Helper()
	n, ok := r.json().(map[string]any)[name].(json.Number)
	i, err := n.Int64()
	if !ok || err != nil {
		r.f.Fatalf("%s: %s is not an integer: %s", r.request, name, r.raw)
	}
	return i
}

// text returns a field that is a string.
func (r reply) text(name string) string {
	r.f.Helper()
	s, ok := r.json().(map[string]any)[name].(string)
	if !ok {
		r.f.Fatalf("%s: %s is not a string: %s", r.request, name, r.raw)
	}
	return s
}

// column returns one field of every item of a page.
func (r reply) column(name string) []string {
	r.f.Helper()
	r.is(http.StatusOK, `{"data":"<array>","…":0}`)
	var out []string
	for _, item := range r.json().(map[string]any)["data"].([]any) {
		out = append(out, fmt.Sprint(item.(map[string]any)[name]))
	}
	return out
}

// want compares a value with the expected value.
func want[T comparable](f *fixture, what string, got, want T) {
	f.Helper()
	if got != want {
		f.Errorf("%s: got %v, want %v", what, got, want)
	}
}

// eventNames returns the names of all events in openapi.yaml, sorted.
func eventNames() (names []string) {
	doc, err := document()
	if err != nil {
		panic(err)
	}
	for _, name := range doc.Components.Schemas["EventName"].Value.Enum {
		names = append(names, name.(string))
	}
	slices.Sort(names)
	return names
}
