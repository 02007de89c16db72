package main

import (
	"bytes"
	"context"
	_ "embed"
	"encoding/json"
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
	"path/filepath"
	"strconv"
	"strings"
)

// helpers is the file that is added to a package: who is awake, and the operators
// that the mutants change.
//
//go:embed helpers.go.txt
var helpers string

// built is a package with its mutants, and the tests that may notice them.
type built struct {
	subject  subject
	mutants  []mutant
	programs []program
	dir      string // for what the tests write
}

// program is a test binary.
type program struct {
	pkg  string // its folder, from the root of the repository
	path string
}

// build finds the mutants of a package and compiles its tests with all of them.
func build(ctx context.Context, s subject, dir string) (*built, error) {
	b := &built{subject: s, dir: dir}
	if err := os.MkdirAll(dir, 0o700); err != nil {
		return nil, err
	}
	overlay, err := b.mutate(ctx)
	if err != nil {
		return nil, err
	}
	for i, pkg := range s.tests {
		p := program{pkg: pkg, path: filepath.Join(dir, fmt.Sprintf("tests%d.exe", i))} // what Windows needs hurts nobody else
		if _, err := goCommand(ctx, "test", "-c", "-vet=off", "-overlay", overlay, "-o", p.path, "./"+pkg); err != nil {
			return nil, err
		}
		b.programs = append(b.programs, p)
	}
	return b, nil
}

func goCommand(ctx context.Context, args ...string) ([]byte, error) {
	var errs bytes.Buffer
	cmd := exec.CommandContext(ctx, "go", args...) //nolint:gosec // constants and folders of this program
	cmd.Stderr = &errs
	out, err := cmd.Output()
	if err != nil {
		return nil, fmt.Errorf("go %s: %w: %s", args[0], err, errs.Bytes())
	}
	return out, nil
}

// listed is what go list tells of a package.
type listed struct {
	Dir, ImportPath, Name, Export string
	GoFiles                       []string
}

// mutate writes the mutated files, and what tells the go command about them.
func (b *built) mutate(ctx context.Context) (overlay string, err error) {
	pkg, lookup, err := list(ctx, b.subject.dir)
	if err != nil {
		return "", err
	}
	fset := token.NewFileSet()
	var files []*ast.File
	for _, name := range pkg.GoFiles {
		file, err := parser.ParseFile(fset, filepath.Join(pkg.Dir, name), nil, parser.ParseComments)
		if err != nil {
			return "", err
		}
		files = append(files, file)
	}
	info := &types.Info{Types: map[ast.Expr]types.TypeAndValue{}, Uses: map[*ast.Ident]types.Object{}, Defs: map[*ast.Ident]types.Object{}}
	config := types.Config{Importer: importer.ForCompiler(fset, "gc", lookup)}
	if _, err := config.Check(pkg.ImportPath, fset, files, info); err != nil {
		return "", err
	}
	replace := map[string]string{}
	for i, name := range pkg.GoFiles {
		path := filepath.Join(pkg.Dir, name)
		src, err := os.ReadFile(path)
		if err != nil {
			return "", err
		}
		mutants, text := findMutants(fset, info, src, b.subject.dir+"/"+name, files[i], len(b.mutants)+1)
		b.mutants = append(b.mutants, mutants...)
		if replace[path], err = b.write(name, text); err != nil {
			return "", err
		}
	}
	text := strings.NewReplacer("PACKAGE", pkg.Name, "NUMBERS", strconv.Itoa(len(b.mutants)+1)).Replace(helpers)
	if replace[filepath.Join(pkg.Dir, "mutants_helpers.go")], err = b.write("mutants_helpers.go", []byte(text)); err != nil {
		return "", err
	}
	doc, err := json.Marshal(map[string]any{"Replace": replace})
	if err != nil {
		return "", err
	}
	return b.write("overlay.json", doc)
}

func (b *built) write(name string, text []byte) (string, error) {
	path := filepath.Join(b.dir, name)
	return path, os.WriteFile(path, text, 0o600)
}

// list returns a package, and where the types are that it imports.
func list(ctx context.Context, dir string) (listed, importer.Lookup, error) {
	out, err := goCommand(ctx, "list", "-deps", "-export", "-json=Dir,ImportPath,Name,Export,GoFiles", "./"+dir)
	if err != nil {
		return listed{}, nil, err
	}
	exports := map[string]string{}
	var last listed // dependencies come first
	for d := json.NewDecoder(bytes.NewReader(out)); ; {
		var p listed
		if err := d.Decode(&p); errors.Is(err, io.EOF) {
			break
		} else if err != nil {
			return listed{}, nil, err
		}
		exports[p.ImportPath], last = p.Export, p
	}
	return last, func(path string) (io.ReadCloser, error) { return os.Open(exports[path]) }, nil
}
