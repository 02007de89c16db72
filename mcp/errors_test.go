package mcp_test

import (
	"cmp"
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

const repair = "Nothing was changed. Correct these arguments and call again:\n- "

// listing returns the arguments of a call that lists contacts, with changes.
func listing(change args) args {
	in := args{"operation": "list", "list_id": 1}
	maps.Copy(in, change)
	return in
}

// creating returns the arguments of a call that creates a contact, with changes.
func creating(change args) args {
	in := args{"operation": "create", "list_id": 1, "email": "a@example.com"}
	maps.Copy(in, change)
	return in
}

var wrongArguments = []struct {
	name, tool string // the default tool is contacts
	in         any
	want       string
}{
	{name: "nothing", want: "operation: is required, \"list\" or \"create\"\n- list_id: is required"},
	{name: "no operation", in: args{"list_id": 7}, want: "operation: is required, \"list\" or \"create\""},
	{name: "another operation", tool: "tags", in: args{"operation": "create"}, want: `operation: must be "list", got "create"`},
	{name: "another operation of contacts", in: listing(args{"operation": "delete"}), want: `operation: must be "list" or "create", got "delete"`},
	{name: "an operation that is not a string", in: listing(args{"operation": 1}), want: "operation: must be a string, got 1"},
	{name: "no list", in: args{"operation": "list"}, want: `list_id: is required for operation "list"`},
	{name: "a list by name", in: listing(args{"list_id": "Newsletter"}), want: `list_id: must be an integer, got the string "Newsletter"`},
	{name: "a list id that is JSON, but not a number", in: listing(args{"list_id": "true"}), want: `list_id: must be an integer, got the string "true"`},
	{name: "list 0", in: listing(args{"list_id": 0}), want: "list_id: must be at least 1, got 0"},
	{name: "half a list", in: listing(args{"list_id": 1.5}), want: "list_id: must be an integer, got 1.5"},
	{name: "a list id beyond 64 bits", in: listing(args{"list_id": json.Number("1e300")}), want: "list_id: must be an integer, got 1e300"},
	{
		name: "a list id that a float does not hold exactly",
		in:   listing(args{"list_id": json.Number("9007199254740993.0")}),
		want: "list_id: must be an integer, got 9007199254740993.0",
	},
	{name: "page 0", in: listing(args{"page": 0}), want: "page: must be at least 1, got 0"},
	{name: "too large a page", tool: "tags", in: args{"operation": "list", "per_page": 101}, want: "per_page: must be at most 100, got 101"},
	{name: "an empty address", in: creating(args{"email": ""}), want: `email: is required for operation "create"`},
	{
		name: "attributes as an array",
		in:   creating(args{"custom_attributes": []any{1}}),
		want: `custom_attributes: must be an object such as {"first_name":"Ada"}, got an array`,
	},
	{
		name: "an attribute that is a number",
		in:   creating(args{"custom_attributes": args{"age": 36}}),
		want: `custom_attributes: the value of "age" must be a string, got 36`,
	},
	{
		name: "an attribute that is null",
		in:   creating(args{"custom_attributes": args{"age": nil}}),
		want: `custom_attributes: the value of "age" must be a string, got null`,
	},
	{name: "an attribute without a name", in: creating(args{"custom_attributes": args{"": "x"}}), want: "custom_attributes: a name is empty"},
	{name: "an address when listing", in: listing(args{"email": "a@b.c"}), want: `email: is not allowed for operation "list"; omit it`},
	{name: "a page when creating", in: creating(args{"page": 2}), want: `page: is not allowed for operation "create"; omit it`},
	{
		name: "an unknown argument",
		tool: "tags", in: args{"operation": "list", "limit": 5},
		want: `unknown arguments: "limit"; the arguments are operation, page, per_page`,
	},
	{name: "an array", tool: "tags", in: []any{"list"}, want: "the arguments must be a JSON object"},
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
			if got := s.fails(t, cmp.Or(row.tool, "contacts"), row.in); got != repair+row.want {
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
	_, err := owner.Contacts.Create(t.Context(), newList(t, owner), client.ContactCreate{Email: "ada@example.com"})
	fatal(t, err)
	for _, row := range []struct {
		name, token string
		in          args
		want        []string
	}{
		{"no address", "full", creating(args{"email": "ada"}), []string{repair + "email: not an email address (value_error)"}},
		{
			"an invalid sort", "full", listing(args{"sort": "age:up"}),
			[]string{repair + "sort: ", "the field is id, email, status or subscribed_on"},
		},
		{
			"an invalid filter", "full", listing(args{"filter": "age"}),
			[]string{repair + "filter: ", "the field is status, email, tag or interest"},
		},
		{
			"the address again", "full", creating(args{"email": "ADA@example.com"}),
			[]string{
				"the list already contains", `operation "list" and filter "email:ADDRESS"`,
				"email: the list already contains ada@example.com, with the status active (contact_exists)",
			},
		},
		{"another list", "full", listing(args{"list_id": 999}), []string{"no list with this list_id", "- list_id: "}},
		{"the list of another account", "other", listing(nil), []string{"no list with this list_id"}},
		{"a read-only token", "reader", creating(nil), []string{"lacks the required permission", "may only read"}},
		{"an unknown token", "unknown-token", listing(nil), []string{"does not accept the access token", "Do not retry"}},
	} {
		t.Run(row.name, func(t *testing.T) {
			t.Parallel()
			s := connect(t, mcp.NewServer(newClient(t, p.Transport(), row.token), mcp.Options{}))
			got := s.fails(t, "contacts", row.in)
			for _, want := range row.want {
				if !strings.Contains(got, want) {
					t.Errorf("does not say %q:\n%s", want, got)
				}
			}
			if !strings.Contains(got, "(request req-") || strings.Contains(got, row.token+"-token") {
				t.Errorf("has no request id, or shows the token:\n%s", got)
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
	for _, row := range []struct {
		name     string
		platform http.RoundTripper
		in       args
		want     string
	}{
		{
			"too many requests", answering(429, http.Header{"Retry-After": {"17"}}, `{}`), list,
			"Nothing was changed: too many requests. Wait 17 seconds, then make the same call again.",
		},
		{"too many requests, no Retry-After", answering(429, nil, `{}`), create, "Nothing was changed: too many requests. Wait a minute"},
		{"a failure when listing", answering(500, nil, `{}`), list, "The platform is unavailable. Nothing was changed"},
		{"a failure when creating", answering(500, nil, `{}`), create, "Before you create it again, look for it"},
		{"a lost connection when creating", lost, create, "The outcome is unknown"},
		{"a page of a proxy", answering(200, html, "<html>"), list, "response is invalid"},
		{"another site", answering(404, html, "<html>"), list, "The platform is unavailable"},
		{"a repeated token, 422", answering(422, nil, echo), create, "Correct these arguments"},
		{"a repeated token, 401", answering(401, nil, echo), create, "does not accept the access token"},
		{"a repeated token, 403", answering(403, nil, echo), create, "lacks the required permission"},
		{"a repeated token in no format", answering(418, nil, token), create, "The platform is unavailable"},
		{"too large a request", answering(413, nil, `{}`), create, "Correct these arguments"},
		{
			"an error of the whole body",
			answering(422, nil, `{"detail":[{"loc":["body"],"msg":"too deep","type":"x"}]}`), create, repair + "body: too deep (x)",
		},
		{"a conflict of another kind", answering(409, nil, `{"detail":"list is locked"}`), create, repair + "list is locked"},
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
	s := connectTo(t, answering(422, nil, body))
	got := s.fails(t, "contacts", creating(nil))
	if len(got) > 8000 || !strings.Contains(got, "\n- and 80 more") {
		t.Errorf("%d bytes: %s", len(got), got)
	}
}

// TestCallTimeout: a call ends after 45 s if the platform does not respond.
func TestCallTimeout(t *testing.T) {
	t.Parallel()
	for _, row := range []struct {
		operation string
		in        args
		want      string
	}{
		{"list", listing(nil), "The platform did not respond in time. Nothing was changed; make the same call again later."},
		{"create", creating(nil), "The outcome is unknown"},
	} {
		t.Run(row.operation, func(t *testing.T) {
			t.Parallel()
			synctest.Test(t, func(t *testing.T) {
				silent := roundTripper(func(r *http.Request) (*http.Response, error) {
					<-r.Context().Done()
					return nil, r.Context().Err()
				})
				s := connectTo(t, silent)
				start := time.Now()
				got := s.fails(t, "contacts", row.in)
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

// TestLargeIDs: an id that a float64 cannot hold reaches the platform unchanged.
func TestLargeIDs(t *testing.T) {
	t.Parallel()
	var path string
	s := connectTo(t, roundTripper(func(r *http.Request) (*http.Response, error) {
		path = r.URL.Path
		return answering(200, nil, `{"data":[]}`).RoundTrip(r)
	}))
	const id = int64(9007199254740993)
	s.ok(t, "contacts", listing(args{"list_id": json.Number(fmt.Sprint(id))}))
	if path != fmt.Sprintf("/lists/%d/contacts", id) {
		t.Errorf("asked for %s", path)
	}
}
