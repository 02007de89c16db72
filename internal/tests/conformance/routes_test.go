package conformance_test

import (
	"encoding/json"
	"fmt"
	"path/filepath"
	"regexp"
	"slices"
	"strings"
	"sync"
	"testing"

	"github.com/getkin/kin-openapi/openapi3"
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
	if err != nil {
		t.Fatal(err)
	}
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
func (r route) at(value string) string {
	var out []string
	for segment := range strings.SplitSeq(r.path, "/") {
		if strings.HasPrefix(segment, "{") {
			segment = value
		}
		out = append(out, segment)
	}
	return strings.Join(out, "/")
}

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
	names := make([]string, 0, len(media.Examples))
	for name := range media.Examples {
		names = append(names, name)
	}
	slices.Sort(names)
	for _, name := range names {
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
