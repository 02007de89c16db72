package mockserver_test

import (
	"testing"

	"example.com/emailplatform/mockserver"
)

// Names are compared with case: an application that misspells one finds out
// here, and not on the day that it meets the platform.
func TestMisspeltMembers(t *testing.T) {
	p := newProbe(t, mockserver.Config{})
	contacts := p.list() + "/contacts"
	const sender = `"sender":{"email":"s@example.com"}`
	for _, tt := range []struct{ name, method, path, body, loc, right string }{
		{name: "in capitals", method: "POST", path: "/lists", body: `{"NAME":"News"}`, loc: "[body NAME]", right: "name"},
		{
			name:   "beside the right one",
			method: "POST", path: contacts, body: `{"email":"a@example.org","EMAIL":"b@example.org"}`,
			loc: "[body EMAIL]", right: "email",
		},
		{
			name:   "as in another language",
			method: "POST", path: contacts, body: `{"email":"a@example.org","Custom_Attributes":[]}`,
			loc: "[body Custom_Attributes]", right: "custom_attributes",
		},
		{
			name:   "in a list",
			method: "POST", path: contacts,
			body: `{"email":"a@example.org","custom_attributes":[{"name":"a","value":"b"},{"Name":"c","value":"d"}]}`,
			loc:  "[body custom_attributes 1 Name]", right: "name",
		},
		{
			name:   "in an object",
			method: "POST", path: "/v2/emails",
			body: `{"email":"a@example.org",` + sender + `,"content":{"subject":"S","text":"T","Type":"transactional"}}`,
			loc:  "[body content Type]", right: "type",
		},
		{
			name:   "of what may be left out",
			method: "POST", path: "/v2/emails",
			body: `{"email":"a@example.org","LIST_ID":1,` + sender + `,"content":{"subject":"S","text":"T"}}`,
			loc:  "[body LIST_ID]", right: "list_id",
		},
		{
			name:   "the entries of an import",
			method: "POST", path: contacts + "/import",
			body: `{"contacts":[],"Contacts":[{"email":"a@example.org"}]}`, loc: "[body Contacts]",
			right: "contacts",
		},
		{name: "none of the API's", method: "POST", path: "/lists", body: `{"name":"News","colour":"red"}`},
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
			if want := `no such member: it is called "` + tt.right + `"`; first["msg"] != want {
				t.Errorf("got %q, want %q", first["msg"], want)
			}
		})
	}
}
