package main

import (
	_ "embed"
	"errors"
	"fmt"
	"go/ast"
	"go/parser"
	"go/token"
	"path/filepath"
	"strings"
)

//go:embed reference.head.md
var referenceHead string

// referenceFile returns docs/reference.md.
func referenceFile(root string, doc *document) (map[string][]byte, error) {
	methods, err := clientMethods(filepath.Join(root, "client"))
	if err != nil {
		return nil, err
	}
	endpoints, err := endpointTable(doc.operations, methods)
	if err != nil {
		return nil, err
	}
	text := referenceHead + "\n## Endpoints\n\n" + endpoints + "\n`All` iterates over all pages of `List`.\n" +
		"\n## Events\n\n" + eventTable(doc.events)
	return map[string][]byte{"docs/reference.md": []byte(text)}, nil
}

func endpointTable(operations []operation, methods map[string][]string) (string, error) {
	var out strings.Builder
	out.WriteString("| method | path | client | repeatable |\n|---|---|---|---|\n")
	var errs []error
	for _, op := range operations {
		if len(methods[op.id]) == 0 {
			errs = append(errs, fmt.Errorf("package client: no exported method calls %sRequest: %s %s has none", op.id, op.method, op.path))
		}
		repeatable := map[bool]string{true: "yes", false: "no"}[op.repeatable]
		fmt.Fprintf(&out, "| %s | `%s` | `%s` | %s |\n", op.method, op.path, strings.Join(methods[op.id], "` `"), repeatable)
	}
	return out.String(), errors.Join(errs...)
}

func eventTable(events []event) string {
	var out strings.Builder
	out.WriteString("| event | type of `Event.Data`, a pointer to |\n|---|---|\n")
	for _, e := range events {
		var types []string
		for _, s := range e.Shapes {
			types = append(types, "`"+s.Name+"`")
		}
		fmt.Fprintf(&out, "| %s | %s |\n", e.Name, strings.Join(types, " "))
	}
	out.WriteString("| any other, or a shape that is not known | `Unknown`, with the raw JSON |\n")
	return out.String()
}

// clientMethods returns the exported methods of package client that call the
// request builder of an operation, as Service.Method, by operation.
func clientMethods(dir string) (map[string][]string, error) {
	names, err := filepath.Glob(filepath.Join(dir, "*.go"))
	if err != nil {
		return nil, err
	}
	out := map[string][]string{}
	for _, name := range names {
		if strings.HasSuffix(name, "_test.go") || strings.HasSuffix(name, ".gen.go") {
			continue
		}
		file, err := parser.ParseFile(token.NewFileSet(), name, nil, parser.SkipObjectResolution)
		if err != nil {
			return nil, err
		}
		for _, decl := range file.Decls {
			fn, ok := decl.(*ast.FuncDecl)
			if !ok || fn.Recv == nil || !fn.Name.IsExported() {
				continue
			}
			for op := range requestsIn(fn) {
				out[op] = append(out[op], receiver(fn)+"."+fn.Name.Name)
			}
		}
	}
	return out, nil
}

// requestsIn returns the operations whose requests a function builds.
func requestsIn(fn *ast.FuncDecl) map[string]bool {
	found := map[string]bool{}
	ast.Inspect(fn, func(n ast.Node) bool {
		if call, ok := n.(*ast.CallExpr); ok {
			if id, ok := call.Fun.(*ast.Ident); ok && strings.HasSuffix(id.Name, "Request") {
				found[strings.TrimSuffix(id.Name, "Request")] = true
			}
		}
		return true
	})
	return found
}

func receiver(fn *ast.FuncDecl) string {
	t := fn.Recv.List[0].Type
	if star, ok := t.(*ast.StarExpr); ok {
		t = star.X
	}
	id, _ := t.(*ast.Ident)
	if id == nil {
		return ""
	}
	return id.Name
}
