package documents

import (
	"errors"
	"fmt"
	"go/ast"
	"go/doc"
	"go/parser"
	"net/url"
	"path"
	"regexp"
	"slices"
	"strings"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"example.com/emailplatform/internal/tools/markdown"
)

var (
	codeSpan   = regexp.MustCompile("`[^`\n]*`")
	inlineLink = regexp.MustCompile(`\]\(([^)\s]+)\)`)
	reference  = regexp.MustCompile(`(?m)^\[[^\]]+\]: (\S+)`)
	attribute  = regexp.MustCompile(`(?:href|src)="([^"]+)"`)
	heading    = regexp.MustCompile(`(?m)^#{1,6} (.+)$`)
)

// TestLinks checks that each link leads to a file or folder, and its anchor to a heading. Links to other sites are
// only parsed, because the test has no network.
func TestLinks(t *testing.T) {
	links, known := 0, map[string]map[string]bool{} // the anchors of each document
	for _, name := range documents(t) {
		text := codeSpan.ReplaceAllString(fence.ReplaceAllString(read(t, name), ""), "")
		for _, pattern := range []*regexp.Regexp{inlineLink, reference, attribute} {
			for _, m := range pattern.FindAllStringSubmatch(text, -1) {
				links++
				assert.NoError(t, checkLink(t, known, name, m[1]), "%s: link %q", name, m[1])
			}
		}
	}
	if links < 50 {
		t.Errorf("found %d links, which are too few", links)
	}
}

func checkLink(t *testing.T, known map[string]map[string]bool, document, link string) error {
	t.Helper()
	u, err := url.Parse(link)
	switch {
	case err != nil:
		return err
	case u.Scheme == "https" && u.Host != "":
		return nil
	case u.Scheme != "" || u.Host != "" || strings.HasPrefix(u.Path, "/"):
		return fmt.Errorf("want an https URL or a relative path")
	}
	target := document
	if u.Path != "" {
		target = path.Join(path.Dir(document), u.Path)
	}
	if !exists(target) {
		return errors.New("there is no such file")
	}
	if u.Fragment == "" {
		return nil
	}
	if path.Ext(target) != ".md" {
		target = path.Join(target, "README.md")
	}
	if known[target] == nil {
		known[target] = anchors(read(t, target))
	}
	if !known[target][u.Fragment] {
		return fmt.Errorf("no heading of %s has the anchor", target)
	}
	return nil
}

// anchors returns the anchors that GitHub gives to the headings of a document.
func anchors(text string) map[string]bool {
	all := map[string]bool{}
	for _, m := range heading.FindAllStringSubmatch(fence.ReplaceAllString(text, ""), -1) {
		name := markdown.Anchor(inlineLink.ReplaceAllString(m[1], ""))
		unique := name
		for n := 1; all[unique]; n++ {
			unique = fmt.Sprint(name, "-", n)
		}
		all[unique] = true
	}
	return all
}

// namedHeading matches a text such as: "Limits" in docs/production.md.
var namedHeading = regexp.MustCompile(`"([^"]+)" in (docs/[\w/-]+\.md)`)

// TestNamedHeadings: if a comment or an alert names a heading of a document, the document has this heading. It may
// have a number before it.
func TestNamedHeadings(t *testing.T) {
	seen, margin := 0, regexp.MustCompile(`\s*\n\s*(?://)?\s*`) // between the lines of a comment
	for _, name := range slices.Concat(files(t, ".go"), files(t, ".yml")) {
		for _, m := range namedHeading.FindAllStringSubmatch(margin.ReplaceAllString(read(t, name), " "), -1) {
			seen++
			pattern := `(?m)^#+ (?:\d+\. )?` + regexp.QuoteMeta(m[1]) + `$`
			assert.Regexp(t, pattern, read(t, m[2]), "%s: %s", name, m[0])
		}
	}
	assert.GreaterOrEqual(t, seen, 10)
}

// leftOver matches a bracket that package comment has escaped, because text such as [Config.Timeout] is not a link
// to a declaration.
var leftOver = regexp.MustCompile(`\\\[(?:\\\*)?(?:[a-z]+\.)?[A-Z]\w*(?:\.[A-Z]\w*)?\]`)

// TestDocLinks: each link in the documentation of a package leads to a declaration.
func TestDocLinks(t *testing.T) {
	folders := map[string][]*ast.File{}
	for _, name := range files(t, ".go") {
		if strings.HasSuffix(name, "_test.go") {
			continue
		}
		f, err := parser.ParseFile(fset, name, read(t, name), parser.ParseComments)
		require.NoError(t, err)
		folders[path.Dir(name)] = append(folders[path.Dir(name)], f)
	}
	links := 0
	for dir, all := range folders {
		p, err := doc.NewFromFiles(fset, all, "example.com/emailplatform/"+dir, doc.PreserveAST|doc.AllDecls)
		require.NoError(t, err)
		for _, f := range all {
			for _, text := range comments(f, false) {
				markdown := string(p.Markdown(text))
				links += strings.Count(markdown, "](")
				if found := leftOver.FindString(markdown); found != "" {
					t.Errorf("%s: %s leads nowhere", dir, found)
				}
			}
		}
	}
	if links < 100 {
		t.Errorf("found %d links, which are too few", links)
	}
}

var identifier = regexp.MustCompile(`\w+`)

// TestNamedIdentifiers: comments of Go code contain no name that occurs nowhere else, for example after a renaming.
func TestNamedIdentifiers(t *testing.T) {
	line := regexp.MustCompile(`(?m)^\s*//.*$`)
	name := regexp.MustCompile(`(?:^|[^\w./-])([a-z]+[A-Z]\w*)`)
	placeholders := []string{"macOS", "operationIds", "readT", "uXXXX"}
	known := map[string]bool{}
	for _, extension := range []string{".go", ".js", ".ts", ".yaml", ".yml", ".json", ".mod"} {
		for _, file := range files(t, extension) {
			for _, word := range identifier.FindAllString(line.ReplaceAllString(read(t, file), ""), -1) {
				known[word] = true
			}
		}
	}
	for _, file := range files(t, ".go") {
		for _, comment := range line.FindAllString(read(t, file), -1) {
			for _, m := range name.FindAllStringSubmatch(comment, -1) {
				assert.True(t, known[m[1]] || slices.Contains(placeholders, m[1]), "%s: no code contains %s, unlike%s", file, m[1], comment)
			}
		}
	}
}
