package conformance_test

import (
	"bytes"
	"cmp"
	"encoding/json"
	"fmt"
	"maps"
	"net/http"
	"path"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/getkin/kin-openapi/openapi3"
	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"example.com/emailplatform/internal/tests/probe"
	"example.com/emailplatform/mockserver"
)

// before contains the request that an operation needs after createResources.
var before = map[string]string{
	"acceptListPolicy":   `POST /lists {"name":"Closed"}`,
	"createContact":      `POST /lists {"name":"Which the example's contact is not on"}`,
	"updateCampaign":     `POST /lists {"name":"Which it does not go to yet"}`,
	"addSuppressedEmail": "DELETE /suppressed-emails/{email}",
	"activateWorkflow":   "POST /workflows/{workflow_id}/deactivate",
	"unarchiveWebhook":   "POST /webhooks/{webhook_id}/archive",
}

// createResourcesFor creates the records that an operation needs, and returns their ids.
func createResourcesFor(f *fixture, r route) map[string]string {
	f.Helper()
	ids := createResources(f)
	if call := before[r.operation.OperationID]; call != "" {
		method, rest, _ := strings.Cut(resolve(call, ids), " ")
		path, body, _ := strings.Cut(rest, " ")
		made := f.Do(method, path, body).OK()
		ids["list_id"] = cmp.Or(idOf(made, "list_id"), ids["list_id"])
	}
	return ids
}

// Each operation except GET changes the state.
func TestEveryWriteChangesState(t *testing.T) {
	for _, r := range routes(t) {
		if r.method == http.MethodGet {
			continue
		}
		t.Run(r.operation.OperationID, withFixture(func(f *fixture) {
			ids := createResourcesFor(f, r)
			untouched := state(f)
			f.Do(r.method, resolve(r.path, ids), r.exampleOf(ids)).OK()
			if state(f) == untouched {
				f.Errorf("%s changes nothing; if it needs an earlier operation, add that to the variable before", r)
			}
		}, recordEvents))
	}
}

// A repeated POST that openapi.yaml calls repeatable has the same response, changes nothing and creates no event.
func TestRepeatableOperations(t *testing.T) {
	for _, r := range routes(t) {
		if r.method != http.MethodPost || r.operation.Extensions["x-repeatable"] != true {
			continue
		}
		t.Run(r.operation.OperationID, withFixture(func(f *fixture) {
			proves(f, "decision/36/nothing")
			ids := createResourcesFor(f, r)
			path, body := resolve(r.path, ids), r.exampleOf(ids)
			first := f.Post(path, body).OK()
			if r.operation.OperationID == "importContacts" { // a repeated import updates the contacts
				first = f.Post(path, body).OK()
			}
			was := state(f)
			time.Sleep(time.Minute)
			for range 2 {
				again := f.Post(path, body).OK()
				assert.Equal(f, fmt.Sprint(first.Status, first.Body), fmt.Sprint(again.Status, again.Body), "the response")
			}
			line, before, after := differ(was, state(f))
			assert.Equal(f, before, after, "line %d of the state", line)
		}, recordEvents))
	}
	t.Run("the same address in another case", withFixture(func(f *fixture) {
		proves(f, "decision/36/nothing")
		f.Post("/suppressed-emails", fmt.Sprintf(`{"email":%q}`, ada)).OK()
		f.listen()
		f.Post("/suppressed-emails", `{"email":"ADA@example.org"}`).OK()
		f.fires()
	}))
}

func recordEvents(c *mockserver.Config) { c.RecordEvents = true }

// state returns the state after all deliveries.
func state(f *fixture) string {
	f.Helper()
	f.deliveries()
	var out bytes.Buffer
	require.NoError(f, f.Snapshot(&out))
	return out.String()
}

// differ returns the first line that is different.
func differ(a, b string) (line int, inA, inB string) {
	linesA, linesB := strings.Split(a, "\n"), strings.Split(b, "\n")
	for i := range min(len(linesA), len(linesB)) {
		if linesA[i] != linesB[i] {
			return i + 1, linesA[i], linesB[i]
		}
	}
	return 0, "", ""
}

// shownElsewhere contains the path that shows the effect of an operation if shownAt cannot derive the path.
var shownElsewhere = map[string]string{
	"submitEmail":            "/_mock/outbox/{id}",
	"sendTransactionalEmail": "/_mock/outbox/{id}",
	"importContacts":         "/lists/{list_id}/contacts",
}

// shownName contains fields that are shown under another name.
var shownName = map[string]string{"importContacts import_to": "status"}

// instructions are fields that are not stored, with the scenarios of their effects.
var instructions = map[string]string{"importContacts resubscribe": "import a contact that is"}

// Each field of a request body can be read afterwards, and again after a snapshot was restored.
func TestEveryFieldIsStored(t *testing.T) {
	for _, r := range routes(t) {
		if r.method != http.MethodPatch && (r.method != http.MethodPost || !r.returnsBody()) || len(r.examples()) == 0 {
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

// returnsBody reports whether a successful response has a body.
func (r route) returnsBody() bool {
	for status, response := range r.operation.Responses.Map() {
		if status[0] == '2' && len(response.Value.Content) > 0 {
			return true
		}
	}
	return false
}

// keeps sends a mark in one field. A later GET must return it, even after a restore of a snapshot.
func keeps(t *testing.T, r route, member leaf) {
	f := setup(t)
	ids := createResourcesFor(f, r)
	example := map[string]any{}
	require.NoError(t, json.Unmarshal([]byte(r.exampleOf(ids)), &example))
	mark := value(member.schema, member.name(), "mark", ids)
	body := put(r.body(), example, member.path, mark, ids)
	response := f.Do(r.method, resolve(r.path, ids), probe.Show(body)).OK()
	where := r.shownAt(t, ids, response)
	want := member.shown(r, mark)
	assert.Contains(t, f.Get(where).OK().Body, want, "%s drops %s: sent %v, and reads GET %s", r, member, body, where)
	var snapshot bytes.Buffer
	require.NoError(f, f.Snapshot(&snapshot))
	restored := setup(t)
	require.NoError(f, restored.Restore(&snapshot))
	assert.Contains(t, restored.Get(where).OK().Body, want, "a snapshot drops %s of %s: sent %v, and reads GET %s", member, r, body, where)
}

// body returns the schema of the request body.
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

// shownAt returns the path that shows the created or changed record.
func (r route) shownAt(t *testing.T, ids map[string]string, made probe.Response) string {
	t.Helper()
	ids["id"] = idOf(made, "id")
	if shown := shownElsewhere[r.operation.OperationID]; shown != "" {
		return resolve(shown, ids)
	}
	if r.item.Get != nil && r.method == http.MethodPatch {
		return resolve(r.path, ids)
	}
	for _, other := range routes(t) {
		rest, below := strings.CutPrefix(other.path, r.path+"/{")
		if name, single := strings.CutSuffix(rest, "}"); below && single && other.method == http.MethodGet {
			ids[name] = cmp.Or(idOf(made, name), idOf(made, "id"))
			return resolve(other.path, ids)
		}
	}
	for _, other := range routes(t) { // an action on a record, such as POST /campaigns/{campaign_id}/schedule
		if r.item.Get == nil && other.method == http.MethodGet && other.path == path.Dir(r.path) && strings.HasSuffix(other.path, "}") {
			return resolve(other.path, ids)
		}
	}
	if r.item.Get == nil {
		t.Fatalf("shownElsewhere has no entry for %s", r)
	}
	return resolve(r.path, ids)
}

// idOf returns a field that is an id, or "".
func idOf(r probe.Response, name string) string {
	r.Helper()
	if r.Body == "" || r.Field(name) == nil {
		return ""
	}
	return r.Text(name)
}

// leaf is a field that has no fields itself. In its path, "0" stands for an array element, and "attribute" stands for a
// map value.
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

// value returns a valid value for a field. If the field can contain any text, a URL or an email address, the value
// contains the given word.
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

// put returns the old value with the mark at the path. Objects that it adds have their required fields.
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
	removeExcluding(members, path[0])
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

// removeExcluding removes fields that exclude or hide another field.
func removeExcluding(members map[string]any, name string) {
	switch name {
	case "template_id":
		delete(members, "html")
		delete(members, "text")
	case "html", "text":
		delete(members, "template_id")
	case "custom_attributes": // of an email appear only in its content
		if content, ok := members["content"].(map[string]any); ok {
			delete(content, "template_id")
			content["text"] = "Hello {{attribute}}"
		}
	}
}

// shown returns the mark as it appears in JSON.
func (l leaf) shown(r route, mark any) string {
	if text, ok := mark.(string); ok && len(l.schema.Enum) == 0 {
		return text
	}
	value, _ := json.Marshal(mark)
	name := l.name()
	if other := shownName[r.operation.OperationID+" "+l.String()]; other != "" {
		name = other
	}
	if l.path[len(l.path)-1] == "0" {
		return string(value)
	}
	return fmt.Sprintf("%q:%s", name, value)
}

func TestImportLimit(t *testing.T) {
	withFixture(func(f *fixture) {
		proves(f, "limits/import", "decision/14/too-many")
		path := fmt.Sprintf("/lists/%d/contacts", f.list())
		batch := func(n int) string {
			return `{"contacts":[` + strings.TrimSuffix(strings.Repeat(`{"email":"ada@example.org"},`, n), ",") + `]}`
		}
		f.Post(path+"/import", batch(1001)).Problem(422, "too_many_contacts", "body.contacts")
		f.Get(path).Is(200, `{"data":[],"…":0}`)
		f.Post(path+"/import", batch(1000)).Is(200, `{"imported":1,"updated":999,"errors":[]}`)
	})(t)
}
