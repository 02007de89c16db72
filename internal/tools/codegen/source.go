package main

import (
	"go/ast"
	"go/parser"
	"go/token"
	"path/filepath"
	"slices"
	"strconv"
	"strings"

	"example.com/emailplatform/internal/tools/must"
)

// parseFiles parses the Go files of a package, except tests and the files with the given names.
func parseFiles(dir string, skip ...string) (files []*ast.File) {
	for _, path := range must.Get(filepath.Glob(filepath.Join(dir, "*.go"))) {
		if !strings.HasSuffix(path, "_test.go") && !slices.Contains(skip, filepath.Base(path)) {
			files = append(files, must.Get(parser.ParseFile(token.NewFileSet(), path, nil, parser.SkipObjectResolution)))
		}
	}
	return files
}

// constants returns the values of the string constants of a package. The keys are the names of their types, with a
// prefix before each name.
func constants(dir, prefix string) map[string][]string {
	out := map[string][]string{}
	for _, file := range parseFiles(dir, "decode.gen.go") {
		ast.Inspect(file, func(n ast.Node) bool {
			spec, ok := n.(*ast.ValueSpec)
			if !ok || len(spec.Values) != 1 {
				return true
			}
			typ, named := spec.Type.(*ast.Ident)
			value, literal := spec.Values[0].(*ast.BasicLit)
			if named && literal && value.Kind == token.STRING {
				out[prefix+typ.Name] = append(out[prefix+typ.Name], must.Get(strconv.Unquote(value.Value)))
			}
			return true
		})
	}
	return out
}
