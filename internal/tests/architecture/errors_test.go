package architecture

import (
	"go/ast"
	"go/parser"
	"go/token"
	"io/fs"
	"path/filepath"
	"strings"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
)

// TestErrorPrefix: no internal package of the mock server puts the name of the public package in front of its errors. The
// public package adds it once, and the control routes return the errors without it.
func TestErrorPrefix(t *testing.T) {
	errors := 0
	inspect(t, "mockserver/internal", func(at token.Position, n ast.Node) {
		call, ok := n.(*ast.CallExpr)
		if !ok || len(call.Args) == 0 {
			return
		}
		function, ok := call.Fun.(*ast.SelectorExpr)
		if !ok || function.Sel.Name != "Errorf" && function.Sel.Name != "New" {
			return
		}
		if text, ok := call.Args[0].(*ast.BasicLit); ok {
			errors++
			assert.False(t, strings.HasPrefix(text.Value, `"mockserver: `), "%s: %s has the prefix of package mockserver", at, text.Value)
		}
	})
	assert.Positive(t, errors)
}

// inspect calls f with each node of the Go files below a folder, without its tests.
func inspect(t *testing.T, folder string, f func(token.Position, ast.Node)) {
	t.Helper()
	err := filepath.WalkDir(filepath.Join(root, folder), func(file string, _ fs.DirEntry, err error) error {
		if err != nil || filepath.Ext(file) != ".go" || strings.HasSuffix(file, "_test.go") {
			return err
		}
		fset := token.NewFileSet()
		source, err := parser.ParseFile(fset, file, nil, parser.SkipObjectResolution)
		if err != nil {
			return err
		}
		ast.Inspect(source, func(n ast.Node) bool {
			if n != nil {
				f(fset.Position(n.Pos()), n)
			}
			return true
		})
		return nil
	})
	require.NoError(t, err)
}
