package documents

import (
	"go/ast"
	"go/doc"
	"go/doc/comment"
	"go/parser"
	"path"
	"regexp"
	"strings"
	"testing"
)

// leftOver is what looks like a link of a doc comment: [Config.Timeout].
var leftOver = regexp.MustCompile(`\[\*?(?:[a-z]+\.)?[A-Z]\w*(?:\.[A-Z]\w*)?\]`)

// TestDocLinks: what looks like a link in the documentation of a package leads to a
// declaration.
func TestDocLinks(t *testing.T) {
	folders := map[string][]*ast.File{}
	for _, name := range files(t, ".go") {
		if strings.HasSuffix(name, "_test.go") {
			continue
		}
		f, err := parser.ParseFile(fset, name, read(t, name), parser.ParseComments)
		must(t, err)
		folders[path.Dir(name)] = append(folders[path.Dir(name)], f)
	}
	links := 0
	for dir, all := range folders {
		p, err := doc.NewFromFiles(fset, all, "example.com/emailplatform/"+dir, doc.PreserveAST|doc.AllDecls)
		must(t, err)
		parse := p.Parser()
		for _, f := range all {
			for _, text := range comments(f, false) {
				for _, b := range parse.Parse(text).Content {
					links += checkDocLinks(t, dir, b)
				}
			}
		}
	}
	if links < 100 {
		t.Errorf("%d links: where are the others?", links)
	}
}

// checkDocLinks names what looks like a link and is none, and counts links.
func checkDocLinks(t *testing.T, dir string, b comment.Block) (links int) {
	t.Helper()
	switch b := b.(type) {
	case *comment.List:
		for _, item := range b.Items {
			for _, inner := range item.Content {
				links += checkDocLinks(t, dir, inner)
			}
		}
	case *comment.Paragraph:
		for _, text := range b.Text {
			switch text := text.(type) {
			case *comment.DocLink:
				links++
			case comment.Plain:
				if found := leftOver.FindString(string(text)); found != "" {
					t.Errorf("%s: %s leads nowhere", dir, found)
				}
			}
		}
	}
	return links
}
