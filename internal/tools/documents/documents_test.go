package documents

import (
	"flag"
	"go/ast"
	"go/doc/comment"
	"go/parser"
	"go/token"
	"io/fs"
	"os"
	"path"
	"path/filepath"
	"regexp"
	"slices"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"
)

const root = "../../.."

//go:generate go test -run ^TestCopiedCode$ -update

var (
	nested = flag.Bool("nested", false, "look at the documents of the other modules as well")
	update = flag.Bool("update", false, "update the copied code in the documents")
)

// block is a piece of code in a document.
type block struct {
	file     string // with slashes, below root
	module   string // folder of the file's module; "." is the root
	language string // language of a fence, or guessed; "" for a drawing
	from     string // source of the code
	code     string
}

// first returns the first line of b, which identifies it in lists.
func (b block) first() string {
	line, _, _ := strings.Cut(b.code, "\n")
	return strings.TrimSpace(line)
}

// files returns the files with the suffix ext in this module, or in all modules with -nested.
func files(t *testing.T, ext string) (names []string) {
	t.Helper()
	require.NoError(t, fs.WalkDir(os.DirFS(root), ".", func(name string, entry fs.DirEntry, err error) error {
		if base := path.Base(name); name != "." && err == nil && entry.IsDir() &&
			(strings.HasPrefix(base, ".") || name == "site/go" || slices.Contains([]string{"testdata", "node_modules", "vendor"}, base)) {
			return fs.SkipDir
		}
		if strings.HasSuffix(name, ext) {
			names = append(names, name)
		}
		return err
	}))
	return slices.DeleteFunc(names, func(name string) bool { return !*nested && moduleOf(name) != "." })
}

// moduleOf returns the folder of a file's module.
func moduleOf(file string) string {
	dir := path.Dir(file)
	for dir != "." && !exists(dir, "go.mod") {
		dir = path.Dir(dir)
	}
	return dir
}

// exists reports whether a file or folder below root exists.
func exists(elements ...string) bool {
	_, err := os.Stat(filepath.Join(root, filepath.FromSlash(path.Join(elements...))))
	return err == nil
}

// documents returns the names of all documents except the specification, which is not part of this project.
func documents(t *testing.T) []string {
	t.Helper()
	return slices.DeleteFunc(files(t, ".md"), func(name string) bool { return name == "docs/specification.md" })
}

func read(t *testing.T, name string) string {
	t.Helper()
	b, err := os.ReadFile(filepath.Join(root, filepath.FromSlash(name)))
	require.NoError(t, err)
	return strings.ReplaceAll(string(b), "\r\n", "\n")
}

var fence = regexp.MustCompile("(?ms)^(?:<!-- from ([^\n]*) -->\n)?```(\\w*)\n(.*?)^```$")

// blocks returns the code of all documents.
func blocks(t *testing.T) (all []block) {
	t.Helper()
	for _, name := range documents(t) {
		text := read(t, name)
		found := fence.FindAllStringSubmatch(text, -1)
		for _, m := range found {
			all = append(all, block{name, moduleOf(name), m[2], m[1], m[3]})
		}
		if rest := fence.ReplaceAllString(text, ""); strings.Contains(rest, "```") || strings.Contains(rest, "<!-- from ") {
			t.Errorf("%s has a code fence within a line, a code fence without an end, or a line \"from\" that no code follows", name)
		}
	}
	return append(all, commentBlocks(t)...)
}

// commentBlocks returns the code in the documentation of packages and their exported names.
func commentBlocks(t *testing.T) (all []block) {
	t.Helper()
	for _, name := range files(t, ".go") {
		if strings.HasSuffix(name, "_test.go") {
			continue
		}
		f, err := parser.ParseFile(token.NewFileSet(), name, read(t, name), parser.ParseComments)
		require.NoError(t, err)
		for _, text := range comments(f, strings.Contains("/"+name, "/internal/")) {
			for _, b := range new(comment.Parser).Parse(text).Content {
				if c, ok := b.(*comment.Code); ok {
					all = append(all, block{name, moduleOf(name), guess(c.Text), "", c.Text})
				}
			}
		}
	}
	return all
}

// comments returns the documentation of a package and, unless it is internal, of its declarations.
func comments(f *ast.File, internal bool) (texts []string) {
	if internal {
		return []string{f.Doc.Text()}
	}
	ast.Inspect(f, func(n ast.Node) bool {
		switch n := n.(type) {
		case *ast.FuncDecl:
			if n.Name.IsExported() {
				texts = append(texts, n.Doc.Text())
			}
			return false
		case *ast.CommentGroup: // the documentation of the package, of other declarations and of fields
			texts = append(texts, n.Text())
		}
		return true
	})
	return texts
}

// guess returns the probable language of a code block whose fence does not name one.
func guess(code string) string {
	switch {
	case strings.HasPrefix(code, "{"):
		return "json"
	case shellLine.MatchString(code):
		return "sh"
	}
	if _, err := parseGo(code); err == nil {
		return "go"
	}
	return ""
}

// shellLine is the beginning of a command.
var shellLine = regexp.MustCompile(`^(?:[A-Z_]+=\S* )*(?:\\\n)?(?:go (?:run|test|build|get|install|generate) |mockserver |emailplatform-mcp )`)
