package main

import (
	"encoding/json"
	"go/ast"
	"go/types"
	"path/filepath"
	"regexp"
	"slices"
	"strings"

	"example.com/emailplatform/internal/tools/must"
)

var markdownLink = regexp.MustCompile(`\[([^]]*)\]\([^)]*\)`)

// consoleOperation is an operation as the console shows it.
type consoleOperation struct {
	ID          string           `json:"id"`
	Method      string           `json:"method"`
	Path        string           `json:"path"`
	Tag         string           `json:"tag"`
	Summary     string           `json:"summary"`
	Description string           `json:"description"`
	Repeatable  bool             `json:"repeatable,omitempty"`
	Parameters  []row            `json:"parameters,omitempty"`
	Body        string           `json:"body,omitempty"`
	Fields      []row            `json:"fields,omitempty"`
	Examples    []consoleExample `json:"examples,omitempty"`
	Go          goCall           `json:"go"`
}

// goCall is a method of package client that sends the requests of an operation.
type goCall struct {
	Method    string   `json:"method"`
	Arguments []string `json:"arguments"` // the types of the arguments after the context
	Result    bool     `json:"result"`    // whether the method returns more than an error
}

// argumentType matches the types that the console can write as Go: values of paths and of bodies.
var argumentType = regexp.MustCompile(`^(int64|string|time\.Time|[A-Z]\w*)$`)

// goCalls returns a method for each operation. If several methods are possible, it prefers one that
// builds the request itself.
func goCalls(dir string) map[string]goCall {
	calls, direct := map[string]goCall{}, map[string][]string{}
	for _, file := range parseFiles(dir, "types.gen.go", "requests.gen.go", "encode.gen.go", "decode.gen.go") {
		for _, decl := range file.Decls {
			fn, ok := decl.(*ast.FuncDecl)
			if !ok || fn.Recv == nil {
				continue
			}
			service := strings.TrimPrefix(types.ExprString(fn.Recv.List[0].Type), "*") + "."
			call := goCall{service + fn.Name.Name, []string{}, fn.Type.Results.NumFields() > 1}
			for _, p := range fn.Type.Params.List {
				for range p.Names {
					call.Arguments = append(call.Arguments, types.ExprString(p.Type))
				}
			}
			if len(call.Arguments) > 0 && call.Arguments[0] == "context.Context" {
				call.Arguments = call.Arguments[1:]
				calls[call.Method], direct[call.Method] = call, callsIn(fn, service)
			}
		}
	}
	out := map[string]goCall{}
	for op, methods := range clientMethods(dir) {
		builds := func(name string) bool { return slices.Contains(direct[name], op) }
		not := func(name string) bool { return !builds(name) }
		for _, name := range append(slices.DeleteFunc(slices.Clone(methods), not), slices.DeleteFunc(methods, builds)...) {
			call, known := calls[name]
			other := func(typ string) bool { return !argumentType.MatchString(typ) }
			if known && out[op].Method == "" && !strings.HasSuffix(name, ".Find") && !slices.ContainsFunc(call.Arguments, other) {
				out[op] = call
			}
		}
	}
	return out
}

type consoleExample struct {
	Name  string `json:"name"`
	Value string `json:"value"`
}

// operationsFile returns the operations for the console, as JSON.
func operationsFile(root string, doc *document) map[string][]byte {
	w, calls := writer{doc: doc}, goCalls(filepath.Join(root, "client"))
	out := []consoleOperation{}
	for _, op := range doc.operations {
		e := w.endpoint(op)
		o := consoleOperation{
			ID: op.id, Method: op.method, Path: op.path, Tag: strings.Join(op.Tags, ", "),
			Summary: e.Summary, Description: unmarked(e.Description), Repeatable: op.repeatable,
			Parameters: unmarkedRows(e.Parameters), Body: unmarked(e.Body),
			Go: calls[op.id],
		}
		if body := op.body(); body != nil {
			o.Fields = unmarkedRows(w.members(body.Schema.Value))
			if body.Example != nil {
				o.Examples = []consoleExample{{"example", doc.json(body.Origin, "example")}}
			}
			for name, x := range inOrder(body.Examples) {
				o.Examples = append(o.Examples, consoleExample{name, doc.json(x.Origin, "value")})
			}
		}
		out = append(out, o)
	}
	return map[string][]byte{"mockserver/console/static/operations.json": append(must.Get(json.Marshal(out)), '\n')}
}

func unmarkedRows(rows []row) []row {
	for i, r := range rows {
		rows[i].Kind, rows[i].Description = unmarked(r.Kind), unmarked(r.Description)
	}
	return rows
}

// unmarked returns Markdown as plain text.
func unmarked(text string) string {
	text = markdownLink.ReplaceAllString(text, "$1")
	return strings.NewReplacer("`", "", `\|`, "|").Replace(text)
}
