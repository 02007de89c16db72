package mcp_test

import (
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"maps"
	"net/http"
	"strings"
	"testing"
	"testing/synctest"
	"time"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"example.com/emailplatform/client"
	"example.com/emailplatform/mcp"
	"example.com/emailplatform/mockserver"
)

type roundTripper func(*http.Request) (*http.Response, error)

func (f roundTripper) RoundTrip(r *http.Request) (*http.Response, error) { return f(r) }

// respondWith returns a platform that always returns the same response.
func respondWith(status int, header http.Header, body string) http.RoundTripper {
	return roundTripper(func(r *http.Request) (*http.Response, error) {
		h := http.Header{"Content-Type": {"application/json"}}
		for name := range header {
			h[name] = header[name]
		}
		return &http.Response{StatusCode: status, Header: h, Body: io.NopCloser(strings.NewReader(body)), Request: r}, nil
	})
}

const damaged = "must be Unicode text; a character was damaged, for example by a conversion from Latin-1"

const repair = "Nothing was changed. Correct these arguments and call again:\n- "

// listing returns the arguments of a call that lists contacts, with changes.
func listing(change args) args { return changed(args{"operation": "list", "list_id": 1}, change) }

// creating returns the arguments of a call that creates a contact, with changes.
func creating(change args) args {
	return changed(args{"operation": "create", "list_id": 1, "email": "a@example.com"}, change)
}

func changed(in, change args) args {
	maps.Copy(in, change)
	return in
}

// withList returns the arguments of a call that lists the contacts of a list.
func withList(id any) args { return listing(args{"list_id": id}) }

// withAttributes returns the arguments of a call that creates a contact with attributes.
func withAttributes(attributes any) args { return creating(args{"custom_attributes": attributes}) }

var wrongArguments = []struct {
	name string
	in   any
	want string
}{
	{name: "nothing", want: "operation: is required, \"list\" or \"create\"\n- list_id: is required"},
	{name: "an array", in: []any{"list"}, want: "the arguments must be a JSON object"},
	{name: "no operation", in: args{"list_id": 7}, want: "operation: is required, \"list\" or \"create\""},
	{
		name: "another operation", in: listing(args{"operation": "delete"}),
		want: `operation: must be "list" or "create", got "delete"`,
	},
	{name: "an operation that is not a string", in: listing(args{"operation": 1}), want: "operation: must be a string, got 1"},
	{name: "a list by name", in: withList("Newsletter"), want: `list_id: must be an integer, got the string "Newsletter"`},
	{name: "a list id that is JSON, not a number", in: withList("true"), want: `list_id: must be an integer, got the string "true"`},
	{name: "a list id that is not JSON", in: withList("+7"), want: `list_id: must be an integer, got the string "+7"`},
	{name: "list 0", in: withList(0), want: "list_id: must be at least 1, got 0"},
	{name: "half a list", in: withList(1.5), want: "list_id: must be an integer, got 1.5"},
	{name: "a list id beyond 64 bits", in: withList(json.Number("1e300")), want: "list_id: must be an integer, got 1e300"},
	{
		name: "a list id that a float does not hold exactly", in: withList(json.Number("9007199254740993.0")),
		want: "list_id: must be an integer, got 9007199254740993.0",
	},
	{name: "too large a page", in: listing(args{"per_page": 101}), want: "per_page: must be at most 100, got 101"},
	{name: "an empty address", in: creating(args{"email": ""}), want: `email: is required for operation "create"`},
	{
		name: "attributes as an array", in: withAttributes([]any{1}),
		want: `custom_attributes: must be an object such as {"first_name":"Ada"}, got an array`,
	},
	{
		name: "attributes as an array in a string", in: withAttributes("[1]"),
		want: `custom_attributes: must be an object such as {"first_name":"Ada"}, got the string "[1]"`,
	},
	{
		name: "attributes as a boolean in a string", in: withAttributes("true"),
		want: `custom_attributes: must be an object such as {"first_name":"Ada"}, got the string "true"`,
	},
	{
		name: "an attribute that is an object", in: withAttributes(args{"age": args{"years": 36}}),
		want: `custom_attributes: the value of "age" must be a string, got an object`,
	},
	{
		name: "an address in Latin-1", in: json.RawMessage("{\"operation\":\"create\",\"list_id\":1,\"email\":\"jos\xe9@example.com\"}"),
		want: "email: " + damaged,
	},
	{name: "a filter with half a pair", in: listing(args{"filter": json.RawMessage(`"tag:\udce9"`)}), want: "filter: " + damaged},
	{name: "an attribute with half a pair", in: withAttributes(json.RawMessage(`{"a":"\ud83d"}`)), want: "custom_attributes: " + damaged},
	{name: "attributes as text with half a pair", in: withAttributes(`{"a":"\ud83d\u00e9"}`), want: "custom_attributes: " + damaged},
	{name: "an attribute name in Latin-1", in: json.RawMessage("{\"operation\":\"create\",\"list_id\":1,\"email\":\"a@example.com\"," +
		"\"custom_attributes\":{\"\xe9\":\"x\"}}"), want: "custom_attributes: " + damaged},
	{name: "an attribute without a name", in: withAttributes(args{"": "x"}), want: "custom_attributes: a name is empty"},
	{name: "an address when listing", in: listing(args{"email": "a"}), want: `email: is not allowed for operation "list"; omit it`},
	{
		name: "all at once",
		in:   args{"operation": "create", "email": true, "page": -1, "x": args{}, "y": args{"z": 1}},
		want: "email: must be a string, got true\n" +
			"- page: must be at least 1, got -1\n" +
			"- list_id: is required for operation \"create\"\n" +
			"- page: is not allowed for operation \"create\"; omit it\n" +
			"- unknown arguments: \"y\"; " +
			"the arguments are operation, list_id, page, per_page, sort, filter, email, custom_attributes",
	},
}

// TestWrongArguments: each error says how to correct the argument, and no request is sent.
func TestWrongArguments(t *testing.T) {
	t.Parallel()
	unreachable := roundTripper(func(r *http.Request) (*http.Response, error) {
		t.Errorf("a request was sent: %s %s", r.Method, r.URL)
		return nil, errors.New("unreachable")
	})
	s := connectTo(t, unreachable)
	for _, row := range wrongArguments {
		t.Run(row.name, func(t *testing.T) {
			assert.Equal(t, repair+row.want, s.fails(t, "contacts", row.in))
		})
	}
}

// TestPlatformRejects: errors of the platform refer to the arguments and contain the id of the request.
func TestPlatformRejects(t *testing.T) {
	t.Parallel()
	p := newPlatform(t, mockserver.Token{Value: "full"}, mockserver.Token{Value: "reader", ReadOnly: true},
		mockserver.Token{Value: "other", AccountID: 2})
	owner := newClient(t, p.Transport(), "full")
	_, err := owner.Contacts.Create(t.Context(), newList(t, owner), client.ContactCreate{Email: "ada@example.com"})
	require.NoError(t, err)
	for _, row := range []struct {
		name, token string
		in          args
		want        string // parts of the text, separated by …
	}{
		{"no address", "full", creating(args{"email": "ada"}), repair + "email: not an email address (value_error)"},
		{"an invalid sort", "full", listing(args{"sort": "age:up"}), repair + "sort: …the field is id, email, status or "},
		{"an invalid filter", "full", listing(args{"filter": "age"}), repair + "filter: …the field is status, email, tag or "},
		{
			"the address again", "full", creating(args{"email": "ADA@example.com"}),
			`the list already contains…operation "list" and filter "email:ADDRESS"…` +
				"email: the list already contains ada@example.com, with the status active (contact_exists)",
		},
		{"another list", "full", withList(999), "no list with this list_id…- list_id: "},
		{"the list of another account", "other", listing(nil), "no list with this list_id"},
		{"a read-only token", "reader", creating(nil), "lacks the required permission…read-only"},
		{"an unknown token", "unknown-token", listing(nil), "rejected the access token…Do not retry"},
	} {
		t.Run(row.name, func(t *testing.T) {
			t.Parallel()
			s := connect(t, mcp.NewServer(newClient(t, p.Transport(), row.token), mcp.Options{}))
			got := s.fails(t, "contacts", row.in)
			for want := range strings.SplitSeq(row.want+"…(request req-", "…") {
				assert.Contains(t, got, want, "does not say")
			}
		})
	}
}

// TestPlatformFails: each failure of the platform causes an error that never contains the token.
func TestPlatformFails(t *testing.T) {
	t.Parallel()
	const token = "very-secret-token"
	lost := roundTripper(func(*http.Request) (*http.Response, error) {
		return nil, errors.New("connection reset, Authorization: Bearer " + token)
	})
	list, create, html := listing(nil), creating(nil), http.Header{"Content-Type": {"text/html"}}
	echo := `{"detail":[{"loc":["header","authorization"],"msg":"bad token ` + token + `","type":"x"}]}`
	whole := `{"detail":[{"loc":["body"],"msg":"too deep","type":"x"}]}`
	for _, row := range []struct {
		name     string
		platform http.RoundTripper
		in       args
		want     string
	}{
		{
			"too many requests", respondWith(429, http.Header{"Retry-After": {"17"}}, `{}`), list,
			"Nothing was changed, because too many requests were sent. Wait 17 seconds, then make the same call again.",
		},
		{"too many requests, no Retry-After", respondWith(429, nil, `{}`), create, "too many requests were sent. Wait a minute"},
		{"a failure when listing", respondWith(500, nil, `{}`), list, "The platform is unavailable. Nothing was changed"},
		{"a failure when creating", respondWith(500, nil, `{}`), create, "Before you create it again, look for it"},
		{"a lost connection when creating", lost, create, "The outcome is unknown"},
		{"a page of a proxy", respondWith(200, html, "<html>"), list, "response is invalid"},
		{"another site", respondWith(404, html, "<html>"), list, "The platform is unavailable"},
		{"a repeated token, 422", respondWith(422, nil, echo), create, "Correct these arguments"},
		{"a repeated token, 401", respondWith(401, nil, echo), create, "rejected the access token"},
		{"a repeated token in no format", respondWith(418, nil, token), create, "The platform is unavailable"},
		{"too large a request", respondWith(413, nil, `{}`), create, "Correct these arguments"},
		{"an error of the whole body", respondWith(422, nil, whole), create, repair + "body: too deep (x)"},
		{"a conflict of another kind", respondWith(409, nil, `{"detail":"list is locked"}`), create, repair + "list is locked"},
	} {
		t.Run(row.name, func(t *testing.T) {
			t.Parallel()
			s := connect(t, mcp.NewServer(newClient(t, row.platform, token), mcp.Options{}))
			if got := s.fails(t, "contacts", row.in); !strings.Contains(got, row.want) || strings.Contains(got, token) {
				t.Errorf("does not contain %q, or contains the token:\n%s", row.want, got)
			}
		})
	}
}

// TestErrorTextLimit: an error lists at most 20 problems.
func TestErrorTextLimit(t *testing.T) {
	t.Parallel()
	detail := `{"loc":["body","email"],"msg":"` + strings.Repeat("no ", 1000) + `","type":"x"}`
	s := connectTo(t, respondWith(422, nil, `{"detail":[`+strings.Repeat(detail+",", 99)+detail+`]}`))
	got := s.fails(t, "contacts", creating(nil))
	if len(got) > 8000 || !strings.Contains(got, "\n- and 80 more") {
		t.Errorf("%d bytes: %s", len(got), got)
	}
	in := creating(nil)
	for i := range 30 {
		in[fmt.Sprint("x", i)] = 1
	}
	got = s.fails(t, "contacts", in)
	if strings.Count(got, `"x`) != 20 || !strings.Contains(got, " and 10 more; the arguments are operation, ") {
		t.Error(got)
	}
}

// TestCallTimeout: a call ends after 45 s if the platform does not respond.
func TestCallTimeout(t *testing.T) {
	t.Parallel()
	silent := roundTripper(func(r *http.Request) (*http.Response, error) {
		<-r.Context().Done()
		return nil, r.Context().Err()
	})
	synctest.Test(t, func(t *testing.T) {
		s := connectTo(t, silent)
		for want, in := range map[string]args{
			"The platform did not respond in time. Nothing was changed; make the same call again later.": listing(nil),
			"The outcome is unknown": creating(nil),
		} {
			start := time.Now()
			got := s.fails(t, "contacts", in)
			if d := time.Since(start); d != 45*time.Second || !strings.Contains(got, want) {
				t.Errorf("ended after %v: %s; want %s", d, got, want)
			}
		}
		require.NoError(t, s.Close())
	})
}

// FuzzArguments: both tools return a result or an error with a correction.
func FuzzArguments(f *testing.F) {
	for _, seed := range []string{
		`{"operation":"list"}`,
		`{"operation":"create","list_id":1,"email":"a@example.com","custom_attributes":{"a":"b"}}`,
		`{"operation":"list","list_id":9007199254740993,"page":1e400,"per_page":-0.0}`,
		`{"operation":["list"],"list_id":null}`, `[]`, `null`, `{"a":{"b":[{}]}}`,
		`{"operation":"list","operation":"create"}`,
		`{"operation":"create","list_id":1,"email":"b@example.com","custom_attributes":{"a":1,"a":"b"}}`,
	} {
		f.Add(seed)
	}
	_, _, _, s := newAccount(f)
	f.Fuzz(func(t *testing.T, in string) {
		if !json.Valid([]byte(in)) {
			return // the server rejects invalid JSON before it calls a tool
		}
		for _, tool := range []string{"contacts", "tags"} {
			text, _, isError := s.call(t.Context(), t, tool, json.RawMessage(in))
			if text == "" || isError && !strings.HasPrefix(text, "Nothing was changed") {
				t.Errorf("%s %s: %v %s", tool, in, isError, text)
			}
		}
	})
}

// TestDuplicateNames: the last of several attributes with the same name counts, as in most JSON decoders. A surrogate pair
// and an escaped backslash are not damaged text.
func TestDuplicateNames(t *testing.T) {
	t.Parallel()
	_, _, list, s := newAccount(t)
	text, _ := s.ok(t, "contacts", creating(args{"list_id": list, "custom_attributes": json.RawMessage(`{"a":1,"a":"b \ud83d\ude00 \\ud800"}`)}))
	assert.Contains(t, text, `a="b 😀 \\ud800"`)
}

// TestLargeIDs: an id that a float64 cannot hold reaches the platform unchanged.
func TestLargeIDs(t *testing.T) {
	t.Parallel()
	var path string
	s := connectTo(t, roundTripper(func(r *http.Request) (*http.Response, error) {
		path = r.URL.Path
		return respondWith(200, nil, `{"data":[]}`).RoundTrip(r)
	}))
	const id = int64(9007199254740993)
	s.ok(t, "contacts", listing(args{"list_id": json.Number(fmt.Sprint(id))}))
	assert.Equal(t, fmt.Sprintf("/lists/%d/contacts", id), path, "asked for")
}
