package main

import (
	"go/ast"
	"go/parser"
	"go/token"
	"path/filepath"
	"slices"
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
