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
func (a reply) is(status int, pattern string) reply {
	a.f.Helper()
	if a.status != status {
		a.f.Fatalf("%s: status %d, want %d: %s", a.request, a.status, status, a.raw)
	}
	if pattern == "" {
		if len(a.raw) != 0 {
			a.f.Errorf("%s: the body is %q, want none", a.request, a.raw)
		}
		return a
	}
	assert.Equal(a.f, "application/json", a.header.Get("Content-Type"), "%s: the content type", a.request)
	a.f.matches(a.request, a.json(), pattern)
	return a
}

// ok checks that the request succeeded.
func (a reply) ok() reply {
	a.f.Helper()
	require.Equal(a.f, 2, a.status/100, "%s: status %d: %s", a.request, a.status, a.raw)
	return a
}

// problem checks that the response is an error with a detail of this type and location.
func (a reply) problem(status int, kind, loc string) reply {
	a.f.Helper()
	a.is(status, `{"detail":"<array>"}`)
	var body struct {
		Detail []struct {
			Loc  []any
			Msg  string
			Type string
		}
	}
	a.f.must(json.Unmarshal(a.raw, &body))
	for _, d := range body.Detail {
		if d.Type == kind && d.Msg != "" && strings.Trim(strings.ReplaceAll(fmt.Sprint(d.Loc), " ", "."), "[]") == loc {
			return a
		}
	}
	a.f.Errorf("%s: want a detail of type %s at %s: %s", a.request, kind, loc, a.raw)
	return a
}

func (a reply) json() any {
	a.f.Helper()
	value, err := parse(a.raw)
	if err != nil {
		a.f.Fatalf("%s: %v: %s", a.request, err, a.raw)
	}
	return value
}

// int returns a field that is an integer.
func (a reply) int(name string) int64 {
	a.f.Helper()
	n, ok := a.json().(map[string]any)[name].(json.Number)
	i, err := n.Int64()
	if !ok || err != nil {
		a.f.Fatalf("%s: %s is not an integer: %s", a.request, name, a.raw)
	}
	return i
}

// text returns a field that is a string.
func (a reply) text(name string) string {
	a.f.Helper()
	s, ok := a.json().(map[string]any)[name].(string)
	if !ok {
		a.f.Fatalf("%s: %s is not a string: %s", a.request, name, a.raw)
	}
	return s
}

// column returns one field of every item of a page.
func (a reply) column(name string) []string {
	a.f.Helper()
	a.is(http.StatusOK, `{"data":"<array>","…":0}`)
	var out []string
	for _, item := range a.json().(map[string]any)["data"].([]any) {
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
