package documents

import (
	"fmt"
	"go/ast"
	"go/parser"
	"go/token"
	"os"
	"path/filepath"
	"strings"
	"testing"
)

// TestCopiedCode holds each block that is cut from a file to that file.
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
			must(t, os.WriteFile(filepath.Join(root, filepath.FromSlash(name)), []byte(now), 0o600))
		default:
			t.Errorf("%s differs from the code that it shows: go test ./internal/tools/documents -run TestCopiedCode -update", name)
		}
	}
}

// cut returns the declarations that "file: name, name" names, with what is said
// of them, in that order.
func cut(t *testing.T, document, from string) string {
	t.Helper()
	file, names, _ := strings.Cut(from, ": ")
	source := read(t, file)
	fset := token.NewFileSet()
	f, err := parser.ParseFile(fset, file, source, parser.ParseComments)
	must(t, err)
	var parts []string
	for name := range strings.SplitSeq(names, ", ") {
		d := declaration(f, name)
		if d == nil {
			t.Errorf("%s: %s declares no %s", document, file, name)
			continue
		}
		start := d.Pos()
		if c := commentOf(d); c != nil {
			start = c.Pos()
		}
		parts = append(parts, source[fset.Position(start).Offset:fset.Position(d.End()).Offset]+"\n")
	}
	return strings.Join(parts, "\n")
}

// declaration returns what declares a name at the top of a file: a function, a
// method or a type.
func declaration(f *ast.File, name string) ast.Decl {
	for _, d := range f.Decls {
		switch d := d.(type) {
		case *ast.FuncDecl:
			if d.Name.Name == name {
				return d
			}
		case *ast.GenDecl:
			for _, s := range d.Specs {
				if s, ok := s.(*ast.TypeSpec); ok && s.Name.Name == name {
					return d
				}
			}
		}
	}
	return nil
}

func commentOf(d ast.Decl) *ast.CommentGroup {
	switch d := d.(type) {
	case *ast.FuncDecl:
		return d.Doc
	case *ast.GenDecl:
		return d.Doc
	}
	return nil
}
