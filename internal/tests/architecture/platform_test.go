package architecture

import (
	"bytes"
	"go/ast"
	"go/importer"
	"go/parser"
	"go/token"
	"go/types"
	"io"
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"strings"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
)

// TestPlatformLayers checks that no file of the platform refers to a file in a higher row of the table in the package
// comment, and that each file is in one row. A row is a line such as "\tactivity, campaigns  purpose": a tab,
// the names of files without the suffix .go, at least two spaces, the purpose of the files, and the scenarios that test them in
// brackets.
func TestPlatformLayers(t *testing.T) {
	fset, files := platformFiles(t)
	row := map[string]int{}
	rows := regexp.MustCompile(`(?m)^\t(\S+(?:, \S+)*)  .*?(?:\[(.*)\])?$`).FindAllStringSubmatch(files["platform"].Doc.Text(), -1)
	for i, m := range rows {
		for scenario := range strings.FieldsFuncSeq(m[2], func(r rune) bool { return r == ',' || r == ' ' }) {
			assert.FileExists(t, filepath.Join(root, "internal/tests/conformance/testdata/scenarios", scenario+".txt"))
		}
		for name := range strings.SplitSeq(m[1], ", ") {
			if _, again := row[name]; again || files[name] == nil {
				t.Errorf("the package comment has %s.go, which is in another row or does not exist", name)
			}
			row[name] = i
		}
	}
	for name := range files {
		if _, ok := row[name]; !ok {
			t.Errorf("no row of the package comment has %s.go", name)
		}
	}
	for at, used := range platformReferences(t, fset, files) {
		from, to := fileAt(fset, at.Pos()), fileAt(fset, used.Pos())
		if row[to] < row[from] {
			t.Errorf("%s refers to %s in %s.go, which is in a higher row", fset.Position(at.Pos()), used.Name(), to)
		}
	}
}

func fileAt(fset *token.FileSet, at token.Pos) string {
	return strings.TrimSuffix(filepath.Base(fset.Position(at).Filename), ".go")
}

// platformFiles parses the files of the platform. The keys of the returned map are the names of the files without .go.
func platformFiles(t *testing.T) (*token.FileSet, map[string]*ast.File) {
	t.Helper()
	names, err := filepath.Glob(filepath.Join(root, "mockserver/internal/platform/*.go"))
	require.NoError(t, err)
	fset, files := token.NewFileSet(), map[string]*ast.File{}
	for _, name := range names {
		if !strings.HasSuffix(name, "_test.go") {
			file, err := parser.ParseFile(fset, name, nil, parser.ParseComments)
			require.NoError(t, err)
			files[fileAt(fset, file.Pos())] = file
		}
	}
	return fset, files
}

// platformReferences returns the uses of functions, methods, types, variables and constants of the platform.
func platformReferences(t *testing.T, fset *token.FileSet, files map[string]*ast.File) map[*ast.Ident]types.Object {
	t.Helper()
	list := exec.CommandContext(t.Context(), "go", "list", "-export", "-deps", "-f", "{{.ImportPath}} {{.Export}}", "./mockserver/internal/platform")
	list.Dir, list.Stderr = root, os.Stderr
	out, err := list.Output()
	require.NoError(t, err)
	compiled := map[string]string{}
	for line := range bytes.Lines(out) {
		path, file, _ := strings.Cut(string(bytes.TrimSpace(line)), " ")
		compiled[path] = file
	}
	open := func(path string) (io.ReadCloser, error) { return os.Open(compiled[path]) }
	var all []*ast.File
	for _, file := range files {
		all = append(all, file)
	}
	info := types.Info{Uses: map[*ast.Ident]types.Object{}}
	config := types.Config{Importer: importer.ForCompiler(fset, "gc", open)}
	own, err := config.Check("platform", fset, all, &info)
	require.NoError(t, err)
	for at, used := range info.Uses {
		field, _ := used.(*types.Var)
		if used.Pkg() != own || field != nil && field.IsField() || used.Parent() != own.Scope() && !isMethod(used) {
			delete(info.Uses, at)
		}
	}
	return info.Uses
}

func isMethod(o types.Object) bool {
	f, ok := o.(*types.Func)
	return ok && f.Signature().Recv() != nil
}
