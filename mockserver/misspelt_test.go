package mockserver_test

import (
	"testing"

	"example.com/emailplatform/mockserver"
)

// Names are compared with case: an application that misspells one finds out
// here, and not on the day that it meets the platform.
func TestMisspeltMembers(t *testing.T) {
	p := newPlatform(t, mockserver.Config{})
	contacts := p.list() + "/contacts"
	const sender = `"sender":{"email":"s@example.com"}`
	for _, tt := range []struct{ name, method, path, body, loc, right string }{
		{"in capitals", "POST", "/lists", `{"NAME":"News"}`, "[body NAME]", "name"},
		{"beside the right one", "POST", contacts, `{"email":"a@example.org","EMAIL":"b@example.org"}`, "[body EMAIL]", "email"},
		{"as in another language", "POST", contacts, `{"email":"a@example.org","Custom_Attributes":[]}`, "[body Custom_Attributes]", "custom_attributes"},
		{"in a list", "POST", contacts, `{"email":"a@example.org","custom_attributes":[{"name":"a","value":"b"},{"Name":"c","value":"d"}]}`, "[body custom_attributes 1 Name]", "name"},
		{"in an object", "POST", "/v2/emails", `{"email":"a@example.org",` + sender + `,"content":{"subject":"S","text":"T","Type":"transactional"}}`, "[body content Type]", "type"},
		{"of what may be left out", "POST", "/v2/emails", `{"email":"a@example.org","LIST_ID":1,` + sender + `,"content":{"subject":"S","text":"T"}}`, "[body LIST_ID]", "list_id"},
		{"the entries of an import", "POST", contacts + "/import", `{"contacts":[],"Contacts":[{"email":"a@example.org"}]}`, "[body Contacts]", "contacts"},
		{"none of the API's", "POST", "/lists", `{"name":"News","colour":"red"}`, "", ""},
		{"of a map, where all are allowed", "POST", "/v2/emails", `{"email":"a@example.org","custom_attributes":{"Email":"x","email":"y"},` + sender + `,"content":{"subject":"S","text":"T"}}`, "", ""},
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
