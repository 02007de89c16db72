package architecture

import (
	"go/ast"
	"go/token"
	"strings"
	"testing"

	"github.com/stretchr/testify/assert"
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
