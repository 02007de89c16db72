package main

import (
	"go/ast"
	"go/parser"
	"go/token"
	"maps"
	"path/filepath"
	"strings"
)

// clientMethods returns the exported methods of package client that send requests
// for an operation, directly or through other methods of the same service. The
// result maps each operation to names such as Service.Method.
func clientMethods(dir string) (map[string][]string, error) {
	names, err := filepath.Glob(filepath.Join(dir, "*.go"))
	if err != nil {
		return nil, err
	}
	var order []string
	methods := map[string]*ast.FuncDecl{}
	for _, name := range names {
		if strings.HasSuffix(name, "_test.go") || strings.HasSuffix(name, ".gen.go") {
			continue
		}
		file, err := parser.ParseFile(token.NewFileSet(), name, nil, parser.SkipObjectResolution)
		if err != nil {
			return nil, err
		}
		for _, decl := range file.Decls {
			if fn, ok := decl.(*ast.FuncDecl); ok && fn.Recv != nil {
				name := receiver(fn) + "." + fn.Name.Name
				order, methods[name] = append(order, name), fn
			}
		}
	}
	out := map[string][]string{}
	for _, name := range order {
		if !methods[name].Name.IsExported() {
			continue
		}
		found := map[string]bool{}
		for fn := range reached(methods, name) {
			maps.Copy(found, requestsIn(fn))
		}
		for op := range found {
			out[op] = append(out[op], name)
		}
	}
	return out, nil
}

// reached returns a method and the methods of the same service that it calls,
// directly or indirectly.
func reached(methods map[string]*ast.FuncDecl, name string) map[*ast.FuncDecl]bool {
	found := map[*ast.FuncDecl]bool{}
	var walk func(name string)
	walk = func(name string) {
		fn := methods[name]
		if fn == nil || found[fn] {
			return
		}
		found[fn] = true
		ast.Inspect(fn, func(n ast.Node) bool {
			if s, ok := n.(*ast.SelectorExpr); ok && isReceiver(fn, s.X) {
				walk(receiver(fn) + "." + s.Sel.Name)
			}
			return true
		})
	}
	walk(name)
	return found
}

// isReceiver reports whether an expression is the receiver of a method.
func isReceiver(fn *ast.FuncDecl, x ast.Expr) bool {
	id, ok := x.(*ast.Ident)
	names := fn.Recv.List[0].Names
	return ok && len(names) == 1 && id.Name == names[0].Name
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
