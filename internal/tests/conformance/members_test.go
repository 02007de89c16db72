package conformance_test

import (
	"bytes"
	"cmp"
	"encoding/json"
	"fmt"
	"maps"
	"net/http"
	"slices"
	"strings"
	"testing"

	"github.com/getkin/kin-openapi/openapi3"
)

// shownElsewhere contains the path that shows the effect of an operation, if its path or its response does not name it.
var shownElsewhere = map[string]string{
	"submitEmail":            "/_mock/outbox/{id}",
	"sendTransactionalEmail": "/_mock/outbox/{id}",
	"importContacts":         "/lists/{list_id}/contacts",
	"scheduleCampaign":       "/campaigns/{campaign_id}",
}

// shownAs contains fields that are shown under another name.
var shownAs = map[string]string{"importContacts import_to": "status"}

// instructions are fields that are not stored, with the tests of their effects.
var instructions = map[string]string{"importContacts resubscribe": "TestImportResubscribes"}

// Each field of a request body can be read afterwards, and again after a snapshot was restored.
func TestEveryMemberIsKept(t *testing.T) {
	for _, r := range routes(t) {
		if r.method != http.MethodPatch && (r.method != http.MethodPost || !r.answersBody()) || len(r.examples()) == 0 {
			continue
		}
		for _, member := range leaves(r.body(), nil) {
			if name := r.operation.OperationID + " " + member.String(); instructions[name] != "" {
				continue
			}
			t.Run(r.operation.OperationID+" "+member.String(), func(t *testing.T) { keeps(t, r, member) })
		}
	}
}

// answersBody reports whether a success has a body.
func (r route) answersBody() bool {
	for status, response := range r.operation.Responses.Map() {
		if status[0] == '2' && len(response.Value.Content) > 0 {
			return true
		}
	}
	return false
}

// keeps sends a mark in one field, and looks for it.
func keeps(t *testing.T, r route, member leaf) {
	l := newLab(t)
	ids := furnishFor(l, r)
	example := map[string]any{}
	if err := json.Unmarshal([]byte(r.exampleOf(ids)), &example); err != nil {
		t.Fatal(err)
	}
	mark := value(member.schema, member.name(), "mark", ids)
	body := put(r.body(), example, member.path, mark, ids)
	answer := l.do(r.method, resolve(r.path, ids), show(body)).ok()
	where := r.shownAt(t, ids, answer)
	want := member.shown(r, mark)
	if shown := string(l.get(where).ok().raw); !strings.Contains(shown, want) {
		t.Errorf("%s drops %s: sent %v, and GET %s shows %s", r, member, body, where, shown)
	}
	var snapshot bytes.Buffer
	l.must(l.srv.Snapshot(&snapshot))
	restored := newLab(t)
	restored.must(restored.srv.Restore(&snapshot))
	if shown := string(restored.get(where).ok().raw); !strings.Contains(shown, want) {
		t.Errorf("a snapshot drops %s of %s: sent %v, and GET %s shows %s", member, r, body, where, shown)
	}
}

// body is the schema of the request body.
func (r route) body() *openapi3.Schema {
	return r.operation.RequestBody.Value.Content.Get("application/json").Schema.Value
}

// resolve fills the parameters of a path.
func resolve(path string, ids map[string]string) string {
	for name, id := range ids {
		path = strings.ReplaceAll(path, "{"+name+"}", id)
	}
	return path
}

// shownAt returns the path that shows what the operation created or changed.
func (r route) shownAt(t *testing.T, ids map[string]string, made reply) string {
	t.Helper()
	ids["id"] = made.id("id")
	if path := shownElsewhere[r.operation.OperationID]; path != "" {
		return resolve(path, ids)
	}
	if r.item.Get != nil && r.method == http.MethodPatch {
		return resolve(r.path, ids)
	}
	for _, other := range routes(t) {
		rest, below := strings.CutPrefix(other.path, r.path+"/{")
		if name, single := strings.CutSuffix(rest, "}"); below && single && other.method == http.MethodGet {
			ids[name] = cmp.Or(made.id(name), made.id("id"))
			return resolve(other.path, ids)
		}
	}
	if r.item.Get == nil {
		t.Fatalf("shownElsewhere does not say where to read what %s was given", r)
	}
	return resolve(r.path, ids)
}

// id returns a field that is an id, or "".
func (a reply) id(name string) string {
	a.l.Helper()
	if len(a.raw) == 0 {
		return ""
	}
	members, _ := a.json().(map[string]any)
	if members[name] == nil {
		return ""
	}
	return fmt.Sprint(members[name])
}

// leaf is a field without fields. In its path, 0 is an array element and attribute a map value.
type leaf struct {
	path   []string
	schema *openapi3.Schema
}

func (l leaf) String() string { return strings.Join(l.path, ".") }

// name returns the name of the field, or of the array that contains it.
func (l leaf) name() string {
	if last := l.path[len(l.path)-1]; last != "0" {
		return last
	}
	return l.path[len(l.path)-2]
}

func leaves(s *openapi3.Schema, path []string) (out []leaf) {
	at := func(name string) []string { return append(slices.Clone(path), name) }
	switch {
	case s.Type.Includes("array"):
		return leaves(s.Items.Value, at("0"))
	case !s.Type.Includes("object"):
		return []leaf{{path, s}}
	case s.AdditionalProperties.Schema != nil:
		return leaves(s.AdditionalProperties.Schema.Value, at("attribute"))
	}
	for _, name := range slices.Sorted(maps.Keys(s.Properties)) {
		out = append(out, leaves(s.Properties[name].Value, at(name))...)
	}
	return out
}

// value returns a valid value of a field that contains a word.
func value(s *openapi3.Schema, name, word string, ids map[string]string) any {
	switch {
	case strings.HasSuffix(name, "_id") && ids[name] != "":
		return json.Number(ids[name])
	case len(s.Enum) > 0:
		return s.Enum[len(s.Enum)-1]
	case s.Type.Includes("integer"):
		return int64(4_200_000_017)
	case s.Type.Includes("boolean"):
		return true
	case name == "url":
		return "http://" + word + ".example/"
	case name == "email":
		return word + "@example.com"
	}
	return word
}

// put returns the old value with the mark at the path. New objects have their required fields.
func put(s *openapi3.Schema, old any, path []string, mark any, ids map[string]string) any {
	switch {
	case len(path) == 0:
		return mark
	case s.Type.Includes("array"):
		return []any{put(s.Items.Value, nil, path[1:], mark, ids)}
	case s.AdditionalProperties.Schema != nil:
		return map[string]any{path[0]: mark}
	}
	members, _ := old.(map[string]any)
	if members == nil {
		members = required(s, ids)
	}
	makeRoom(members, path[0])
	members[path[0]] = put(s.Properties[path[0]].Value, members[path[0]], path[1:], mark, ids)
	return members
}

func required(s *openapi3.Schema, ids map[string]string) map[string]any {
	members := map[string]any{}
	for _, name := range s.Required {
		members[name] = value(s.Properties[name].Value, name, "other", ids)
	}
	return members
}

// makeRoom removes fields that exclude or hide another field.
func makeRoom(members map[string]any, name string) {
	switch name {
	case "template_id":
		delete(members, "html")
		delete(members, "text")
	case "html", "text":
		delete(members, "template_id")
	case "custom_attributes": // of an email are seen in what they fill
		if content, ok := members["content"].(map[string]any); ok {
			delete(content, "template_id")
			content["text"] = "Hello {{attribute}}"
		}
	}
}

// shown returns the mark as JSON shows it.
func (l leaf) shown(r route, mark any) string {
	if text, ok := mark.(string); ok && len(l.schema.Enum) == 0 {
		return text
	}
	value, _ := json.Marshal(mark)
	name := l.name()
	if other := shownAs[r.operation.OperationID+" "+l.String()]; other != "" {
		name = other
	}
	if l.path[len(l.path)-1] == "0" {
		return string(value)
	}
	return fmt.Sprintf("%q:%s", name, value)
}
