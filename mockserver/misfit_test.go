package mockserver_test

import (
	"fmt"
	"strings"
	"testing"

	"example.com/emailplatform/mockserver"
)

// What does not fit is told in the words of JSON and of the API, whoever finds it.
func TestMistakesAreToldPlainly(t *testing.T) {
	for _, validated := range []bool{true, false} {
		p := newPlatform(t, mockserver.Config{SkipValidation: !validated})
		list := p.list()
		contacts := list + "/contacts"
		for _, tt := range []struct {
			name, method, path, body string
			loc, want                string
			skip                     bool // the validator finds it, and has its own words
		}{
			{"an entry that is a number", "POST", contacts + "/import", `{"contacts":[1]}`, "[body contacts 0]", "want an object, not a number", true},
			{"an address that is a number", "POST", contacts + "/import", `{"contacts":[{"email":5}]}`, "[body contacts 0 email]", "want a string, not a number", true},
			{"tags that are an object", "POST", contacts + "/import", `{"contacts":[{"email":"a@example.org","tags":{}}]}`, "[body contacts 0 tags]", "want an array, not an object", true},
			{"a body that is an array", "POST", "/lists", `[]`, "[body]", "want an object, not an array", true},
			{"a name that is true", "POST", "/lists", `{"name":true}`, "[body name]", "want a string, not true or false", true},
			{"an id that is a fraction", "POST", "/campaigns", `{"name":"C","list_id":1.5}`, "[body list_id]", "want an integer, not 1.5", true},
			{"a control body that is a string", "POST", "/_mock/faults", `"x"`, "[body]", "want an object, not a string", false},
			{"a control member that is a string", "POST", "/_mock/faults", `{"action":"status","status":"x"}`, "[body status]", "want an integer, not a string", false},
			{"a probability that is a string", "POST", "/_mock/faults", `{"action":"status","probability":"x"}`, "[body probability]", "want a number, not a string", false},
			{"a mode that is a number", "PUT", "/_mock/lookup-limit", `{"mode":5}`, "[body mode]", "want a string, not a number", false},
			{"a switch that is a string", "PATCH", "/_mock/faults/f", `{"enabled":"x"}`, "[body enabled]", "want true or false, not a string", false},
			{"a seed that is an array", "POST", "/_mock/seed", `[]`, "[body]", "want an object, not an array", false},
			{"lists of a seed that are a string", "POST", "/_mock/seed", `{"lists":"x"}`, "[body]", "lists: want an array, not a string", false},
			{"a state that is a string", "PUT", "/_mock/state", `"x"`, "[body]", "want an object, not a string", false},
			{"accounts of a state that are an object", "PUT", "/_mock/state", `{"accounts":{}}`, "[body]", "accounts: want an array, not an object", false},
		} {
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
					t.Fatalf("got %d %s", a.status, a.text)
				}
				first := found[0].(map[string]any)
				if fmt.Sprint(first["loc"]) != tt.loc || first["msg"] != tt.want {
					t.Errorf("got %v: %v", first["loc"], first["msg"])
				}
			})
		}
	}
}

// A parameter that breaks its pattern is told what it takes, not the pattern.
func TestParametersSayWhatTheyTake(t *testing.T) {
	p := newPlatform(t, mockserver.Config{})
	contacts := p.list() + "/contacts"
	for _, tt := range []struct{ path, want string }{
		{contacts + "?sort=email", "want field:asc or field:desc, the field one of id, email, status, subscribed_on"},
		{contacts + "?filter=custom:1", "want field:value, the field one of status, email, tag, interest; the value is all after the first colon"},
		{"/suppressed-emails?filter=a", "want email:value; the value is all after the colon"},
	} {
		a := p.do("GET", tt.path, nil)
		if kind, _ := a.detail(); a.status != 422 || kind != "value_error" || !strings.Contains(a.text, `"msg":"`+tt.want+`"`) {
			t.Errorf("%s: %d %s", tt.path, a.status, a.text)
		}
	}
}
