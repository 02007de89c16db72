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

// TestServers: each http.Server in the examples limits the time of a request and of a response. Slow clients then cannot keep
// its connections. internal/tests/slowpeers tests such servers with slow clients.
func TestServers(t *testing.T) {
	servers := 0
	err := filepath.WalkDir(filepath.Join(root, "examples"), func(file string, _ fs.DirEntry, err error) error {
		if err != nil || filepath.Ext(file) != ".go" || strings.HasSuffix(file, "_test.go") {
			return err
		}
		fset := token.NewFileSet()
		source, err := parser.ParseFile(fset, file, nil, parser.SkipObjectResolution)
		if err != nil {
			return err
		}
		ast.Inspect(source, func(n ast.Node) bool {
			literal, ok := n.(*ast.CompositeLit)
			if !ok {
				return true
			}
			if kind, ok := literal.Type.(*ast.SelectorExpr); !ok || kind.Sel.Name != "Server" {
				return true
			}
			servers++
			var fields []string
			for _, element := range literal.Elts {
				if field, ok := element.(*ast.KeyValueExpr); ok && !isZero(field.Value) {
					fields = append(fields, field.Key.(*ast.Ident).Name)
				}
			}
			assert.Subset(t, fields, []string{"ReadTimeout", "WriteTimeout"}, "%s: the fields of http.Server", fset.Position(n.Pos()))
			return true
		})
		return nil
	})
	require.NoError(t, err)
	assert.Positive(t, servers)
}

// isZero reports whether a value is the literal 0, which would mean no limit.
func isZero(value ast.Expr) bool {
	literal, ok := value.(*ast.BasicLit)
	return ok && literal.Value == "0"
}
