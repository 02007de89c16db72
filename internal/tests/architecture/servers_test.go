package architecture

import (
	"go/ast"
	"go/token"
	"testing"

	"github.com/stretchr/testify/assert"
)

// TestServers: each http.Server in the examples limits the time to read a request and to write a response, so slow clients
// cannot keep their connections open. internal/tests/slowpeers tests such servers with slow clients.
func TestServers(t *testing.T) {
	servers := 0
	inspect(t, "examples", func(at token.Position, n ast.Node) {
		literal, ok := n.(*ast.CompositeLit)
		if !ok {
			return
		}
		if kind, ok := literal.Type.(*ast.SelectorExpr); !ok || kind.Sel.Name != "Server" {
			return
		}
		servers++
		var fields []string
		for _, element := range literal.Elts {
			if field, ok := element.(*ast.KeyValueExpr); ok && !isZero(field.Value) {
				fields = append(fields, field.Key.(*ast.Ident).Name)
			}
		}
		assert.Subset(t, fields, []string{"ReadTimeout", "WriteTimeout"}, "%s: the fields of http.Server", at)
	})
	assert.Positive(t, servers)
}

// isZero reports whether a value is the literal 0, which would mean no limit.
func isZero(value ast.Expr) bool {
	literal, ok := value.(*ast.BasicLit)
	return ok && literal.Value == "0"
}
