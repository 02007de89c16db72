// Package contract validates requests, responses and events against openapi.yaml.
// It uses a table of operations and schemas that internal/tools/codegen
// generates.
package contract

import (
	"slices"
	"strings"
	"sync"

	"example.com/emailplatform/mockserver/internal/suggest"
)

// Known is the id, method and path of an operation in openapi.yaml.
type Known struct {
	ID     string `json:"operation" doc:"the operationId of the operation"`
	Method string `json:"method" doc:"the HTTP method of the operation"`
	Path   string `json:"path" doc:"the path of the operation"`
}

// Operation is an operation in openapi.yaml.
type Operation struct {
	Known

	Deprecated      bool
	InPath, InQuery []Parameter
	Body            *Schema // nil if the operation has no body
	BodyRequired    bool
	Responses       map[string]Response // keyed by status, such as 200 or 5XX
}

// Parameter is a parameter in the path or the query.
type Parameter struct {
	Name   string
	Schema *Schema
}

// Response contains the media type and schema of a response body. It is zero for a
// response without a body.
type Response struct {
	Media  string
	Schema *Schema
}

// document is the generated table of operations and schemas. Callers must not
// change the table.
type document struct {
	operations []*Operation       // in the order of openapi.yaml
	events     map[string]*Schema // schemas of event bodies, keyed by event name
	problem    *Schema            // schema of an error response
}

var load = sync.OnceValue(table)

// Operations returns all operations, keyed by their net/http patterns, such as
// "GET /lists/{list_id}". Callers must not change the operations.
var Operations = sync.OnceValue(func() map[string]*Operation {
	all := map[string]*Operation{}
	for _, o := range load().operations {
		all[o.Method+" "+o.Path] = o
	}
	return all
})

// List identifies all operations, sorted by path and method.
func List() []Known {
	var out []Known
	for _, o := range load().operations {
		out = append(out, o.Known)
	}
	slices.SortFunc(out, func(a, b Known) int { return strings.Compare(a.Path+" "+a.Method, b.Path+" "+b.Method) })
	return out
}

// IDs returns the operationIds, sorted.
func IDs() []string {
	var ids []string
	for _, o := range load().operations {
		ids = append(ids, o.ID)
	}
	slices.Sort(ids)
	return ids
}

// Methods returns the methods of all operations, sorted. The result includes HEAD,
// because the server treats HEAD like GET.
func Methods() []string {
	methods := []string{"HEAD"}
	for _, o := range load().operations {
		methods = append(methods, o.Method)
	}
	slices.Sort(methods)
	return slices.Compact(methods)
}

// Closest returns the operation with the most similar path, or nil if no path is
// similar.
func Closest(method, path string) *Known {
	all := List()
	var names []string
	for _, o := range all {
		names = append(names, o.Method+" "+suggest.Fill(o.Path, path))
	}
	i := slices.Index(names, suggest.Closest(method+" "+path, names))
	if i < 0 {
		return nil
	}
	return &all[i]
}
