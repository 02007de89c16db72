package mockserver_test

import (
	"fmt"
	"testing"

	"example.com/emailplatform/mockserver"
)

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
