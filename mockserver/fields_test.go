package mockserver_test

import (
	"encoding/json"
	"fmt"
	"slices"
	"strings"
	"testing"

	"example.com/emailplatform/mockserver"
)

// By default, unknown fields and parameters are ignored and logged.
func TestUnknownFieldsAreLogged(t *testing.T) {
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
			name: "a misspelled id", method: "POST", path: "/v2/emails", status: 201,
			body: `{"email":"a@example.org","lits_id":1,` + sender + `}}`, members: []string{"lits_id"},
		},
		{
			name: "deep, and in each element", method: "POST", path: list + "/contacts/import", status: 200,
			body:    `{"contacts":[{"email":"a@example.org","nam":1},{"email":"b@example.org","nam":{"x":2}}],"mode":"x"}`,
			members: []string{"contacts[].nam", "mode"},
		},
		{
			name: "none in a map", method: "POST", path: "/v2/emails", status: 201,
			body:    `{"email":"a@example.org","custom_attributes":{"anything":"x"},` + sender + `,"color":"red"}}`,
			members: []string{"content.color"},
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
			if a := p.do(tt.method, tt.path, tt.body); a.status != tt.status {
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

// With RejectUnknownFields, unknown fields are errors that list the known ones.
func TestRejectUnknownFields(t *testing.T) {
	p := newProbe(t, mockserver.Config{RejectUnknownFields: true})
	list := p.list()
	for _, tt := range []struct{ name, method, path, body, loc, want string }{
		{
			name: "a member", method: "POST", path: "/lists", body: `{"name":"x","nam":"y"}`,
			loc: "[body nam]", want: "no such field: did you mean name? There are name",
		},
		{
			name: "beside a mistake", method: "POST", path: "/lists", body: `{"nam":"y"}`,
			loc: "[body nam]", want: "no such field: did you mean name? There are name",
		},
		{
			name: "in an object", method: "POST", path: "/templates", body: `{"name":"x","content":{"html":"x","txt":"y"}}`,
			loc: "[body content txt]", want: "no such field: did you mean text? There are html, text",
		},
		{
			name: "a parameter", method: "GET", path: "/lists?perpage=2",
			loc: "[query perpage]", want: "no such parameter: did you mean per_page? There are page, per_page, with_count",
		},
		{name: "a parameter of what takes none", method: "GET", path: list + "?page=2", loc: "[query page]", want: "there is none here"},
	} {
		t.Run(tt.name, func(t *testing.T) {
			a := p.do(tt.method, tt.path, tt.body)
			if _, loc := a.detail(); a.status != 422 || loc != tt.loc || !strings.Contains(a.text, tt.want) {
				t.Errorf("got %d %s, want 422 at %s with %q", a.status, a.text, tt.loc, tt.want)
			}
		})
	}
	imported := p.must("POST", list+"/contacts/import", `{"contacts":[{"email":"a@example.org"},{"email":"b@example.org","nam":"x"}]}`)
	if !strings.Contains(imported.text, `"index":1`) || !strings.Contains(imported.text, "no such field") || p.contactsOf(list) != 1 {
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

func TestFieldNamesAreCaseSensitive(t *testing.T) {
	p := newProbe(t, mockserver.Config{})
	contacts := p.list() + "/contacts"
	const sender = `"sender":{"email":"s@example.com"}`
	for _, tt := range []struct{ name, method, path, body, loc, right string }{
		{name: "in capitals", method: "POST", path: "/lists", body: `{"NAME":"News"}`, loc: "[body NAME]", right: "name"},
		{
			name:   "in a list",
			method: "POST", path: contacts,
			body: `{"email":"a@example.org","custom_attributes":[{"name":"a","value":"b"},{"Name":"c","value":"d"}]}`,
			loc:  "[body custom_attributes 1 Name]", right: "name",
		},
		{name: "none of the API's", method: "POST", path: "/lists", body: `{"name":"News","color":"red"}`},
		{
			name:   "of a map, where all are allowed",
			method: "POST", path: "/v2/emails",
			body: `{"email":"a@example.org","custom_attributes":{"Email":"x","email":"y"},` + sender + `,` +
				`"content":{"subject":"S","text":"T"}}`,
		},
	} {
		t.Run(tt.name, func(t *testing.T) {
			a := p.do(tt.method, tt.path, tt.body)
			if tt.right == "" {
				if a.status != 201 {
					t.Errorf("got %d %s, want 201", a.status, a.text)
				}
				return
			}
			if _, loc := a.detail(); a.status != 422 || loc != tt.loc {
				t.Fatalf("got %d %s, want 422 at %s", a.status, a.text, tt.loc)
			}
			first := a.object["detail"].([]any)[0].(map[string]any)
			if want := `no such field: the name must be "` + tt.right + `"`; first["msg"] != want {
				t.Errorf("got %q, want %q", first["msg"], want)
			}
		})
	}
}

var mistakes = []struct {
	name, method, path, body string
	loc, want                string
	skip                     bool // the validator finds it, and has its own words
}{
	{
		name:   "an entry that is a number",
		method: "POST", path: "/lists/1/contacts" + "/import", body: `{"contacts":[1]}`, loc: "[body contacts 0]",
		want: "must be an object, got a number", skip: true,
	},
	{
		name:   "an address that is a number",
		method: "POST", path: "/lists/1/contacts" + "/import", body: `{"contacts":[{"email":5}]}`,
		loc: "[body contacts 0 email]", want: "must be a string, got a number", skip: true,
	},
	{
		name:   "tags that are an object",
		method: "POST", path: "/lists/1/contacts" + "/import",
		body: `{"contacts":[{"email":"a@example.org","tags":{}}]}`, loc: "[body contacts 0 tags]",
		want: "must be an array, got an object", skip: true,
	},
	{
		name:   "a body that is an array",
		method: "POST", path: "/lists", body: `[]`, loc: "[body]", want: "must be an object, got an array",
		skip: true,
	},
	{
		name:   "a name that is true",
		method: "POST", path: "/lists", body: `{"name":true}`, loc: "[body name]",
		want: "must be a string, got true or false", skip: true,
	},
	{
		name:   "an id that is a fraction",
		method: "POST", path: "/campaigns", body: `{"name":"C","list_id":1.5}`, loc: "[body list_id]",
		want: "must be an integer, got 1.5", skip: true,
	},
	{
		name:   "a control body that is a string",
		method: "POST", path: "/_mock/faults", body: `"x"`, loc: "[body]",
		want: "must be an object, got a string",
	},
	{
		name:   "a control member that is a string",
		method: "POST", path: "/_mock/faults", body: `{"action":"status","status":"x"}`,
		loc: "[body status]", want: "must be an integer, got a string",
	},
	{
		name:   "accounts of a state that are an object",
		method: "PUT", path: "/_mock/state", body: `{"accounts":{}}`, loc: "[body]",
		want: "accounts: must be an array, got an object",
	},
}

// Errors about types use the terms of JSON, with and without validation.
func TestTypeErrorMessages(t *testing.T) {
	for _, validated := range []bool{true, false} {
		p := newProbe(t, mockserver.Config{SkipValidation: !validated})
		if list := p.list(); list != "/lists/1" {
			t.Fatalf("the list is %s, and not the one of the mistakes", list)
		}
		for _, tt := range mistakes {
			t.Run(fmt.Sprintf("%s, validated %v", tt.name, validated), func(t *testing.T) {
				if tt.skip && validated {
					t.Skip("the validator's words")
				}
				a := p.do(tt.method, tt.path, tt.body)
				member := "detail"
				if strings.HasSuffix(tt.path, "/import") {
					member = "errors"
				}
				found, _ := a.object[member].([]any)
				if len(found) != 1 {
					t.Fatalf("got %d %s, want one mistake", a.status, a.text)
				}
				first := found[0].(map[string]any)
				if fmt.Sprint(first["loc"]) != tt.loc || first["msg"] != tt.want {
					t.Errorf("got %v: %v, want %s: %s", first["loc"], first["msg"], tt.loc, tt.want)
				}
			})
		}
	}
}

// Errors of parameters describe the format, not its pattern.
func TestParameterPatternMessages(t *testing.T) {
	p := newProbe(t, mockserver.Config{})
	contacts := p.list() + "/contacts"
	for _, tt := range []struct{ path, want string }{
		{path: contacts + "?sort=email", want: "must be field:asc or field:desc, where the field is id, email, status or subscribed_on"},
		{
			path: contacts + "?filter=custom:1",
			want: "must be field:value, where the field is status, email, tag or interest, and the value is everything after the first colon",
		},
		{path: "/suppressed-emails?filter=a", want: "must be email:value, where the value is everything after the colon"},
	} {
		a := p.do("GET", tt.path, nil)
		if kind, _ := a.detail(); a.status != 422 || kind != "value_error" ||
			!strings.Contains(a.text, `"msg":"`+tt.want+`"`) {
			t.Errorf("%s: %d %s, want 422: %s", tt.path, a.status, a.text, tt.want)
		}
	}
}

// Without validation, an import still reports invalid entries by index.
func TestImportWithoutValidation(t *testing.T) {
	p := newProbe(t, mockserver.Config{SkipValidation: true})
	path := p.list() + "/contacts/import"
	a := p.must("POST", path, `{"contacts":[{"email":"a@example.org","tags":[""]},{"email":"b"},{"email":7},null,"x",
		{"email":"c@example.org","custom_attributes":[{"name":"a","value":2}]}]}`)
	var at []string
	for _, e := range a.object["errors"].([]any) {
		at = append(at, fmt.Sprint(e.(map[string]any)["loc"]))
	}
	want := "[[body contacts 1 email] [body contacts 2 email] [body contacts 3 email] " +
		"[body contacts 4] [body contacts 5 custom_attributes 0 value]]"
	if a.id("imported") != "1" || fmt.Sprint(at) != want {
		t.Errorf("got %s, want errors at %s", a.text, want)
	}
}
