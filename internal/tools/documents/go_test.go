package documents

import (
	"errors"
	"fmt"
	"go/ast"
	"go/importer"
	"go/parser"
	"go/token"
	"go/types"
	"io"
	"os"
	"os/exec"
	"path"
	"path/filepath"
	"regexp"
	"slices"
	"strings"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
)

// TestGoCompiles type-checks each Go code block, except copies of code in a Go
// file. A fragment may contain unused variables and imports.
func TestGoCompiles(t *testing.T) {
	byModule := map[string][]block{}
	for _, b := range blocks(t) {
		if b.language == "go" && b.from == "" {
			byModule[b.module] = append(byModule[b.module], b)
		}
	}
	if len(byModule["."]) < 20 {
		t.Errorf("found %d blocks of Go, which are too few", len(byModule["."]))
	}
	for module, all := range byModule {
		t.Run(module, func(t *testing.T) {
			var parsed []*ast.File
			var paths []string
			for _, b := range all {
				f, err := parseGo(b.code)
				assert.NoError(t, err, "%s: %q", b.file, b.first())
				// A slow client can keep a connection to a server without timeouts.
				assert.NotRegexp(t, `http\.(ListenAndServe|Serve)(TLS)?\(`, b.code, b.file)
				parsed = append(parsed, f)
				for _, i := range f.Imports {
					paths = append(paths, strings.Trim(i.Path.Value, `"`))
				}
			}
			load := loader(t, module, paths)
			for i, b := range all {
				cfg := types.Config{Importer: load, Error: func(err error) {
					if e, ok := errors.AsType[types.Error](err); !ok || !e.Soft {
						t.Errorf("%s: %q: %v", b.file, b.first(), err)
					}
				}}
				_, _ = cfg.Check("block", fset, []*ast.File{parsed[i]}, nil) // Error gets all errors
			}
		})
	}
}

// fset has the positions of all parsed code.
var fset = token.NewFileSet()

// known returns the packages that a fragment may use without an import, by name.
func known() map[string]string {
	const module = "example.com/emailplatform/"
	all := map[string]string{
		"sdk": "github.com/modelcontextprotocol/go-sdk/mcp", "redis": "github.com/redis/go-redis/v9", "pgx": "github.com/jackc/pgx/v5",
	}
	for _, name := range []string{
		"bytes", "context", "crypto/tls", "crypto/x509", "database/sql", "encoding/json", "errors", "fmt", "io", "log", "log/slog", "maps",
		"net/http", "net/url", "os", "slices", "strings", "testing", "time",
		"github.com/jackc/pgx/v5/pgxpool", "github.com/riverqueue/river", "github.com/riverqueue/river/riverdriver/riverpgxv5",
		"go.opentelemetry.io/contrib/instrumentation/net/http/otelhttp",
		module + "client", module + "client/clienttest", module + "contrib/emailotel", module + "contrib/pgstore",
		module + "contrib/redisstore", module + "contrib/riverjobs", module + "events",
		module + "internal/tests/simulation", module + "mcp", module + "mockserver", module + "mockserver/console",
		module + "webhook", module + "webhook/webhooktest", module + "mailroom", module + "contrib/sqlstore", module + "mailroom/mailroomtest",
	} {
		all[path.Base(name)] = name
	}
	return all
}

// prelude contains the names that fragments use without a declaration.
var prelude = map[string]string{
	"ctx": "context.Context", "err": "error", "c": "*client.Client", "cfg": "client.Config",
	"baseURL": "string", "token": "string",
	"listID": "int64", "campaignID": "int64", "emailID": "string", "webhookID": "string", "url": "string", "names": "[]events.Name",
	"traceparent": "string", "body": "[]byte", "verifier": "*webhook.Verifier",
	"handle":             "func(context.Context, *events.Event) error",
	"submission":         "client.EmailSubmission",
	"file":               "io.Reader",
	"tokens":             "map[string]string",
	"proxyURL":           "*url.URL",
	"ownCAs":             "*x509.CertPool",
	"clientCertificates": "[]tls.Certificate",
	"credentials":        "interface{ Token(context.Context) (*struct{ AccessToken string; Expiry time.Time }, error) }",
	"newLimiter":         "func(*testing.T) client.LookupLimiter",
	"newStore":           "func(*testing.T) webhook.Once",
	"db":                 "*sql.DB",
	"pool":               "*pgxpool.Pool",
	"onNotice":           "func(context.Context, mailroom.Notice) error",
	"store":              "mailroom.Store",
	"openDB":             "func(*testing.T) *sql.DB",
}

var (
	elidedLine = regexp.MustCompile(`(?m)^\s*…\n`)
	topLevel   = regexp.MustCompile(`(?m)^(?:func [\w(]|type )`)
)

// parseGo parses a file, declarations or statements. "…" stands for omitted code.
func parseGo(code string) (*ast.File, error) {
	code = strings.ReplaceAll(elidedLine.ReplaceAllString(code, ""), "{…}", "{}")
	if strings.HasPrefix(code, "package ") {
		return parser.ParseFile(fset, "block.go", code, parser.SkipObjectResolution)
	}
	if !topLevel.MatchString(code) {
		code = "func _() error {\n" + code + "\nreturn nil\n}\n"
	}
	whole := code
	for name, of := range prelude {
		if regexp.MustCompile(`\b` + name + `\b`).MatchString(code) {
			whole += "var " + name + " " + of + "\n"
		}
	}
	head := "package block\n"
	for name, path := range known() {
		if regexp.MustCompile(`\b` + name + `\.[A-Z]`).MatchString(whole) {
			head += fmt.Sprintf("import %s %q\n", name, path)
		}
	}
	return parser.ParseFile(fset, "block.go", head+whole, parser.SkipObjectResolution)
}

// loader returns an importer for packages and their dependencies. It runs go list in a module, and reads the compiled
// packages that go list reports.
func loader(t *testing.T, module string, paths []string) types.Importer {
	t.Helper()
	slices.Sort(paths)
	args := []string{"list", "-deps", "-export", "-f", "{{if .Export}}{{.ImportPath}}={{.Export}}{{end}}", "--"}
	out := goTool(t, module, append(args, slices.Compact(paths)...)...)
	exports := map[string]string{}
	for line := range strings.Lines(out) {
		name, file, _ := strings.Cut(strings.TrimSpace(line), "=")
		exports[name] = file
	}
	return importer.ForCompiler(fset, "gc", func(name string) (io.ReadCloser, error) { return os.Open(exports[name]) })
}

// goTool runs the go command in a folder and returns its output.
func goTool(t *testing.T, dir string, args ...string) string {
	t.Helper()
	cmd := exec.CommandContext(t.Context(), "go", args...)
	cmd.Dir = filepath.Join(root, filepath.FromSlash(dir))
	var stderr strings.Builder
	cmd.Stderr = &stderr
	out, err := cmd.Output()
	if err != nil {
		t.Fatalf("in %s: go %s: %v\n%s", dir, strings.Join(args, " "), err, stderr.String())
	}
	return string(out)
}

// TestCopiedCode compares each block that is copied from a file with that file.
func TestCopiedCode(t *testing.T) {
	for _, name := range documents(t) {
		text := read(t, name)
		now := fence.ReplaceAllStringFunc(text, func(whole string) string {
			m := fence.FindStringSubmatch(whole)
			if m[1] == "" {
				return whole
			}
			return fmt.Sprintf("<!-- from %s -->\n```%s\n%s```", m[1], m[2], cut(t, name, m[1]))
		})
		switch {
		case now == text:
		case *update:
			require.NoError(t, os.WriteFile(filepath.Join(root, filepath.FromSlash(name)), []byte(now), 0o600))
		default:
			t.Errorf("%s differs from the code that it shows: go test ./internal/tools/documents -run TestCopiedCode -update", name)
		}
	}
}

// If from is "file: name, name", cut returns the declarations of these names with their comments, in that order. If
// from names only a file, cut returns the whole file.
func cut(t *testing.T, document, from string) string {
	t.Helper()
	file, names, _ := strings.Cut(from, ": ")
	source := read(t, file)
	if names == "" {
		return source
	}
	fset := token.NewFileSet()
	f, err := parser.ParseFile(fset, file, source, parser.ParseComments)
	require.NoError(t, err)
	var parts []string
	for name := range strings.SplitSeq(names, ", ") {
		start, end := declaration(f, name)
		if !start.IsValid() {
			t.Errorf("%s: %s declares no %s", document, file, name)
			continue
		}
		parts = append(parts, source[fset.Position(start).Offset:fset.Position(end).Offset]+"\n")
	}
	return strings.Join(parts, "\n")
}

// declaration returns the start and the end of the top-level function, method or type with a name, including its comment.
func declaration(f *ast.File, name string) (start, end token.Pos) {
	for _, d := range f.Decls {
		var found bool
		var comment *ast.CommentGroup
		switch d := d.(type) {
		case *ast.FuncDecl:
			found, comment = d.Name.Name == name, d.Doc
		case *ast.GenDecl:
			comment = d.Doc
			found = slices.ContainsFunc(d.Specs, func(s ast.Spec) bool { of, ok := s.(*ast.TypeSpec); return ok && of.Name.Name == name })
		}
		if found && comment != nil {
			return comment.Pos(), d.End()
		}
		if found {
			return d.Pos(), d.End()
		}
	}
	return token.NoPos, token.NoPos
}

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
