package main

import (
	"context"
	"errors"
	"fmt"
	"go/ast"
	"go/doc"
	"go/doc/comment"
	"go/parser"
	"go/token"
	"io/fs"
	"os"
	"path"
	"path/filepath"
	"slices"
	"strings"
)

// document looks at what was published as a site of documentation does: each
// module has a licence and a README, each package a synopsis, and
// examples or code in its comment.
func (s *stage) document(context.Context) error {
	for _, m := range published() {
		home := filepath.Join(s.dir, "modules", filepath.FromSlash(m.path())+"@"+s.next)
		for _, name := range []string{"LICENSE", "README.md"} {
			if _, err := os.Stat(filepath.Join(home, name)); err != nil {
				return fmt.Errorf("%s as published: %w", m.path(), err)
			}
		}
		if err := documentModule(m, home); err != nil {
			return err
		}
	}
	return nil
}

func documentModule(m module, home string) error {
	return filepath.WalkDir(home, func(name string, entry fs.DirEntry, err error) error {
		if err != nil || !entry.IsDir() {
			return err
		}
		if name != home && hidden(entry.Name()) {
			return filepath.SkipDir
		}
		relative, err := filepath.Rel(home, name)
		if err != nil {
			return err
		}
		return documentPackage(path.Join(m.path(), filepath.ToSlash(relative)), name)
	})
}

// hidden reports whether a directory is shown to nobody: what is not for others,
// and what the go command passes over.
func hidden(dir string) bool {
	return dir[0] == '.' || dir[0] == '_' || slices.Contains([]string{"internal", "testdata", "examples"}, dir)
}

// documentPackage prints the line that a search shows, and finds what is missing.
func documentPackage(importPath, dir string) error {
	fset := token.NewFileSet()
	files, err := parse(fset, dir)
	if err != nil || len(files) == 0 {
		return err
	}
	p, err := doc.NewFromFiles(fset, files, importPath)
	if err != nil {
		return err
	}
	if len(p.Filenames) == 0 {
		return nil // tests alone
	}
	synopsis, begins := p.Synopsis(p.Doc), "Package "+p.Name+" "
	if p.Name == "main" {
		begins = "Command " + path.Base(importPath) + " "
	}
	fmt.Printf("%-40s %2d examples: %s\n", strings.TrimPrefix(importPath, root+"/"), examples(p), synopsis)
	if !strings.HasPrefix(synopsis, begins) {
		err = fmt.Errorf("the documentation of %s begins with %q, want %q", importPath, synopsis, begins)
	}
	if examples(p) == 0 && !slices.ContainsFunc(p.Parser().Parse(p.Doc).Content, isCode) {
		err = errors.Join(err, fmt.Errorf("%s has neither an example nor code in its comment", importPath))
	}
	return err
}

func examples(p *doc.Package) int {
	n := len(p.Examples)
	for _, f := range p.Funcs {
		n += len(f.Examples)
	}
	for _, t := range p.Types {
		n += len(t.Examples)
		for _, f := range slices.Concat(t.Funcs, t.Methods) {
			n += len(f.Examples)
		}
	}
	return n
}

func isCode(b comment.Block) bool { _, ok := b.(*comment.Code); return ok }

// parse reads the files of one directory, tests too: examples are there.
func parse(fset *token.FileSet, dir string) ([]*ast.File, error) {
	names, err := filepath.Glob(filepath.Join(dir, "*.go"))
	if err != nil {
		return nil, err
	}
	var files []*ast.File
	for _, name := range names {
		f, err := parser.ParseFile(fset, name, nil, parser.ParseComments)
		if err != nil {
			return nil, err
		}
		files = append(files, f)
	}
	return files, nil
}
