package mockserver_test

import (
	"fmt"
	"strings"
	"testing"

	"example.com/emailplatform/mockserver"
)

var mistakes = []struct {
	name, method, path, body string
	loc, want                string
	skip                     bool // the validator finds it, and has its own words
}{
	{
		name:   "an entry that is a number",
		method: "POST", path: "/lists/1/contacts" + "/import", body: `{"contacts":[1]}`, loc: "[body contacts 0]",
		want: "want an object, not a number", skip: true,
	},
	{
		name:   "an address that is a number",
		method: "POST", path: "/lists/1/contacts" + "/import", body: `{"contacts":[{"email":5}]}`,
		loc: "[body contacts 0 email]", want: "want a string, not a number", skip: true,
	},
	{
		name:   "tags that are an object",
		method: "POST", path: "/lists/1/contacts" + "/import",
		body: `{"contacts":[{"email":"a@example.org","tags":{}}]}`, loc: "[body contacts 0 tags]",
		want: "want an array, not an object", skip: true,
	},
	{
		name:   "a body that is an array",
		method: "POST", path: "/lists", body: `[]`, loc: "[body]", want: "want an object, not an array",
		skip: true,
	},
	{
		name:   "a name that is true",
		method: "POST", path: "/lists", body: `{"name":true}`, loc: "[body name]",
		want: "want a string, not true or false", skip: true,
	},
	{
		name:   "an id that is a fraction",
		method: "POST", path: "/campaigns", body: `{"name":"C","list_id":1.5}`, loc: "[body list_id]",
		want: "want an integer, not 1.5", skip: true,
	},
	{
		name:   "a control body that is a string",
		method: "POST", path: "/_mock/faults", body: `"x"`, loc: "[body]",
		want: "want an object, not a string",
	},
	{
		name:   "a control member that is a string",
		method: "POST", path: "/_mock/faults", body: `{"action":"status","status":"x"}`,
		loc: "[body status]", want: "want an integer, not a string",
	},
	{
		name:   "a probability that is a string",
		method: "POST", path: "/_mock/faults", body: `{"action":"status","probability":"x"}`,
		loc: "[body probability]", want: "want a number, not a string",
	},
	{
		name:   "a mode that is a number",
		method: "PUT", path: "/_mock/lookup-limit", body: `{"mode":5}`, loc: "[body mode]",
		want: "want a string, not a number",
	},
	{
		name:   "a switch that is a string",
		method: "PATCH", path: "/_mock/faults/f", body: `{"enabled":"x"}`, loc: "[body enabled]",
		want: "want true or false, not a string",
	},
	{
		name:   "a seed that is an array",
		method: "POST", path: "/_mock/seed", body: `[]`, loc: "[body]", want: "want an object, not an array",
	},
	{
		name:   "lists of a seed that are a string",
		method: "POST", path: "/_mock/seed", body: `{"lists":"x"}`, loc: "[body]",
		want: "lists: want an array, not a string",
	},
	{
		name:   "a state that is a string",
		method: "PUT", path: "/_mock/state", body: `"x"`, loc: "[body]",
		want: "want an object, not a string",
	},
	{
		name:   "accounts of a state that are an object",
		method: "PUT", path: "/_mock/state", body: `{"accounts":{}}`, loc: "[body]",
		want: "accounts: want an array, not an object",
	},
}

// What does not fit is told in the words of JSON and of the API, whoever finds it.
func TestMistakesAreToldPlainly(t *testing.T) {
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

// A parameter that breaks its pattern is told what it takes, not the pattern.
func TestParametersSayWhatTheyTake(t *testing.T) {
	p := newProbe(t, mockserver.Config{})
	contacts := p.list() + "/contacts"
	for _, tt := range []struct{ path, want string }{
		{
			path: contacts + "?sort=email",
			want: "want field:asc or field:desc, the field one of id, email, status, subscribed_on",
		},
		{
			path: contacts + "?filter=custom:1",
			want: "want field:value, the field one of status, email, tag, interest; the value is all after the first colon",
		},
		{path: "/suppressed-emails?filter=a", want: "want email:value; the value is all after the colon"},
	} {
		a := p.do("GET", tt.path, nil)
		if kind, _ := a.detail(); a.status != 422 || kind != "value_error" ||
			!strings.Contains(a.text, `"msg":"`+tt.want+`"`) {
			t.Errorf("%s: %d %s, want 422: %s", tt.path, a.status, a.text, tt.want)
		}
	}
}
