// Package readme_test holds the README to what is in the repository: its Go
// code compiles, its commands exist, its tables are complete.
package readme_test

import (
	"encoding/json"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"reflect"
	"regexp"
	"strings"
	"testing"

	"github.com/getkin/kin-openapi/openapi3"

	"example.com/emailplatform/client"
)

const root = "../.."

// block is a piece of code between fences.
type block struct{ language, code string }

var fence = regexp.MustCompile("(?ms)^```(\\w+)\n(.*?)^```$")

func blocks(t *testing.T) (all []block) {
	t.Helper()
	for _, m := range fence.FindAllStringSubmatch(readme(t), -1) {
		all = append(all, block{m[1], m[2]})
	}
	if len(all) == 0 {
		t.Fatal("the README has no code")
	}
	return all
}

func readme(t *testing.T) string {
	t.Helper()
	b, err := os.ReadFile(filepath.Join(root, "README.md"))
	if err != nil {
		t.Fatal(err)
	}
	return string(b)
}

// fragment makes a file of statements that use a client.
const fragment = `package fragment

import (
	"context"
	"fmt"
	"os"

	"example.com/emailplatform/client"
)

var _ = os.Open

func _(ctx context.Context, c *client.Client, listID int64, emailID string) error {
%s}
`

func TestGoBlocksCompile(t *testing.T) {
	// The underscore keeps it from ./... and other patterns.
	dir, err := os.MkdirTemp(".", "_blocks") //nolint:usetesting // within the module, for its go.mod
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { _ = os.RemoveAll(dir) })
	var packages []string
	for i, b := range blocks(t) {
		if b.language != "go" {
			continue
		}
		code, name := b.code, "main.go"
		if strings.Contains(code, "testing.T") {
			name = "main_test.go"
		}
		if !strings.HasPrefix(code, "package ") {
			code = fmt.Sprintf(fragment, code)
		}
		sub := filepath.Join(dir, fmt.Sprint("block", i))
		if err := os.Mkdir(sub, 0o700); err != nil {
			t.Fatal(err)
		}
		if err := os.WriteFile(filepath.Join(sub, name), []byte(code), 0o600); err != nil {
			t.Fatal(err)
		}
		packages = append(packages, "./"+filepath.ToSlash(sub))
	}
	vet(t, ".", packages...)
}

// TestCommandsExist holds each command of a shell block to a package that can
// be built; the continuous integration runs what these commands run.
func TestCommandsExist(t *testing.T) {
	for _, b := range blocks(t) {
		if b.language != "sh" {
			continue
		}
		for line := range strings.Lines(b.code) {
			words := strings.Fields(line)
			switch {
			case strings.HasPrefix(line, "go test ./..."):
			case strings.HasPrefix(line, "go run ./"):
				vet(t, root, words[2])
			case strings.HasPrefix(line, "go build -C "), strings.HasPrefix(line, "go run -C "):
				command, _, _ := strings.Cut(line, "#")
				words = strings.Fields(command)
				vet(t, filepath.Join(root, words[3]), words[len(words)-1])
			default:
				t.Errorf("no test runs %q", line)
			}
		}
	}
}

// vet compiles a package, seen from a folder.
func vet(t *testing.T, dir string, packages ...string) {
	t.Helper()
	cmd := exec.CommandContext(t.Context(), "go", append([]string{"vet"}, packages...)...)
	cmd.Dir = dir
	if out, err := cmd.CombinedOutput(); err != nil {
		t.Errorf("go vet %s: %v\n%s", strings.Join(packages, " "), err, out)
	}
}

func TestOtherBlocksAreWellFormed(t *testing.T) {
	for _, b := range blocks(t) {
		switch b.language {
		case "go", "sh":
		case "json":
			if !json.Valid([]byte(b.code)) {
				t.Errorf("not JSON:\n%s", b.code)
			}
		default:
			t.Errorf("no test for the language %q", b.language)
		}
	}
}

func document(t *testing.T) *openapi3.T {
	t.Helper()
	doc, err := openapi3.NewLoader().LoadFromFile(filepath.Join(root, "openapi.yaml"))
	if err != nil {
		t.Fatal(err)
	}
	return doc
}

var endpointRow = regexp.MustCompile("(?m)^\\| ([A-Z]+) \\| `(/\\S*)` \\| `(\\w+)\\.(\\w+)` \\| (yes|no) \\|$")

func TestEndpointTable(t *testing.T) {
	rows := map[string][]string{}
	for _, m := range endpointRow.FindAllStringSubmatch(readme(t), -1) {
		rows[m[1]+" "+m[2]] = m[3:]
	}
	doc := document(t)
	for path, item := range doc.Paths.Map() {
		for method, op := range item.Operations() {
			row, ok := rows[method+" "+path]
			if !ok {
				t.Errorf("no row for %s %s", method, path)
				continue
			}
			delete(rows, method+" "+path)
			if repeatable := op.Extensions["x-repeatable"] == true; repeatable != (row[2] == "yes") {
				t.Errorf("%s %s: the document says repeatable: %v", method, path, repeatable)
			}
			service, ok := reflect.TypeFor[client.Client]().FieldByName(row[0])
			if !ok {
				t.Errorf("the client has no service %s", row[0])
				continue
			}
			if _, ok := service.Type.MethodByName(row[1]); !ok {
				t.Errorf("%s has no method %s", row[0], row[1])
			}
		}
	}
	for row := range rows {
		t.Errorf("the document has no %s", row)
	}
}

var eventRow = regexp.MustCompile("(?m)^\\| ([A-Z]\\w+\\.[A-Z]\\w+) \\| ((?:`\\w+` ?)+) \\|$")

func TestEventTable(t *testing.T) {
	rows := map[string]string{}
	for _, m := range eventRow.FindAllStringSubmatch(readme(t), -1) {
		rows[m[1]] = m[2]
	}
	doc := document(t)
	for name := range doc.Webhooks {
		if rows[name] == "" {
			t.Errorf("no row for %s", name)
		}
		for typ := range strings.FieldsSeq(rows[name]) {
			typ = strings.Trim(typ, "`")
			if doc.Components.Schemas[typ] == nil {
				t.Errorf("%s: the document has no schema %s", name, typ)
			}
		}
		delete(rows, name)
	}
	for name := range rows {
		t.Errorf("the document has no event %s", name)
	}
}

// TestLinksLead holds each relative link to a file.
func TestLinksLead(t *testing.T) {
	for _, m := range regexp.MustCompile(`\]\(([^)#:]+)\)`).FindAllStringSubmatch(readme(t), -1) {
		if _, err := os.Stat(filepath.Join(root, m[1])); err != nil {
			t.Error(err)
		}
	}
}
