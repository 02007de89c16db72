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
	const email = `{"email":"a@example.org","custom_attributes":{"anything":"x"},"sender":{"email":"s@example.com"},` +
		`"content":{"subject":"S","text":"T","color":"red"}}`
	many, first20 := `{"name":"x","`+strings.Repeat("l", 200)+`":1`, []string{strings.Repeat("l", 100) + "…"}
	for i := range 30 {
		name := fmt.Sprintf("m%02d", i)
		many += `,"` + name + `":1`
		if i < 19 {
			first20 = append(first20, name)
		}
	}
	entries := `{"contacts":[{"email":"a@example.org","nam":1},{"email":"b@example.org","nam":{"x":2}}],"mode":"x"}`
	for _, tt := range []struct {
		name, method, path, body string
		status                   int
		members, parameters      []string
	}{
		{"none", "POST", "/lists", `{"name":"x"}`, 201, nil, nil},
		{"in objects and arrays", "POST", list + "/contacts/import", entries, 200, []string{"contacts[].nam", "mode"}, nil},
		{"not in a map", "POST", "/v2/emails", email, 201, []string{"content.color"}, nil},
		{"parameters", "GET", "/lists?page=1&perpage=2&a=b", "", 200, nil, []string{"a", "perpage"}},
		{"in a rejected request", "POST", "/lists?x=1", `{"nam":"x"}`, 422, []string{"nam"}, []string{"x"}},
		{"more than are logged", "POST", "/lists", many + "}", 201, first20, nil},
	} {
		if a := p.do(tt.method, tt.path, tt.body); a.status != tt.status {
			t.Fatalf("%s: got %d %s, want %d", tt.name, a.status, a.text, tt.status)
		}
		all := p.Requests()
		last := all[len(all)-1]
		if !slices.Equal(last.UnknownFields, tt.members) || !slices.Equal(last.UnknownParameters, tt.parameters) {
			t.Errorf("%s: logged %q and %q, want %q and %q", tt.name, last.UnknownFields, last.UnknownParameters, tt.members, tt.parameters)
		}
		var record struct {
			Members    []string `json:"unknown_fields"`
			Parameters []string `json:"unknown_parameters"`
		}
		text := p.must("GET", "/_mock/requests/"+last.ID, nil).text
		if err := json.Unmarshal([]byte(text), &record); err != nil || !slices.Equal(record.Members, tt.members) ||
			!slices.Equal(record.Parameters, tt.parameters) {
			t.Errorf("%s: over HTTP: %s %v", tt.name, text, err)
		}
	}
}

// With RejectUnknownFields, an unknown field is an error that lists the known fields.
func TestRejectUnknownFields(t *testing.T) {
	p := newProbe(t, mockserver.Config{RejectUnknownFields: true})
	list := p.list()
	const suggestion = "no such field: did you mean name? There are name"
	for _, tt := range []struct{ name, method, path, body, loc, want string }{
		{"field", "POST", "/lists", `{"name":"x","nam":"y"}`, "[body nam]", suggestion},
		{"with a missing field", "POST", "/lists", `{"nam":"y"}`, "[body nam]", suggestion},
		{
			"in an object", "POST", "/templates", `{"name":"x","content":{"html":"x","txt":"y"}}`,
			"[body content txt]", "no such field: did you mean text? There are html, text",
		},
		{
			"parameter", "GET", "/lists?perpage=2", "",
			"[query perpage]", "no such parameter: did you mean per_page? There are page, per_page, with_count",
		},
		{"parameter of an operation without parameters", "GET", list + "?page=2", "", "[query page]", "there is none here"},
	} {
		a := p.do(tt.method, tt.path, tt.body)
		if _, loc := a.detail(); a.status != 422 || loc != tt.loc || !strings.Contains(a.text, tt.want) {
			t.Errorf("%s: got %d %s, want 422 at %s with %q", tt.name, a.status, a.text, tt.loc, tt.want)
		}
	}
	imported := p.must("POST", list+"/contacts/import", `{"contacts":[{"email":"a@example.org"},{"email":"b@example.org","nam":"x"}]}`)
	if !strings.Contains(imported.text, `"index":1`) || !strings.Contains(imported.text, "no such field") || imported.id("imported") != "1" {
		t.Errorf("an import with an invalid entry: %s, want one contact and one error", imported.text)
	}
	if a := p.do("GET", "/_mock/accounts/1/api/lists?perpage=2", nil); a.status != 422 {
		t.Errorf("as an account: %d %s, want 422", a.status, a.text)
	}
}

func TestFieldNamesAreCaseSensitive(t *testing.T) {
	p := newProbe(t, mockserver.Config{})
	contacts := p.list() + "/contacts"
	const attributes = `{"email":"a@example.org","custom_attributes":[{"name":"a","value":"b"},{"Name":"c","value":"d"}]}`
	for _, tt := range []struct{ path, body, loc string }{
		{"/lists", `{"NAME":"News"}`, "[body NAME]"},
		{contacts, attributes, "[body custom_attributes 1 Name]"},
	} {
		a := p.do("POST", tt.path, tt.body)
		if _, loc := a.detail(); a.status != 422 || loc != tt.loc || !strings.Contains(a.text, `no such field: the name must be \"name\"`) {
			t.Errorf("got %d %s, want 422 at %s", a.status, a.text, tt.loc)
		}
	}
	p.must("POST", "/v2/emails", `{"email":"a@example.org","custom_attributes":{"Email":"x","email":"y"},`+ // the keys of a map are not fields
		`"sender":{"email":"s@example.com"},"content":{"subject":"S","text":"T"}}`)
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
