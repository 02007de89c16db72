package main

import (
	"cmp"
	"go/ast"
	"go/types"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"unicode"

	"example.com/emailplatform/internal/tools/try"
)

const allComment = "All iterates over all items, starting at params.Page. See Pagination in the\npackage documentation."

// method is a method of package client that sends one request and reads its response.
type method struct {
	Service, Operation string
	Comment            string
	Parameters         []goParameter
	Result             string // type; empty if the response has no body

	// For pages, the type of the elements and the comments of the methods All and Find. Without Find, there is no such
	// method.
	Element, All, Find string
}

type goParameter struct{ Name, Type string }

// Name is the first word of the comment.
func (m method) Name() string { return strings.Fields(m.Comment)[0] }

// Arguments are the names of the parameters.
func (m method) Arguments() string {
	var names []string
	for _, p := range m.Parameters {
		names = append(names, p.Name)
	}
	return strings.Join(names, ", ")
}

// methods returns methods.gen.go of a package from client.methods.yaml and requests.gen.go.
func methods(dir string, doc *document) []byte {
	const in = "client.methods.yaml"
	types := newGenerator(filepath.Join(dir, "types.gen.go"))
	functions := map[string]*ast.FuncDecl{}
	for _, decl := range parse(filepath.Join(dir, "requests.gen.go")).Decls {
		if fn, ok := decl.(*ast.FuncDecl); ok {
			functions[fn.Name.Name] = fn
		}
	}
	var all []method
	for service, comments := range try.Get(parseTree(try.Get(os.ReadFile(in)))).all() {
		for id, comment := range comments.all() {
			if id == "All" || id == "Find" {
				continue
			}
			i := slices.IndexFunc(doc.operations, func(op operation) bool { return op.id == id })
			if i < 0 {
				try.Failf("%s: openapi.yaml has no operation %s", in, id)
			}
			m := method{
				Service: service, Operation: id, Comment: comment.Value,
				Parameters: parameters(functions[id+"Request"]), Result: doc.operations[i].result(doc.root),
			}
			if strings.HasSuffix(m.Result, "Page") {
				m.Element, m.All, m.Find = types.element(m.Result), cmp.Or(comments.text("All"), allComment), comments.text("Find")
			}
			all = append(all, m)
		}
	}
	return execute("methods.tmpl", all)
}

// parameters returns the parameters of a function that creates a request. The name of a body, such as ListCreate or
// ContactTagging, is the created resource, or otherwise the last word of its type.
func parameters(fn *ast.FuncDecl) (out []goParameter) {
	for _, p := range fn.Type.Params.List {
		name, typ := p.Names[0].Name, types.ExprString(p.Type)
		if name == "body" {
			resource, created := strings.CutSuffix(typ, "Create")
			if !created {
				resource = typ[strings.LastIndexFunc(typ, unicode.IsUpper):]
			}
			name = strings.ToLower(resource)
		}
		out = append(out, goParameter{name, typ})
	}
	return out
}

// result returns the schema of the JSON body of a successful response, or "".
func (op operation) result(root tree) string {
	for status, response := range op.at("responses").all() {
		if status[0] == '2' {
			return response.resolve(root).json().schemaNamed()
		}
	}
	return ""
}

// element returns the type of the elements of the field Data.
func (g *generator) element(page string) string {
	for _, f := range g.fields(page, g.types[page].(*ast.StructType)) {
		if f.name == "Data" {
			return types.ExprString(f.typ.(*ast.ArrayType).Elt)
		}
	}
	try.Failf("%s has no field Data", page)
	return ""
}

// comment returns text as a Go comment.
func comment(text string) string {
	return strings.ReplaceAll("// "+strings.ReplaceAll(strings.TrimSpace(text), "\n", "\n// "), "// \n", "//\n")
}
