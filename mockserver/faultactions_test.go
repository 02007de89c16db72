package mockserver_test

import (
	"go/ast"
	"go/parser"
	"go/token"
	"io/fs"
	"os"
	"path/filepath"
	"regexp"
	"slices"
	"strconv"
	"strings"
	"testing"

	"example.com/emailplatform/mockserver/internal/fault"
)

// Each fault action has its alias in mockserver, a row that says what it happens
// to, a description in the console, and a test that injects it.
func TestFaultActionsAreComplete(t *testing.T) {
	var names, values, public []string
	inspect(t, "record", func(_ string, n ast.Node) {
		spec, ok := n.(*ast.ValueSpec)
		if !ok || len(spec.Values) == 0 {
			return
		}
		if id, ok := spec.Type.(*ast.Ident); ok && id.Name == "FaultAction" {
			value, _ := strconv.Unquote(spec.Values[0].(*ast.BasicLit).Value)
			names, values = append(names, strings.TrimPrefix(spec.Names[0].Name, "Fault")), append(values, value)
		}
	})
	tested := map[string]bool{} // by name or value
	look := func(path string, n ast.Node) {
		test := strings.HasSuffix(path, "_test.go")
		switch n := n.(type) {
		case *ast.ValueSpec:
			if name, ok := strings.CutPrefix(n.Names[0].Name, "Fault"); ok && name != "" && path == "faults.go" && len(n.Values) > 0 {
				public = append(public, name)
			}
		case *ast.SelectorExpr:
			if name, ok := strings.CutPrefix(n.Sel.Name, "Fault"); ok && test {
				tested[name] = true
			}
		case *ast.BasicLit:
			if _, value, ok := strings.Cut(n.Value, `"action":"`); ok && test {
				value, _, _ = strings.Cut(value, `"`)
				tested[value] = true
			}
		}
	}
	inspect(t, ".", look)
	inspect(t, filepath.Join("..", "internal", "tests", "conformance"), look)
	var rows []string
	for _, action := range fault.Actions() {
		rows = append(rows, string(action))
	}
	sameNames(t, "the actions of internal/fault", rows, values)
	sameNames(t, "the constants of package mockserver, without Fault", public, names)
	sameNames(t, "the words of console/static/faults.js", consoleActions(t), values)
	for i, name := range names {
		if !tested[name] && !tested[values[i]] {
			t.Errorf("no test injects %s", values[i])
		}
	}
}

// consoleActions returns the actions that the console has words for.
func consoleActions(t *testing.T) (actions []string) {
	t.Helper()
	text, err := os.ReadFile("console/static/faults.js")
	if err != nil {
		t.Fatal(err)
	}
	_, table, _ := strings.Cut(string(text), "const actions = {")
	table, _, _ = strings.Cut(table, "\n};")
	for _, m := range regexp.MustCompile(`\['(\w+)', '`).FindAllStringSubmatch(table, -1) {
		actions = append(actions, m[1])
	}
	return actions
}

// inspect goes through the Go files below a folder.
func inspect(t *testing.T, dir string, look func(path string, n ast.Node)) {
	t.Helper()
	err := filepath.WalkDir(dir, func(path string, entry fs.DirEntry, err error) error {
		if err != nil || entry.IsDir() || filepath.Ext(path) != ".go" {
			return err
		}
		file, err := parser.ParseFile(token.NewFileSet(), path, nil, parser.SkipObjectResolution)
		if err == nil {
			ast.Inspect(file, func(n ast.Node) bool { look(path, n); return true })
		}
		return err
	})
	if err != nil {
		t.Fatal(err)
	}
}

// sameNames reports each name that only one of the two sets contains.
func sameNames(t testing.TB, what string, got, want []string) {
	t.Helper()
	for _, name := range want {
		if !slices.Contains(got, name) {
			t.Errorf("%s: %s is missing", what, name)
		}
	}
	for _, name := range got {
		if !slices.Contains(want, name) {
			t.Errorf("%s: %s is unknown", what, name)
		}
	}
}
