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

// answering returns a platform that always answers the same.
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

// TestWrongArguments proves that each mistake is told with its repair, and that
// nothing is sent.
func TestWrongArguments(t *testing.T) {
	t.Parallel()
	unreachable := roundTripper(func(r *http.Request) (*http.Response, error) {
		t.Errorf("a request was sent: %s %s", r.Method, r.URL)
		return nil, errors.New("unreachable")
	})
	s := connect(t, mcp.NewServer(newClient(t, unreachable, "token"), mcp.Options{}))
	for _, row := range []struct {
		name, tool string
		in         any
		want       string
	}{
		{"nothing", "contacts", nil, "operation: is required, \"list\" or \"create\"\n- list_id: is required"},
		{"no operation", "tags", args{}, "operation: is required, \"list\""},
		{"another operation", "tags", args{"operation": "create"}, `operation: "create" is not possible, want "list"`},
		{"another operation of contacts", "contacts", args{"operation": "delete", "list_id": 1}, `operation: "delete" is not possible, want "list" or "create"`},
		{"an operation that is no string", "contacts", args{"operation": 1, "list_id": 1}, "operation: want a string, not 1"},
		{"no list", "contacts", args{"operation": "list"}, `list_id: is required for operation "list"`},
		{"a list by name", "contacts", args{"operation": "list", "list_id": "Newsletter"}, `list_id: want an integer, not the string "Newsletter"`},
		{"a list id as a string", "contacts", args{"operation": "list", "list_id": "7"}, `list_id: want an integer, not the string "7"`},
		{"list 0", "contacts", args{"operation": "list", "list_id": 0}, "list_id: 0 is too small, want at least 1"},
		{"half a list", "contacts", args{"operation": "list", "list_id": 1.5}, "list_id: want an integer, not 1.5"},
		{"a list id beyond 64 bits", "contacts", args{"operation": "list", "list_id": json.Number("1e300")}, "list_id: want an integer, not 1e300"},
		{"a list id that a float does not hold exactly", "contacts", args{"operation": "list", "list_id": json.Number("9007199254740994.0")}, "list_id: want an integer, not 9007199254740994.0"},
		{"page 0", "contacts", args{"operation": "list", "list_id": 1, "page": 0}, "page: 0 is too small, want at least 1"},
		{"too large a page", "tags", args{"operation": "list", "per_page": 101}, "per_page: 101 is too large, want at most 100"},
		{"no address", "contacts", args{"operation": "create", "list_id": 1}, `email: is required for operation "create"`},
		{"an empty address", "contacts", args{"operation": "create", "list_id": 1, "email": ""}, `email: is required for operation "create"`},
		{"attributes as an array", "contacts", args{"operation": "create", "list_id": 1, "email": "a@b.c", "custom_attributes": []any{1}}, `custom_attributes: want an object such as {"first_name":"Ada"}, not an array`},
		{"an attribute that is a number", "contacts", args{"operation": "create", "list_id": 1, "email": "a@b.c", "custom_attributes": args{"age": 36}}, `custom_attributes: the value of "age" must be a string, not 36`},
		{"an attribute that is null", "contacts", args{"operation": "create", "list_id": 1, "email": "a@b.c", "custom_attributes": args{"age": nil}}, `custom_attributes: the value of "age" must be a string, not null`},
		{"an attribute without a name", "contacts", args{"operation": "create", "list_id": 1, "email": "a@b.c", "custom_attributes": args{"": "x"}}, "custom_attributes: a name is empty"},
		{"an address when listing", "contacts", args{"operation": "list", "list_id": 1, "email": "a@b.c"}, `email: is not for operation "list", leave it out`},
		{"a page when creating", "contacts", args{"operation": "create", "list_id": 1, "email": "a@b.c", "page": 2}, `page: is not for operation "create", leave it out`},
		{"an unknown argument", "tags", args{"operation": "list", "limit": 5}, `"limit": there is no such argument; there are operation, page, per_page`},
		{"an array", "tags", []any{"list"}, "the arguments must be a JSON object: json: cannot unmarshal array into Go value of type map[string]interface {}"},
		{
			"all at once", "contacts",
			args{"operation": "create", "email": true, "page": -1, "x": args{}, "y": args{"z": 1}},
			"email: want a string, not true\n- page: -1 is too small, want at least 1\n- \"y\": there is no such argument; there are operation, list_id, page, per_page, sort, filter, email, custom_attributes\n- list_id: is required for operation \"create\"\n- page: is not for operation \"create\", leave it out",
		},
	} {
		t.Run(row.name, func(t *testing.T) {
			if got := s.fails(t, row.tool, row.in); got != repair+row.want {
				t.Errorf("\n got %s\nwant %s", got, repair+row.want)
			}
		})
	}
}

// TestPlatformRefuses passes on what the platform says, by the arguments' names.
func TestPlatformRefuses(t *testing.T) {
	t.Parallel()
	p := newPlatform(t, mockserver.Token{Token: "full"}, mockserver.Token{Token: "reader", ReadOnly: true}, mockserver.Token{Token: "other", AccountID: 2})
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
		{"no address", "full", args{"operation": "create", "email": "ada"}, []string{repair + "email: not an email address (value_error)"}},
		{"a sort that is none", "full", args{"operation": "list", "sort": "age:up"}, []string{repair + "sort: ", "the field one of id, email, status, subscribed_on"}},
		{"a filter that is none", "full", args{"operation": "list", "filter": "age"}, []string{repair + "filter: ", "the field one of status, email, tag, interest"}},
		{"the address again", "full", args{"operation": "create", "email": "ADA@example.com"}, []string{"is on the list already", `operation "list" and filter "email:ADDRESS"`, "email: ada@example.com is on the list and active (contact_exists)"}},
		{"another list", "full", args{"operation": "list", "list_id": 999}, []string{"no list with this list_id", "- list_id: "}},
		{"the list of another account", "other", args{"operation": "list"}, []string{"no list with this list_id"}},
		{"a token that only reads", "reader", args{"operation": "create", "email": "grace@example.com"}, []string{"lacks the right", "may only read"}},
		{"an unknown token", "unknown-token", args{"operation": "list"}, []string{"does not accept the access token", "Calling again does not help"}},
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

// TestPlatformFails covers what a healthy platform does not answer. The token
// never shows, even if the platform repeats it.
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
		{"too many requests", answering(429, http.Header{"Retry-After": {"17"}}, `{}`), list, "Nothing was done: too many requests. Wait 17 seconds, then make the same call again."},
		{"too many requests, for how long is not said", answering(429, nil, `{}`), create, "Nothing was done: too many requests. Wait a minute"},
		{"a failure when listing", answering(500, nil, `{}`), list, "cannot be used right now. Nothing was changed"},
		{"a failure when creating", answering(500, nil, `{}`), create, "It is not known whether the contact was created. Do not create it again before you have looked"},
		{"a lost connection when creating", lost, create, "It is not known whether the contact was created."},
		{"a lost connection when listing", lost, list, "cannot be used right now"},
		{"a page of a proxy", answering(200, http.Header{"Content-Type": {"text/html"}}, "<html>"), list, "answer cannot be used"},
		{"another site", answering(404, http.Header{"Content-Type": {"text/html"}}, "<html>"), list, "cannot be used right now"},
		{"a repeated token, 422", answering(422, nil, echo), create, "Correct these arguments"},
		{"a repeated token, 401", answering(401, nil, echo), create, "does not accept the access token"},
		{"a repeated token, 403", answering(403, nil, echo), create, "lacks the right"},
		{"a repeated token in no format", answering(418, nil, token), create, "cannot be used right now"},
		{"too large a request", answering(413, nil, `{}`), create, "Correct these arguments"},
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

// TestErrorsAreBounded passes on no more than a model can use.
func TestErrorsAreBounded(t *testing.T) {
	t.Parallel()
	detail := `{"loc":["body","email"],"msg":"` + strings.Repeat("no ", 1000) + `","type":"x"}`
	body := `{"detail":[` + strings.Repeat(detail+",", 99) + detail + `]}`
	s := connect(t, mcp.NewServer(newClient(t, answering(422, nil, body), "token"), mcp.Options{}))
	got := s.fails(t, "contacts", args{"operation": "create", "list_id": 1, "email": "a@example.com"})
	if len(got) > 8000 || !strings.Contains(got, "\n- and 80 more") {
		t.Errorf("%d bytes: %s", len(got), got)
	}
}

// TestCallsEnd waits, in the time of a bubble, for a platform that never
// answers.
func TestCallsEnd(t *testing.T) {
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

// FuzzArguments holds any arguments against both tools: there is an answer or
// a tool error, and an error names what to do.
func FuzzArguments(f *testing.F) {
	for _, seed := range []string{
		`{"operation":"list"}`,
		`{"operation":"create","list_id":1,"email":"a@example.com","custom_attributes":{"a":"b"}}`,
		`{"operation":"list","list_id":9007199254740993,"page":1e400,"per_page":-0.0}`,
		`{"operation":["list"],"list_id":null}`, `[]`, `null`, `{"a":{"b":[{}]}}`, `{"operation":"list","operation":"create"}`,
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
