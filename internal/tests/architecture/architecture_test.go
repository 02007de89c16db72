// Package architecture compares ARCHITECTURE.md and testdata/imports.txt with the code.
package architecture

import (
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

// aside lists programs, tests and their helpers, which have no row because no package with a row may import them.
var aside = []string{
	"examples", "internal/tests/canary", "internal/tests/chaos", "internal/tools/codegen",
	"internal/tools/documents", "internal/benchmarks", "internal/tools/rename",
	"internal/tests/rawhttp", "internal/tests/simulation", "internal/tests/slowpeers",
	"internal/tests/testservers", "internal/tools", "mcp/internal", "mockserver/console/e2e",
}

// row is a package in the table of ARCHITECTURE.md, with its imports in testdata/imports.txt.
type row struct {
	name    string // folder of the package
	imports []string
}

// TestPackages compares the table of packages with the imports in the code.
func TestPackages(t *testing.T) {
	rows, code := table(t), packages(t)
	for _, name := range slices.Sorted(maps.Keys(code)) {
		if !slices.ContainsFunc(rows, func(r row) bool { return r.name == name }) {
			t.Errorf("package %s has no row in ARCHITECTURE.md", name)
		}
	}
	seen := map[string]bool{}
	for _, r := range rows {
		imports, ok := code[r.name]
		if !ok {
			t.Errorf("ARCHITECTURE.md has a row for %s, which is not a package", r.name)
		}
		if got := slices.Sorted(slices.Values(r.imports)); !slices.Equal(got, imports) {
			t.Errorf("testdata/imports.txt: %s has the imports\n%q, the code has\n%q", r.name, got, imports)
		}
		for _, name := range r.imports {
			if _, own := code[name]; own && !seen[name] {
				t.Errorf("%s imports %s, but %[2]s is not above it in the table", r.name, name)
			}
		}
		seen[r.name] = true
	}
}

func read(t *testing.T, name string) string {
	t.Helper()
	text, err := os.ReadFile(filepath.Join(root, name))
	require.NoError(t, err)
	return strings.ReplaceAll(string(text), "\r\n", "\n")
}

// table reads the rows of ARCHITECTURE.md in their order, and the imports of each.
func table(t *testing.T) []row {
	t.Helper()
	imports := map[string][]string{}
	for line := range strings.Lines(read(t, "internal/tests/architecture/testdata/imports.txt")) {
		if name, list, ok := strings.Cut(line, ":"); ok {
			imports[name] = strings.Fields(list)
		}
	}
	_, text, _ := strings.Cut(read(t, "ARCHITECTURE.md"), "<!-- packages -->")
	text, _, ok := strings.Cut(text, "<!-- /packages -->")
	if !ok {
		t.Fatal("ARCHITECTURE.md has no table between its markers")
	}
	var rows []row
	for line := range strings.SplitSeq(text, "\n") {
		if cells := strings.Split(line, "|"); len(cells) == 4 && strings.HasPrefix(cells[1], " `") {
			name := strings.Trim(cells[1], " `")
			rows = append(rows, row{name, imports[name]})
			delete(imports, name)
		}
	}
	for name := range imports {
		t.Errorf("testdata/imports.txt has %s, which has no row in ARCHITECTURE.md", name)
	}
	return rows
}

// packages returns the imports of each package, except the standard library. The folder is the name of each package
// in the repository.
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
