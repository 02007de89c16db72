// Package contract validates requests, responses and events against openapi.yaml,
// from a table of its operations and schemas that internal/tools/codegen writes.
package contract

import (
	"slices"
	"strings"
	"sync"

	"example.com/emailplatform/mockserver/internal/suggest"
)

// Known names an operation of openapi.yaml.
type Known struct {
	ID     string `json:"operation" doc:"its operationId"`
	Method string `json:"method" doc:"its method"`
	Path   string `json:"path" doc:"its path"`
}

// Operation is an endpoint of openapi.yaml.
type Operation struct {
	Known

	Deprecated      bool
	InPath, InQuery []Parameter
	Body            *Schema // nil if the operation has no body
	BodyRequired    bool
	Responses       map[string]Response // by status, such as 200 or 5XX
}

// Parameter is a parameter in the path or the query.
type Parameter struct {
	Name   string
	Schema *Schema
}

// Response is the media type and schema of a body. It is zero if there is no
// body.
type Response struct {
	Media  string
	Schema *Schema
}

// document is the generated table. Callers must not change it.
type document struct {
	operations []*Operation       // in the order of openapi.yaml
	events     map[string]*Schema // schemas of event bodies
	problem    *Schema            // schema of an error response
}

var load = sync.OnceValue(table)

// Operations returns all operations, by their net/http patterns such as
// "GET /lists/{list_id}". Callers must not change them.
var Operations = sync.OnceValue(func() map[string]*Operation {
	all := map[string]*Operation{}
	for _, o := range load().operations {
		all[o.Method+" "+o.Path] = o
	}
	return all
})

// List returns the names of all operations, sorted by path and method.
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

// Methods returns the methods of all operations, sorted. It includes HEAD, because the
// server responds to HEAD like to GET.
func Methods() []string {
	methods := []string{"HEAD"}
	for _, o := range load().operations {
		methods = append(methods, o.Method)
	}
	slices.Sort(methods)
	return slices.Compact(methods)
}

// Closest returns the operation that a request to an unknown path probably meant,
// or nil if none is similar.
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
