package mockserver_test

import (
	"encoding/json"
	"fmt"
	"slices"
	"strings"
	"testing"

	"example.com/emailplatform/mockserver"
)

// What the API does not know it leaves unread, and the log of requests notes it.
func TestUnknownMembersAreNoted(t *testing.T) {
	p := newProbe(t, mockserver.Config{})
	list := p.list()
	const sender = `"sender":{"email":"s@example.com"},"content":{"subject":"S","text":"T"`
	many := make([]string, 30)
	for i := range many {
		many[i] = fmt.Sprintf(`"m%02d":1`, i)
	}
	for _, tt := range []struct {
		name, method, path, body string
		status                   int
		members, parameters      []string
	}{
		{name: "none", method: "POST", path: "/lists", body: `{"name":"x"}`, status: 201},
		{
			name: "a misspelt id", method: "POST", path: "/v2/emails", status: 201,
			body: `{"email":"a@example.org","lits_id":1,` + sender + `}}`, members: []string{"lits_id"},
		},
		{
			name: "deep, and in each element", method: "POST", path: list + "/contacts/import", status: 200,
			body:    `{"contacts":[{"email":"a@example.org","nam":1},{"email":"b@example.org","nam":{"x":2}}],"mode":"x"}`,
			members: []string{"contacts[].nam", "mode"},
		},
		{
			name: "none in a map", method: "POST", path: "/v2/emails", status: 201,
			body:    `{"email":"a@example.org","custom_attributes":{"anything":"x"},` + sender + `,"colour":"red"}}`,
			members: []string{"content.colour"},
		},
		{name: "a parameter", method: "GET", path: "/lists?page=1&perpage=2&a=b", status: 200, parameters: []string{"a", "perpage"}},
		{
			name: "of a request that is refused", method: "POST", path: "/lists?x=1", status: 422, body: `{"nam":"x"}`,
			members: []string{"nam"}, parameters: []string{"x"},
		},
		{
			name: "more than anybody reads", method: "POST", path: "/lists", status: 201,
			body: `{"name":"x","` + strings.Repeat("l", 200) + `":1,` + strings.Join(many, ",") + `}`,
			members: append([]string{strings.Repeat("l", 100) + "…"}, func() (out []string) {
				for i := range 19 {
					out = append(out, fmt.Sprintf("m%02d", i))
				}
				return out
			}()...),
		},
	} {
		t.Run(tt.name, func(t *testing.T) {
			var body any
			if tt.body != "" {
				body = tt.body
			}
			if a := p.do(tt.method, tt.path, body); a.status != tt.status {
				t.Fatalf("got %d %s, want %d", a.status, a.text, tt.status)
			}
			all := p.Requests()
			last := all[len(all)-1]
			if !slices.Equal(last.UnknownFields, tt.members) || !slices.Equal(last.UnknownParameters, tt.parameters) {
				t.Errorf("noted %q and %q, want %q and %q", last.UnknownFields, last.UnknownParameters, tt.members, tt.parameters)
			}
			var record struct {
				Members    []string `json:"unknown_fields"`
				Parameters []string `json:"unknown_parameters"`
			}
			text := p.must("GET", "/_mock/requests/"+last.ID, nil).text
			if err := json.Unmarshal([]byte(text), &record); err != nil || !slices.Equal(record.Members, tt.members) ||
				!slices.Equal(record.Parameters, tt.parameters) {
				t.Errorf("over HTTP: %s %v", text, err)
			}
		})
	}
}

// With RejectUnknownFields they are refused, with what there is.
func TestUnknownMembersAreRefused(t *testing.T) {
	p := newProbe(t, mockserver.Config{RejectUnknownFields: true})
	list := p.list()
	for _, tt := range []struct{ name, method, path, body, loc, want string }{
		{
			name: "a member", method: "POST", path: "/lists", body: `{"name":"x","nam":"y"}`,
			loc: "[body nam]", want: "no such member: did you mean name? There are name",
		},
		{
			name: "beside a mistake", method: "POST", path: "/lists", body: `{"nam":"y"}`,
			loc: "[body nam]", want: "no such member: did you mean name? There are name",
		},
		{
			name: "in an object", method: "POST", path: "/templates", body: `{"name":"x","content":{"html":"x","txt":"y"}}`,
			loc: "[body content txt]", want: "no such member: did you mean text? There are html, text",
		},
		{
			name: "a parameter", method: "GET", path: "/lists?perpage=2",
			loc: "[query perpage]", want: "no such parameter: did you mean per_page? There are page, per_page, with_count",
		},
		{name: "a parameter of what takes none", method: "GET", path: list + "?page=2", loc: "[query page]", want: "there is none here"},
	} {
		t.Run(tt.name, func(t *testing.T) {
			var body any
			if tt.body != "" {
				body = tt.body
			}
			a := p.do(tt.method, tt.path, body)
			if _, loc := a.detail(); a.status != 422 || loc != tt.loc || !strings.Contains(a.text, tt.want) {
				t.Errorf("got %d %s, want 422 at %s with %q", a.status, a.text, tt.loc, tt.want)
			}
		})
	}
	imported := p.must("POST", list+"/contacts/import", `{"contacts":[{"email":"a@example.org"},{"email":"b@example.org","nam":"x"}]}`)
	if !strings.Contains(imported.text, `"index":1`) || !strings.Contains(imported.text, "no such member") || p.contactsOf(list) != 1 {
		t.Errorf("an import with a bad entry: %s, want one contact and one mistake", imported.text)
	}
	if a := p.do("GET", "/_mock/accounts/1/api/lists?perpage=2", nil); a.status != 422 {
		t.Errorf("as an account: %d %s, want 422", a.status, a.text)
	}
}

// contactsOf counts the contacts of a list.
func (p probe) contactsOf(list string) int {
	p.t.Helper()
	return len(p.must("GET", list+"/contacts", nil).object["data"].([]any))
}
