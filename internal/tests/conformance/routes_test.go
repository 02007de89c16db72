package conformance_test

import (
	"bytes"
	"encoding/json"
	"fmt"
	"maps"
	"net/http"
	"net/url"
	"path/filepath"
	"regexp"
	"slices"
	"strconv"
	"strings"
	"sync"
	"testing"

	"github.com/getkin/kin-openapi/openapi3"
	"github.com/stretchr/testify/require"

	"example.com/emailplatform/mockserver"
)

// route is an operation of openapi.yaml.
type route struct {
	method, path string // the path with its parameters in braces
	operation    *openapi3.Operation
	item         *openapi3.PathItem
}

var document = sync.OnceValues(func() (*openapi3.T, error) {
	return openapi3.NewLoader().LoadFromFile(filepath.Join("..", "..", "..", "openapi.yaml"))
})

// routes returns the operations of openapi.yaml in a fixed order.
func routes(t testing.TB) []route {
	t.Helper()
	doc, err := document()
	require.NoError(t, err)
	var out []route
	for path, item := range doc.Paths.Map() {
		for method, op := range item.Operations() {
			out = append(out, route{method, path, op, item})
		}
	}
	slices.SortFunc(out, func(a, b route) int { return strings.Compare(a.String(), b.String()) })
	return out
}

func (r route) String() string { return r.method + " " + r.path }

// at returns the path with the same value for every parameter.
func (r route) at(value string) string { return pathParameter.ReplaceAllLiteralString(r.path, value) }

func (r route) hasParameter() bool { return strings.Contains(r.path, "{") }

// example returns an example body of the operation, or "".
func (r route) example() string {
	examples := r.examples()
	if len(examples) == 0 {
		return ""
	}
	return examples[0]
}

// anID matches a field with one or several ids.
var anID = regexp.MustCompile(`"(\w+_id)(s?)":(\d+|\[[\d,]*\])`)

// exampleOf returns the example with these ids.
func (r route) exampleOf(ids map[string]string) string {
	return anID.ReplaceAllStringFunc(r.example(), func(member string) string {
		m := anID.FindStringSubmatch(member)
		if m[2] == "s" {
			return fmt.Sprintf(`"%ss":[%s]`, m[1], ids[m[1]])
		}
		return fmt.Sprintf(`"%s":%s`, m[1], ids[m[1]])
	})
}

func (r route) examples() []string {
	if r.operation.RequestBody == nil {
		return nil
	}
	media := r.operation.RequestBody.Value.Content.Get("application/json")
	values := []any{media.Example}
	for _, name := range slices.Sorted(maps.Keys(media.Examples)) {
		values = append(values, media.Examples[name].Value.Value)
	}
	var out []string
	for _, value := range values {
		if raw, err := json.Marshal(value); err == nil && value != nil {
			out = append(out, string(raw))
		}
	}
	return out
}

var pathParameter = regexp.MustCompile(`\{\w+\}`)

// existing replaces ids in examples with ids of createResources.
var existing = strings.NewReplacer(`"list_id":81`, `"list_id":1`, `90210,90211`, `2`, `"template_id":4711`,
	`"template_id":3`)

// FuzzAPI sends random requests to every route, with and without validation. Every response must match openapi.yaml,
// and none may be a 500.
func FuzzAPI(f *testing.F) {
	routes := routes(f)
	for n, r := range routes {
		n := uint8(n)
		f.Add(n, true, "", "", "application/json", []byte("{}"))
		f.Add(n, false, "x", "page=2&per_page=3&with_count=true&sort=email:asc&filter=email:x", "", []byte(nil))
		for _, example := range r.examples() {
			body := []byte(existing.Replace(example))
			f.Add(n, false, "", "send_double_opt_in=true", "application/json", body)
			f.Add(n, true, "", "", "application/json", body)
		}
	}
	f.Fuzz(func(t *testing.T, n uint8, unchecked bool, parameter, query, contentType string, body []byte) {
		server := setup(t, func(c *mockserver.Config) { c.SkipValidation = unchecked })
		ids := createResources(server)
		r := routes[int(n)%len(routes)]
		target := pathParameter.ReplaceAllStringFunc(r.path, func(name string) string {
			if parameter == "" {
				return ids[strings.Trim(name, "{}")]
			}
			return url.PathEscape(parameter)
		})
		req, err := http.NewRequestWithContext(t.Context(), r.method, "http://127.0.0.1/", bytes.NewReader(body))
		require.NoError(t, err)
		if req.URL.Path, err = url.PathUnescape(target); err != nil {
			t.Fatal(err)
		}
		req.URL.RawPath, req.URL.RawQuery = target, query
		req.Header = http.Header{"Authorization": {"Bearer " + server.Token()}, "Content-Type": {contentType}}
		if response := server.Send(req); response.Status >= 500 {
			t.Errorf("%s %s?%s %s: %d %s", r.method, target, query, body, response.Status, response.Body)
		}
		server.deliveries()
	})
}

// createResources creates a resource of each kind and returns the ids by path parameter.
func createResources(f *fixture) map[string]string {
	const maria = "maria.silva@example.com" // address in the examples of openapi.yaml
	list := f.list()
	contact := f.Post(fmt.Sprintf("/lists/%d/contacts", list), fmt.Sprintf(`{"email":%q,"tags":["vip"]}`, maria)).Int("id")
	ids := map[string]int64{
		"list_id":     list,
		"contact_id":  contact,
		"template_id": f.Post("/templates", design).Int("template_id"),
		"campaign_id": f.campaign(list),
		"workflow_id": f.workflow(list),
	}
	f.Post("/suppressed-emails", `{"email":"no-more@example.com"}`).OK()
	out := map[string]string{
		"webhook_id": f.listen(),
		"email_id":   f.submitTo(list, maria),
		"email":      "no-more@example.com",
	}
	for name, id := range ids {
		out[name] = strconv.FormatInt(id, 10)
	}
	return out
}
