// Package architecture compares ARCHITECTURE.md, and facts that several files repeat, with the code.
package architecture

import (
	"go/ast"
	"go/parser"
	"go/token"
	"io/fs"
	"maps"
	"os"
	"path"
	"path/filepath"
	"slices"
	"strconv"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"
)

const root = "../../.."

// aside lists folders of programs, tests and their helpers. They have no row, because no package with a row may import them.
var aside = []string{"examples", "internal/benchmarks", "internal/tests", "internal/tools", "mcp/internal/conformance", "mockserver/console/e2e"}

// TestPackages compares the table of packages with the imports in the code.
func TestPackages(t *testing.T) {
	rows, code := table(t), packages(t)
	for _, name := range slices.Sorted(maps.Keys(code)) {
		if !slices.Contains(rows, name) {
			t.Errorf("package %s has no row in ARCHITECTURE.md", name)
		}
	}
	for i, name := range rows {
		imports, ok := code[name]
		if !ok {
			t.Errorf("ARCHITECTURE.md has a row for %s, which is not a package", name)
		}
		for _, imported := range imports {
			if _, own := code[imported]; own && !slices.Contains(rows[:i], imported) {
				t.Errorf("%s imports %s, but %[2]s is not above it in the table", name, imported)
			}
			if imported == "client" && (name == "mockserver" || strings.HasPrefix(name, "mockserver/")) {
				t.Errorf("%s imports client, so a fault in client could hide a fault in the mock server", name)
			}
		}
	}
}

func read(t *testing.T, name string) string {
	t.Helper()
	text, err := os.ReadFile(filepath.Join(root, name))
	require.NoError(t, err)
	return strings.ReplaceAll(string(text), "\r\n", "\n")
}

// table returns the packages in ARCHITECTURE.md, in their order.
func table(t *testing.T) (rows []string) {
	t.Helper()
	_, text, _ := strings.Cut(read(t, "ARCHITECTURE.md"), "<!-- packages -->")
	text, _, ok := strings.Cut(text, "<!-- /packages -->")
	if !ok {
		t.Fatal("ARCHITECTURE.md has no table between its markers")
	}
	for line := range strings.SplitSeq(text, "\n") {
		if cells := strings.Split(line, "|"); len(cells) == 4 && strings.HasPrefix(cells[1], " `") {
			rows = append(rows, strings.Trim(cells[1], " `"))
		}
	}
	return rows
}

// packages returns the imports of each package, except the standard library. A package of the repository has its folder
// as its name.
func packages(t *testing.T) map[string][]string {
	t.Helper()
	_, module, _ := strings.Cut(read(t, "go.mod"), "module ")
	module, _, _ = strings.Cut(module, "\n")
	all := map[string]map[string]bool{}
	err := filepath.WalkDir(root, func(file string, entry fs.DirEntry, err error) error {
		if err != nil {
			return err
		}
		relative, err := filepath.Rel(root, file)
		name := filepath.ToSlash(relative)
		switch {
		case err != nil:
			return err
		case entry.IsDir() && hidden(name):
			return filepath.SkipDir
		case entry.IsDir() || path.Ext(name) != ".go" || strings.HasSuffix(name, "_test.go"):
			return nil
		}
		source, err := parser.ParseFile(token.NewFileSet(), file, nil, parser.ImportsOnly)
		if err != nil {
			return err
		}
		dir := path.Dir(name)
		if all[dir] == nil {
			all[dir] = map[string]bool{}
		}
		for _, spec := range source.Imports {
			imported, err := strconv.Unquote(spec.Path.Value)
			if err != nil {
				return err
			}
			if own, ok := strings.CutPrefix(imported, module+"/"); ok {
				imported = own
			} else if imported == module {
				imported = "."
			} else if first, _, _ := strings.Cut(imported, "/"); !strings.Contains(first, ".") {
				continue
			}
			all[dir][imported] = true
		}
		return nil
	})
	require.NoError(t, err)
	out := map[string][]string{}
	for dir, imports := range all {
		out[dir] = slices.Sorted(maps.Keys(imports))
		for name := range imports {
			if hidden(name) {
				t.Errorf("%s imports %s, which no package may import", dir, name)
			}
		}
	}
	return out
}

// hidden reports whether a folder holds no package that needs a row.
func hidden(name string) bool {
	base := path.Base(name)
	return slices.ContainsFunc(aside, func(dir string) bool { return name == dir || strings.HasPrefix(name, dir+"/") }) ||
		name != "." && strings.ContainsRune("._", rune(base[0])) ||
		slices.Contains([]string{"testdata", "node_modules", "vendor"}, base)
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
