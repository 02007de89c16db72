package mcp_test

import (
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"net/http"
	"strings"
	"testing"
	"testing/synctest"
	"time"

	"example.com/emailplatform/client"
	"example.com/emailplatform/mcp"
	"example.com/emailplatform/mockserver"
)

type roundTripper func(*http.Request) (*http.Response, error)

func (f roundTripper) RoundTrip(r *http.Request) (*http.Response, error) { return f(r) }

// answering returns a platform that always returns the same response.
func answering(status int, header http.Header, body string) http.RoundTripper {
	return roundTripper(func(r *http.Request) (*http.Response, error) {
		h := http.Header{"Content-Type": {"application/json"}}
		for name := range header {
			h[name] = header[name]
		}
		return &http.Response{StatusCode: status, Header: h, Body: io.NopCloser(strings.NewReader(body)), Request: r}, nil
	})
}

const repair = "Nothing was done. Correct these arguments and call again:\n- "

var wrongArguments = []struct {
	name, tool string
	in         any
	want       string
}{
	{name: "nothing", tool: "contacts", want: "operation: is required, \"list\" or \"create\"\n- list_id: is required"},
	{name: "no operation", tool: "contacts", in: args{"list_id": 7}, want: "operation: is required, \"list\" or \"create\""},
	{name: "another operation", tool: "tags", in: args{"operation": "create"}, want: `operation: must be "list", got "create"`},
	{
		name: "another operation of contacts",
		tool: "contacts", in: args{"operation": "delete", "list_id": 1},
		want: `operation: must be "list" or "create", got "delete"`,
	},
	{
		name: "an operation that is no string",
		tool: "contacts", in: args{"operation": 1, "list_id": 1}, want: "operation: must be a string, got 1",
	},
	{name: "no list", tool: "contacts", in: args{"operation": "list"}, want: `list_id: is required for operation "list"`},
	{
		name: "a list by name",
		tool: "contacts", in: args{"operation": "list", "list_id": "Newsletter"},
		want: `list_id: must be an integer, got the string "Newsletter"`,
	},
	{
		name: "a list id in words",
		tool: "contacts", in: args{"operation": "list", "list_id": "seven"},
		want: `list_id: must be an integer, got the string "seven"`,
	},
	{
		name: "a list id that is JSON, but no number",
		tool: "contacts", in: args{"operation": "list", "list_id": "true"},
		want: `list_id: must be an integer, got the string "true"`,
	},
	{name: "list 0", tool: "contacts", in: args{"operation": "list", "list_id": 0}, want: "list_id: must be at least 1, got 0"},
	{name: "half a list", tool: "contacts", in: args{"operation": "list", "list_id": 1.5}, want: "list_id: must be an integer, got 1.5"},
	{
		name: "a list id beyond 64 bits",
		tool: "contacts", in: args{"operation": "list", "list_id": json.Number("1e300")},
		want: "list_id: must be an integer, got 1e300",
	},
	{
		name: "a list id that a float does not hold exactly",
		tool: "contacts", in: args{"operation": "list", "list_id": json.Number("9007199254740993.0")},
		want: "list_id: must be an integer, got 9007199254740993.0",
	},
	{name: "page 0", tool: "contacts", in: args{"operation": "list", "list_id": 1, "page": 0}, want: "page: must be at least 1, got 0"},
	{
		name: "too large a page",
		tool: "tags", in: args{"operation": "list", "per_page": 101},
		want: "per_page: must be at most 100, got 101",
	},
	{
		name: "no address",
		tool: "contacts", in: args{"operation": "create", "list_id": 1},
		want: `email: is required for operation "create"`,
	},
	{
		name: "an empty address",
		tool: "contacts", in: args{"operation": "create", "list_id": 1, "email": ""},
		want: `email: is required for operation "create"`,
	},
	{
		name: "attributes as an array",
		tool: "contacts",
		in:   args{"operation": "create", "list_id": 1, "email": "a@b.c", "custom_attributes": []any{1}},
		want: `custom_attributes: must be an object such as {"first_name":"Ada"}, got an array`,
	},
	{
		name: "an attribute that is a number",
		tool: "contacts",
		in:   args{"operation": "create", "list_id": 1, "email": "a@b.c", "custom_attributes": args{"age": 36}},
		want: `custom_attributes: the value of "age" must be a string, got 36`,
	},
	{
		name: "an attribute that is null",
		tool: "contacts",
		in:   args{"operation": "create", "list_id": 1, "email": "a@b.c", "custom_attributes": args{"age": nil}},
		want: `custom_attributes: the value of "age" must be a string, got null`,
	},
	{
		name: "an attribute without a name",
		tool: "contacts",
		in:   args{"operation": "create", "list_id": 1, "email": "a@b.c", "custom_attributes": args{"": "x"}},
		want: "custom_attributes: a name is empty",
	},
	{
		name: "an address when listing",
		tool: "contacts", in: args{"operation": "list", "list_id": 1, "email": "a@b.c"},
		want: `email: is not allowed for operation "list"; omit it`,
	},
	{
		name: "a page when creating",
		tool: "contacts", in: args{"operation": "create", "list_id": 1, "email": "a@b.c", "page": 2},
		want: `page: is not allowed for operation "create"; omit it`,
	},
	{
		name: "an unknown argument",
		tool: "tags", in: args{"operation": "list", "limit": 5},
		want: `unknown arguments: "limit"; the arguments are operation, page, per_page`,
	},
	{name: "an array", tool: "tags", in: []any{"list"}, want: "the arguments must be a JSON object"},
	{
		name: "all at once",
		tool: "contacts",
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
	s := connect(t, mcp.NewServer(newClient(t, unreachable, "token"), mcp.Options{}))
	for _, row := range wrongArguments {
		t.Run(row.name, func(t *testing.T) {
			if got := s.fails(t, row.tool, row.in); got != repair+row.want {
				t.Errorf("\n got %s\nwant %s", got, repair+row.want)
			}
		})
	}
}

// TestPlatformRejects: errors of the platform refer to the arguments.
func TestPlatformRejects(t *testing.T) {
	t.Parallel()
	p := newPlatform(t, mockserver.Token{Value: "full"}, mockserver.Token{Value: "reader", ReadOnly: true},
		mockserver.Token{Value: "other", AccountID: 2})
	owner := newClient(t, p.Transport(), "full")
	list := newList(t, owner)
	if _, err := owner.Contacts.Create(t.Context(), list, client.ContactCreate{Email: "ada@example.com"}); err != nil {
		t.Fatal(err)
	}
	for _, row := range []struct {
		name, token string
		in          args
		want        []string
	}{
		{
			name:  "no address",
			token: "full", in: args{"operation": "create", "email": "ada"},
			want: []string{repair + "email: not an email address (value_error)"},
		},
		{
			name:  "a sort that is none",
			token: "full", in: args{"operation": "list", "sort": "age:up"},
			want: []string{repair + "sort: ", "the field is id, email, status or subscribed_on"},
		},
		{
			name:  "a filter that is none",
			token: "full", in: args{"operation": "list", "filter": "age"},
			want: []string{repair + "filter: ", "the field is status, email, tag or interest"},
		},
		{
			name:  "the address again",
			token: "full", in: args{"operation": "create", "email": "ADA@example.com"},
			want: []string{
				"is on the list already", `operation "list" and filter "email:ADDRESS"`,
				"email: the list already contains ada@example.com, with the status active (contact_exists)",
			},
		},
		{
			name:  "another list",
			token: "full", in: args{"operation": "list", "list_id": 999},
			want: []string{"no list with this list_id", "- list_id: "},
		},
		{name: "the list of another account", token: "other", in: args{"operation": "list"}, want: []string{"no list with this list_id"}},
		{
			name:  "a token that only reads",
			token: "reader", in: args{"operation": "create", "email": "grace@example.com"},
			want: []string{"lacks the required permission", "may only read"},
		},
		{
			name:  "an unknown token",
			token: "unknown-token", in: args{"operation": "list"},
			want: []string{"does not accept the access token", "Calling again does not help"},
		},
	} {
		t.Run(row.name, func(t *testing.T) {
			t.Parallel()
			s := connect(t, mcp.NewServer(newClient(t, p.Transport(), row.token), mcp.Options{}))
			if row.in["list_id"] == nil {
				row.in["list_id"] = list
			}
			got := s.fails(t, "contacts", row.in)
			for _, want := range row.want {
				if !strings.Contains(got, want) {
					t.Errorf("does not say %q:\n%s", want, got)
				}
			}
			if !strings.Contains(got, "(request req-") || strings.Contains(got, row.token+"-token") {
				t.Errorf("names no request:\n%s", got)
			}
		})
	}
}

// TestPlatformFails: unusual responses. The token is never shown.
func TestPlatformFails(t *testing.T) {
	t.Parallel()
	const token = "very-secret-token"
	lost := roundTripper(func(*http.Request) (*http.Response, error) {
		return nil, errors.New("connection reset, Authorization: Bearer " + token)
	})
	create := args{"operation": "create", "list_id": 1, "email": "a@example.com"}
	list := args{"operation": "list", "list_id": 1}
	echo := `{"detail":[{"loc":["header","authorization"],"msg":"bad token ` + token + `","type":"x"}]}`
	for _, row := range []struct {
		name     string
		platform http.RoundTripper
		in       args
		want     string
	}{
		{
			name: "too many requests", platform: answering(429, http.Header{"Retry-After": {"17"}}, `{}`), in: list,
			want: "Nothing was done: too many requests. Wait 17 seconds, then make the same call again.",
		},
		{
			name: "too many requests, for how long is not said", platform: answering(429, nil, `{}`), in: create,
			want: "Nothing was done: too many requests. Wait a minute",
		},
		{
			name:     "a failure when listing",
			platform: answering(500, nil, `{}`), in: list, want: "cannot be used right now. Nothing was changed",
		},
		{
			name:     "a failure when creating",
			platform: answering(500, nil, `{}`), in: create,
			want: "It is not known whether the contact was created. Do not create it again before you have looked",
		},
		{name: "a lost connection when creating", platform: lost, in: create, want: "It is not known whether the contact was created."},
		{name: "a lost connection when listing", platform: lost, in: list, want: "cannot be used right now"},
		{
			name:     "a page of a proxy",
			platform: answering(200, http.Header{"Content-Type": {"text/html"}}, "<html>"), in: list,
			want: "response is invalid",
		},
		{name: "a page without its items", platform: answering(200, nil, `{"error":"no"}`), in: list, want: "response is invalid"},
		{
			name:     "another site",
			platform: answering(404, http.Header{"Content-Type": {"text/html"}}, "<html>"), in: list,
			want: "cannot be used right now",
		},
		{name: "a repeated token, 422", platform: answering(422, nil, echo), in: create, want: "Correct these arguments"},
		{name: "a repeated token, 401", platform: answering(401, nil, echo), in: create, want: "does not accept the access token"},
		{name: "a repeated token, 403", platform: answering(403, nil, echo), in: create, want: "lacks the required permission"},
		{name: "a repeated token in no format", platform: answering(418, nil, token), in: create, want: "cannot be used right now"},
		{name: "too large a request", platform: answering(413, nil, `{}`), in: create, want: "Correct these arguments"},
		{
			name:     "a fault of the whole body",
			platform: answering(422, nil, `{"detail":[{"loc":["body"],"msg":"too deep","type":"x"}]}`), in: create,
			want: repair + "body: too deep (x)",
		},
		{
			name:     "a conflict of another kind",
			platform: answering(409, nil, `{"detail":"list is locked"}`), in: create,
			want: repair + "list is locked",
		},
	} {
		t.Run(row.name, func(t *testing.T) {
			t.Parallel()
			s := connect(t, mcp.NewServer(newClient(t, row.platform, token), mcp.Options{}))
			got := s.fails(t, "contacts", row.in)
			if !strings.Contains(got, row.want) {
				t.Errorf("does not say %q:\n%s", row.want, got)
			}
			if strings.Contains(got, token) {
				t.Errorf("shows the token:\n%s", got)
			}
		})
	}
}

func TestErrorTextLimit(t *testing.T) {
	t.Parallel()
	detail := `{"loc":["body","email"],"msg":"` + strings.Repeat("no ", 1000) + `","type":"x"}`
	body := `{"detail":[` + strings.Repeat(detail+",", 99) + detail + `]}`
	s := connect(t, mcp.NewServer(newClient(t, answering(422, nil, body), "token"), mcp.Options{}))
	got := s.fails(t, "contacts", args{"operation": "create", "list_id": 1, "email": "a@example.com"})
	if len(got) > 8000 || !strings.Contains(got, "\n- and 80 more") {
		t.Errorf("%d bytes: %s", len(got), got)
	}
}

// TestCallTimeout: the platform does not respond.
func TestCallTimeout(t *testing.T) {
	t.Parallel()
	for _, row := range []struct{ operation, want string }{
		{"list", "The platform did not answer in time. Nothing was changed; make the same call again later."},
		{"create", "It is not known whether the contact was created."},
	} {
		t.Run(row.operation, func(t *testing.T) {
			t.Parallel()
			synctest.Test(t, func(t *testing.T) {
				silent := roundTripper(func(r *http.Request) (*http.Response, error) {
					<-r.Context().Done()
					return nil, r.Context().Err()
				})
				s := connect(t, mcp.NewServer(newClient(t, silent, "token"), mcp.Options{}))
				in := args{"operation": row.operation, "list_id": 1}
				if row.operation == "create" {
					in["email"] = "a@example.com"
				}
				start := time.Now()
				got := s.fails(t, "contacts", in)
				if d := time.Since(start); d != 45*time.Second {
					t.Errorf("ended after %v", d)
				}
				if !strings.Contains(got, row.want) {
					t.Errorf("got %s", got)
				}
				if err := s.Close(); err != nil {
					t.Error(err)
				}
			})
		})
	}
}

// FuzzArguments: both tools return a result or an error with a correction.
func FuzzArguments(f *testing.F) {
	for _, seed := range []string{
		`{"operation":"list"}`,
		`{"operation":"create","list_id":1,"email":"a@example.com","custom_attributes":{"a":"b"}}`,
		`{"operation":"list","list_id":9007199254740993,"page":1e400,"per_page":-0.0}`,
		`{"operation":["list"],"list_id":null}`, `[]`, `null`, `{"a":{"b":[{}]}}`,
		`{"operation":"list","operation":"create"}`,
	} {
		f.Add(seed)
	}
	p := newPlatform(f)
	c := newClient(f, p.Transport(), p.Token())
	newList(f, c)
	s := connect(f, mcp.NewServer(c, mcp.Options{}))
	f.Fuzz(func(t *testing.T, in string) {
		if !json.Valid([]byte(in)) {
			return // the protocol refuses it before a tool is called
		}
		for _, tool := range []string{"contacts", "tags"} {
			text, _, isError := s.call(t.Context(), t, tool, json.RawMessage(in))
			if text == "" || isError && !strings.HasPrefix(text, "Nothing was done") {
				t.Errorf("%s %s: %v %s", tool, in, isError, text)
			}
		}
	})
}

// TestLargeIDs are not changed on their way, as they would be by a float64.
func TestLargeIDs(t *testing.T) {
	t.Parallel()
	var path string
	s := connect(t, mcp.NewServer(newClient(t, roundTripper(func(r *http.Request) (*http.Response, error) {
		path = r.URL.Path
		return answering(200, nil, `{"data":[]}`).RoundTrip(r)
	}), "token"), mcp.Options{}))
	const id = int64(9007199254740993)
	s.ok(t, "contacts", args{"operation": "list", "list_id": json.Number(fmt.Sprint(id))})
	if path != fmt.Sprintf("/lists/%d/contacts", id) {
		t.Errorf("asked for %s", path)
	}
}
