package documents

import (
	"go/ast"
	"go/parser"
	"go/types"
	"path"
	"strings"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
)

// tutorial is the finished program of the tutorial.
const tutorial = "examples/tutorial"

// TestTutorial type-checks the reader's files after each step of the tutorial. It also checks that the example, whose
// tests pass, contains the same files.
func TestTutorial(t *testing.T) {
	var names, paths []string
	var files []*ast.File
	for _, m := range fence.FindAllStringSubmatch(read(t, "docs/tutorial.md"), -1) {
		if path.Dir(m[1]) != tutorial {
			continue
		}
		f, err := parser.ParseFile(fset, m[1], m[3], parser.SkipObjectResolution)
		require.NoError(t, err, m[1])
		names, files = append(names, path.Base(m[1])), append(files, f)
		for _, i := range f.Imports {
			paths = append(paths, strings.Trim(i.Path.Value, `"`))
		}
	}
	assert.Contains(t, names, "main.go")
	load := loader(t, ".", paths)
	for i, name := range names {
		cfg := types.Config{Importer: load, Error: func(err error) { t.Errorf("after %s: %v", name, err) }}
		_, _ = cfg.Check("main", fset, files[:i+1], nil) // Error gets all errors
	}
}
