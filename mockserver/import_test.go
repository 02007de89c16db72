package mockserver_test

import (
	"fmt"
	"testing"

	"example.com/emailplatform/mockserver"
)

// badEntries are what is wrong with an entry beside its address, and where.
var badEntries = []struct{ name, members, loc string }{
	{
		name:    "an attribute without a value",
		members: `"custom_attributes":[{"name":"a"}]`, loc: "custom_attributes 0 value",
	},
	{
		name:    "an attribute that is null",
		members: `"custom_attributes":[{"name":"a","value":null}]`, loc: "custom_attributes 0 value",
	},
	{
		name:    "an attribute that is a number",
		members: `"custom_attributes":[{"name":"a","value":"1"},{"name":"b","value":2}]`,
		loc:     "custom_attributes 1 value",
	},
	{
		name:    "an attribute without a name",
		members: `"custom_attributes":[{"value":"1"}]`, loc: "custom_attributes 0 name",
	},
	{name: "tags that are null", members: `"tags":null`, loc: "tags"},
	{name: "an empty tag", members: `"tags":["x",""]`, loc: "tags 1"},
	{name: "an empty interest", members: `"interests":[""]`, loc: "interests 0"},
	{name: "a misspelt member", members: `"TAGS":["x"]`, loc: "TAGS"},
	{name: "a misspelt address", members: `"EMAIL":"b@example.org"`, loc: "EMAIL"},
	{
		name:    "a misspelt member of an attribute",
		members: `"custom_attributes":[{"Name":"a","value":"b"}]`, loc: "custom_attributes 0 Name",
	},
}

// An import refuses of each entry what creating a contact refuses, at the same
// place, and takes the others.
func TestImportRefusesWhatCreatingRefuses(t *testing.T) {
	p := newProbe(t, mockserver.Config{})
	contacts := p.list() + "/contacts"
	for i, tt := range badEntries {
		t.Run(tt.name, func(t *testing.T) {
			entry := fmt.Sprintf(`{"email":"bad%d@example.org",%s}`, i, tt.members)
			created := p.do("POST", contacts, entry)
			kind, loc := created.detail()
			if want := "[body " + tt.loc + "]"; created.status != 422 || loc != want {
				t.Fatalf("creating: got %d %s, want 422 at %s", created.status, created.text, want)
			}
			good := fmt.Sprintf(`{"email":"good%d@example.org"}`, i)
			a := p.must("POST", contacts+"/import", `{"contacts":[`+good+`,`+entry+`]}`)
			found, _ := a.object["errors"].([]any)
			if a.id("imported") != "1" || len(found) != 1 {
				t.Fatalf("importing: got %s, want one entry imported and one refused", a.text)
			}
			first := found[0].(map[string]any)
			if want := "[body contacts 1 " + tt.loc + "]"; first["index"] != 1.0 || fmt.Sprint(first["loc"]) != want ||
				first["type"] != kind {
				t.Errorf("importing: got %v, want %s at %s", first, kind, want)
			}
		})
	}
}

// Without the validation, entries are held against less, but what cannot be read
// is still reported by its index.
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
